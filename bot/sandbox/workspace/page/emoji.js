// The most common emoji names; others stay as text.

const TABLE = `
+1 👍 thumbsup 👍 -1 👎 thumbsdown 👎 clap 👏 wave 👋 pray 🙏 raised_hands 🙌 ok_hand 👌 muscle 💪 point_right 👉
point_left 👈 point_up 👆 point_down 👇 eyes 👀 smile 😄 smiley 😃 grinning 😀 slightly_smiling_face 🙂 wink 😉 joy 😂
sweat_smile 😅 laughing 😆 blush 😊 heart_eyes 😍 thinking_face 🤔 neutral_face 😐 confused 😕 cry 😢 sob 😭
disappointed 😞 scream 😱 rage 😡 sunglasses 😎 upside_down_face 🙃 face_with_rolling_eyes 🙄 zipper_mouth_face 🤐
heart ❤️ broken_heart 💔 tada 🎉 rocket 🚀 fire 🔥 sparkles ✨ star ⭐ zap ⚡ boom 💥 bulb 💡 bell 🔔 no_bell 🔕
bug 🐛 beetle 🪲 wrench 🔧 hammer 🔨 hammer_and_wrench 🛠️ gear ⚙️ nut_and_bolt 🔩 lock 🔒 unlock 🔓 key 🔑 shield 🛡️
warning ⚠️ no_entry ⛔ no_entry_sign 🚫 octagonal_sign 🛑 x ❌ white_check_mark ✅ heavy_check_mark ✔️
ballot_box_with_check ☑️ question ❓ exclamation ❗ bangbang ‼️ information_source ℹ️ 100 💯
red_circle 🔴 large_orange_circle 🟠 large_yellow_circle 🟡 large_green_circle 🟢 large_blue_circle 🔵
large_purple_circle 🟣 white_circle ⚪ black_circle ⚫ large_red_square 🟥 large_green_square 🟩
arrow_up ⬆️ arrow_down ⬇️ arrow_left ⬅️ arrow_right ➡️ arrow_upper_right ↗️ arrow_double_up ⏫ arrow_double_down ⏬
arrow_up_small 🔼 arrow_down_small 🔽 repeat 🔁 arrows_counterclockwise 🔄 heavy_plus_sign ➕ heavy_minus_sign ➖
ticket 🎫 calendar 📆 date 📅 spiral_calendar_pad 🗓️ clock1 🕐 clock3 🕒 clock9 🕘 hourglass ⌛ hourglass_flowing_sand ⏳
stopwatch ⏱️ alarm_clock ⏰ timer_clock ⏲️ watch ⌚
memo 📝 pencil 📝 pencil2 ✏️ page_facing_up 📄 clipboard 📋 file_folder 📁 open_file_folder 📂 card_index_dividers 🗂️
bookmark 🔖 label 🏷️ pushpin 📌 round_pushpin 📍 paperclip 📎 link 🔗 mag 🔍 mag_right 🔎 inbox_tray 📥 outbox_tray 📤
package 📦 wastebasket 🗑️ bar_chart 📊 chart_with_upwards_trend 📈 chart_with_downwards_trend 📉 books 📚 book 📖
email 📧 envelope ✉️ speech_balloon 💬 thought_balloon 💭 loudspeaker 📢 mega 📣 phone ☎️ iphone 📱 computer 💻
desktop_computer 🖥️ globe_with_meridians 🌐 house 🏠 office 🏢 construction 🚧 traffic_light 🚦 checkered_flag 🏁
triangular_flag_on_post 🚩 dart 🎯 trophy 🏆 gift 🎁 coffee ☕ beer 🍺 pizza 🍕 cake 🍰 sunny ☀️ cloud ☁️ umbrella ☔
snowflake ❄️ rainbow 🌈 seedling 🌱 robot_face 🤖 ghost 👻 skull 💀 bust_in_silhouette 👤 busts_in_silhouette 👥
technologist 🧑‍💻 detective 🕵️ see_no_evil 🙈 speaking_head_in_silhouette 🗣️ brain 🧠 ambulance 🚑 sos 🆘 new 🆕 ok 🆗
`;

const words = TABLE.trim().split(/\s+/);
const EMOJI = new Map();
for (let i = 0; i < words.length; i += 2) EMOJI.set(words[i], words[i + 1]);

export function emoji(name) {
  return EMOJI.get(name) || EMOJI.get(name.split("::")[0]) || null;
}

/** The emoji whose names contain the text, those that start with it first: [name, character]. */
export function emojiLike(text) {
  const found = [...EMOJI].filter(([name]) => name.includes(text));
  return [...found.filter(([name]) => name.startsWith(text)), ...found.filter(([name]) => !name.startsWith(text))];
}

/** Plain text with its known :names: replaced by characters. */
export function withEmoji(text) {
  return text.replace(/:([a-z0-9_+-]+(?:::[a-z0-9-]+)?):/g, (all, name) => emoji(name) || all);
}
