// The options of each of Slack's selects, and the value of a choice.

import { changedValue } from "./actions.js";
import { combobox, narrow } from "./combobox.js";
import { plain } from "./mrkdwn.js";
import { channelTitle, person, post, store } from "./store.js";

function option(value, text, search = "") {
  return { value, text: { type: "plain_text", text, emoji: false }, search };
}

function userOption(user) {
  const name = user.real_name || user.display_name;
  return option(user.id, name, `${user.real_name} ${user.name}`);
}

function conversationOption(channel) {
  const about = [channel.kind === "private" && "Private", channel.is_ext_shared && "Shared with another company"].filter(Boolean);
  return {
    ...option(channel.id, channel.kind === "im" ? channelTitle(channel) : `# ${channel.name}`),
    description: about.length ? { type: "plain_text", text: about.join(", ") } : null,
  };
}

const KIND = { public: "channel", private: "private", im: "im", mpim: "mpim" };

/** Conversations the user can post in, if the element's filter includes them. */
function conversations(element) {
  const filter = element.filter || {};
  const kinds = filter.include ? filter.include.map((name) => KIND[name]) : Object.values(KIND);
  return store.state.channels.filter((c) => kinds.includes(c.kind) && c.is_member && !c.is_archived
    && !(filter.exclude_external_shared_channels && c.is_ext_shared)
    && !(filter.exclude_bot_users && c.kind === "im" && c.with === store.state.app.bot_user_id));
}

/** By type of select without "multi_": its groups of options, and the option with a given id. */
const SOURCES = {
  static: {
    groups: (element) => (element.option_groups
      ? element.option_groups.map((g) => ({ label: plain(g.label), options: g.options }))
      : [{ options: element.options || [] }]),
  },
  users: {
    groups: () => [{ options: store.state.people.filter((p) => !p.is_bot).map(userOption) }],
    byId: (id) => (person(id) ? userOption(person(id)) : option(id, id)),
  },
  conversations: {
    groups: (element) => [{ options: conversations(element).map(conversationOption) }],
    byId: (id) => channelOption(id),
  },
  channels: {
    groups: () => [{ options: store.state.channels.filter((c) => c.kind === "channel" && !c.is_archived).map(conversationOption) }],
    byId: (id) => channelOption(id),
  },
};

function channelOption(id) {
  const channel = store.state.channels.find((c) => c.id === id);
  return channel ? conversationOption(channel) : option(id, id);
}

async function suggest(surface, block, element, text) {
  const answer = await post("suggest", {
    source: surface.source, block_id: block.block_id, action_id: element.action_id, value: text,
  });
  if (!answer) return [];
  return answer.option_groups
    ? answer.option_groups.map((g) => ({ label: plain(g.label), options: g.options }))
    : [{ options: answer.options || [] }];
}

export function select(block, element, { surface, label, ...aria }) {
  const many = element.type.startsWith("multi_");
  const source = SOURCES[element.type.replace("multi_", "").replace("_select", "")];
  const external = !source;
  const toOption = (value) => (source && source.byId ? source.byId(value) : value);
  const toValue = (chosen) => (source && source.byId ? chosen.value : chosen);
  const control = combobox({
    ...aria,
    label,
    many,
    max: element.max_selected_items,
    clearable: Boolean(block.optional),
    placeholder: plain(element.placeholder) || (many ? "Select options" : "Select an option"),
    wait: external ? element.min_query_length ?? 3 : 0,
    debounce: external ? 200 : 0,
    chosen: () => {
      const value = surface.get(block, element);
      return (many ? value : value === null ? [] : [value]).map(toOption);
    },
    choose: async (options) => {
      const values = options.map(toValue);
      const stands = await changedValue(surface, block, element, many ? values : values[0] ?? null);
      if (!stands) control.dispatchEvent(new Event("reset-choice"));
    },
    load: (text) => (external ? suggest(surface, block, element, text) : narrow(source.groups(element), text)),
  });
  return control;
}
