// Times in the acting user's time zone.

import { store } from "./store.js";

const cache = new Map();

function formatter(options) {
  const zone = (store.state && store.state.me.tz) || undefined;
  const key = `${zone}|${JSON.stringify(options)}`;
  if (!cache.has(key)) {
    try {
      cache.set(key, new Intl.DateTimeFormat("en-US", { ...options, timeZone: zone }));
    } catch {
      cache.set(key, new Intl.DateTimeFormat("en-US", options));
    }
  }
  return cache.get(key);
}

export function fromTs(ts) {
  return new Date(Number(ts) * 1000);
}

export function clock(date) {
  return formatter({ hour: "numeric", minute: "2-digit" }).format(date);
}

export function clockSeconds(date) {
  return formatter({ hour: "numeric", minute: "2-digit", second: "2-digit" }).format(date);
}

/** "2026-11-20" in the user's time zone. */
export function dayKey(date) {
  const [month, day, year] = formatter({ year: "numeric", month: "2-digit", day: "2-digit" }).format(date).split("/");
  return `${year}-${month}-${day}`;
}

export function dayName(date) {
  const now = new Date();
  if (dayKey(date) === dayKey(now)) return "Today";
  if (dayKey(date) === dayKey(new Date(now - 86400000))) return "Yesterday";
  return formatter({ weekday: "long", day: "numeric", month: "long" }).format(date);
}

export function fullTime(date) {
  return `${formatter({ weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(date)} at ${clock(date)}`;
}

export function ago(date) {
  const minutes = Math.round((Date.now() - date) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.round(minutes / 60)} h ago`;
  return dayName(date);
}

const TOKENS = {
  date_num: (d) => dayKey(d),
  date: (d) => formatter({ day: "numeric", month: "long", year: "numeric" }).format(d),
  date_short: (d) => formatter({ day: "numeric", month: "short", year: "numeric" }).format(d),
  date_long: (d) => formatter({ weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(d),
  time: (d) => clock(d),
  time_secs: (d) => clockSeconds(d),
  ago: (d) => ago(d),
};

/** Slack's <!date^…> format string; a name ending in _pretty yields Today or Yesterday. */
export function slackDate(seconds, format) {
  const date = new Date(Number(seconds) * 1000);
  return format.replace(/\{(\w+)\}/g, (all, token) => {
    const pretty = token.endsWith("_pretty");
    const show = TOKENS[pretty ? token.slice(0, -7) : token];
    if (!show) return all;
    const day = dayName(date);
    return pretty && (day === "Today" || day === "Yesterday") ? day.toLowerCase() : show(date);
  });
}
