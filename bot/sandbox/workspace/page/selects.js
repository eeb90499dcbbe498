// The options of each of Slack's selects, and the value of a choice.

import { changedValue } from "./actions.js";
import { combobox, narrow } from "./combobox.js";
import { plain } from "./mrkdwn.js";
import { channelTitle, post, store } from "./store.js";

function option(value, text) {
  return { value, text: { type: "plain_text", text, emoji: false } };
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

function channelOption(id) {
  const channel = store.state.channels.find((c) => c.id === id);
  return channel ? conversationOption(channel) : option(id, id);
}

async function suggest(surface, block, element, text) {
  const answer = await post("suggest", {
    source: surface.source, block_id: block.block_id, action_id: element.action_id, value: text,
  });
  return (answer && answer.options) || [];
}

export function select(block, element, { surface, label, ...aria }) {
  const many = element.type.startsWith("multi_");
  const external = element.type.endsWith("external_select");
  const ofConversations = element.type === "conversations_select";
  const offered = () => (ofConversations ? conversations(element).map(conversationOption) : element.options);
  const control = combobox({
    ...aria,
    label,
    many,
    clearable: Boolean(block.optional),
    placeholder: plain(element.placeholder) || (many ? "Select options" : "Select an option"),
    wait: external ? element.min_query_length ?? 3 : 0,
    debounce: external ? 200 : 0,
    chosen: () => [surface.get(block, element) ?? []].flat().map((value) => (ofConversations ? channelOption(value) : value)),
    choose: async (options) => {
      const values = ofConversations ? options.map((option) => option.value) : options;
      const stands = await changedValue(surface, block, element, many ? values : values[0] ?? null);
      if (!stands) control.dispatchEvent(new Event("reset-choice"));
    },
    load: (text) => (external ? suggest(surface, block, element, text) : narrow(offered(), text)),
  });
  return control;
}
