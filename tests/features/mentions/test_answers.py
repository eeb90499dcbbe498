"""Mentions and direct messages are answered where they were written, as commands are."""

import pytest

from tests.features.mentions.talking import BOT, Talker
from tests.support.office import Office
from tests.support.people import KEYS
from tests.support.person import Person
from tests.support.reading import JSON, input_named, text_of

FORM = "Here's the form."
COMMIT = "3f786850e387550fdab836ed7e6dc881de23001b"
ROWS = [
    ("new Checkout is blank project:webshop", "Created "),
    ("12", "#12 Delivery costs differ"),
    ("#12", "#12 Delivery costs differ"),
    ("12: done:50%", "*50%*"),
    ("12 comment Same here", "Same here"),
    ("search delivery", "Subject contains the word: delivery"),
    ("list", "recently updated first"),
    ("mine", "Assignee"),
    ("log 12 90m activity:design", "1h 30m"),
    ("1h on 12 activity:design", "1h"),
    ("digest", "No digests in this channel"),
    ("help", "/issue new"),
    ("whoami", "Ana Ruiz"),
    ("edit 12", FORM),
    ("issue", FORM),
    ("time 12", FORM),
    ("digest add webshop", FORM),
    (":tada:", "I couldn't find any words"),
    ("the checkout is blank", "Create issue “the checkout is blank”"),
    ("I need a new ticket: printer is broken", "Create issue “printer is broken”"),
    ("please file a bug for late push messages", "Create issue “late push messages”"),
    ("bug: mail has the wrong logo", "Create issue “mail has the wrong logo”"),
    ("add chris as a watcher to 12", "Follow #12"),
    ("close all my low prio bugs", "Search for “my low prio bugs”"),
]


@pytest.mark.parametrize(("text", "said"), ROWS)
async def test_the_same_text_works_in_all_three_places(talker: Talker, text: str, said: str) -> None:
    thread = await talker.thread()

    direct = await talker.direct(text)
    in_thread = await talker.mention(text, thread)
    in_channel = await talker.mention(text)

    answers = (direct, in_thread, in_channel)
    assert all(said in text_of(answer) for answer in answers), [text_of(answer) for answer in answers]
    assert [answer["ephemeral"] for answer in answers] == [False, True, True]
    assert [answer["thread_ts"] for answer in answers] == [None, thread["ts"], None]


async def test_a_link_to_an_issue_shows_it(office: Office, talker: Talker) -> None:
    assert "Delivery costs differ" in await talker.said(office.link_to(12))


async def test_a_mention_is_removed_from_the_middle_of_a_sentence(office: Office, talker: Talker) -> None:
    channel = office.channel_id("general")

    await talker.send(channel, f"new Login {BOT} is blank project:webshop\nSince\n{BOT} today")
    await office.idle()

    issue = office.newest_issue()
    assert issue.subject == "Login is blank"
    assert (issue.description or "").splitlines() == ["Since", "today"]


async def test_people_that_a_message_mentions_are_named(office: Office, talker: Talker) -> None:
    await talker.direct("new Ask @Ben Okafor again project:webshop to:@Ana Ruiz")

    issue = office.newest_issue()
    assert issue.subject == "Ask @Ben Okafor again"
    assert issue.assigned_to_id == 1


async def posts(talker: Talker, channel: str) -> list[JSON]:
    return [m for m in await talker.messages(channel) if "created <" in m["text"]]


async def test_an_issue_is_announced_in_the_thread_of_its_mention(office: Office, talker: Talker) -> None:
    thread = await talker.thread()

    await talker.mention("new Checkout is blank project:webshop", thread)

    [post] = await posts(talker, office.channel_id("general"))
    assert (post["ephemeral"], post["thread_ts"]) == (False, thread["ts"])


async def test_a_mention_outside_threads_is_answered_in_the_channel(office: Office, talker: Talker) -> None:
    await talker.mention("new Checkout is blank project:webshop")

    [post] = await posts(talker, office.channel_id("general"))
    assert (post["ephemeral"], post["thread_ts"]) == (False, None)


async def test_a_direct_message_has_one_answer(talker: Talker) -> None:
    before = len(await talker.messages(talker.direct_channel))

    answer = await talker.direct("new Checkout is blank project:webshop")

    assert len(await talker.messages(talker.direct_channel)) == before + 2
    assert not answer["ephemeral"]
    assert "Only you" not in text_of(answer)


async def test_a_direct_message_in_a_thread_is_answered_there(talker: Talker) -> None:
    first = await talker.send(talker.direct_channel, "whoami")
    await talker.office.idle()

    answer = await talker.direct("12", {"ts": first})

    assert (answer["ephemeral"], answer["thread_ts"]) == (False, first)


async def test_the_buttons_of_a_direct_answer_are_answered_there_too(talker: Talker, ana: Person) -> None:
    card = await talker.direct("12")
    for _ in range(2):  # the second time, that is said
        await ana.press(card, "Follow")
        await talker.office.idle()
    await ana.press(card, "Comment")
    await ana.submit(await ana.form("Comment"), {"Comment": "Same here"})
    await talker.office.idle()

    *_, already, commented = await talker.messages(talker.direct_channel)
    assert "already follow" in text_of(already)
    assert "Commented on" in text_of(commented)
    assert [already["ephemeral"], commented["ephemeral"]] == [False, False]


async def test_nobody_else_sees_the_answer_to_a_mention(talker: Talker, gwen: Person) -> None:
    thread = await talker.thread()

    answer = await talker.mention("12", thread)

    assert answer["ts"] not in {message["ts"] for message in await gwen.messages()}


async def test_a_mistake_is_explained_in_the_thread(talker: Talker) -> None:
    thread = await talker.thread()

    answer = await talker.mention("12 status:nonsense", thread)

    assert "nonsense" in text_of(answer)
    assert (answer["ephemeral"], answer["thread_ts"]) == (True, thread["ts"])


# Forms


async def test_a_form_of_a_mention_answers_in_the_thread(office: Office, talker: Talker, ana: Person) -> None:
    thread = await talker.thread()
    answer = await talker.mention("new project:webshop", thread)
    before = len(await ana.messages())

    await ana.press(answer, "Open form")
    await ana.submit(await ana.form("New issue"), {"Subject": "Checkout is blank"})
    await office.idle()

    fresh = (await ana.messages())[before:]
    assert office.newest_issue().subject == "Checkout is blank"
    assert {message["thread_ts"] for message in fresh} == {thread["ts"]}
    assert sorted(message["ephemeral"] for message in fresh) == [False, True]


async def test_a_form_in_a_direct_message_answers_there(office: Office, talker: Talker, ana: Person) -> None:
    answer = await talker.direct("new project:webshop")
    before = len(await talker.messages(talker.direct_channel))

    await ana.press(answer, "Open form")
    await ana.submit(await ana.form("New issue"), {"Subject": "Checkout is blank"})
    await office.idle()

    [said] = (await talker.messages(talker.direct_channel))[before:]
    assert not said["ephemeral"]
    assert "Created" in text_of(said)


# What is no command


async def test_a_sentence_becomes_an_issue_of_all_lines(office: Office, talker: Talker, ana: Person) -> None:
    thread = await talker.thread()
    answer = await talker.mention("The checkout is blank & slow\nSince today\nTwice", thread)

    await ana.press(answer, "Create issue “The checkout is blank & slow”")
    await ana.submit(await ana.form("New issue"), {"Project": "Web Shop"})
    await office.idle()

    issue = office.newest_issue()
    assert issue.subject == "The checkout is blank & slow"
    assert (issue.description or "").split() == ["Since", "today", "Twice"]
    [post] = await posts(talker, office.channel_id("general"))
    assert post["thread_ts"] == thread["ts"]


async def test_each_press_searches_for_the_sentence(office: Office, talker: Talker, ana: Person) -> None:
    thread = await talker.thread()
    answer = await talker.mention("delivery costs", thread)
    for _ in range(2):
        await ana.press(answer, "Search for “delivery costs”")
        await office.idle()

    *_, first, second = await ana.messages()
    assert "#12 Delivery costs differ" in text_of(first)
    assert text_of(first) == text_of(second)
    assert {first["thread_ts"], second["thread_ts"]} == {thread["ts"]}


async def test_a_question_is_searched_by_the_words_that_tell(
    office: Office, talker: Talker, ana: Person
) -> None:
    answer = await talker.mention("can you find the issue about delivery costs?")
    assert "#12 Delivery costs differ" in text_of(answer)

    answer = await talker.mention("why are delivery costs different?")
    await ana.press(answer, "Search for “why are delivery costs different?”")
    await office.idle()

    assert "delivery, costs, different" in text_of((await ana.messages())[-1])


async def test_labels_of_buttons_fit_into_slacks_limit(talker: Talker) -> None:
    answer = await talker.direct("checkout is slow again " * 100)

    labels = [e["text"]["text"] for b in answer["blocks"] for e in b.get("elements", ())]
    assert all(len(label) <= 75 for label in labels)


@pytest.mark.parametrize("text", ["Checkout is blank", ""])
async def test_files_of_a_message_are_in_the_form(
    office: Office, talker: Talker, ana: Person, text: str
) -> None:
    file = await ana.upload("screen.log", b"1")
    await ana._post("message", channel=talker.direct_channel, text=text, file_ids=[file["id"]])
    await office.idle()
    [*_, answer] = await talker.messages(talker.direct_channel)

    await ana.press(answer, f"Create issue “{text or 'screen.log'}”")

    assert "screen.log" in text_of(await ana.form("New issue"))


@pytest.mark.parametrize("text", [f"{BOT} Checkout is blank", f"Checkout {BOT} is blank"])
async def test_a_subject_lacks_the_mention_of_the_bot(talker: Talker, ana: Person, text: str) -> None:
    file = await ana.upload("screen.log", b"1")
    channel = talker.office.channel_id("general")
    await ana._post("message", channel=channel, text=text, file_ids=[file["id"]])
    answer = await ana.sees(lambda message: "Create issue" in text_of(message))

    await ana.press(answer, "Create issue “Checkout is blank”")

    form = await ana.form("New issue", lambda view: "screen.log" in text_of(view))
    assert input_named(form, "Subject")["element"]["initial_value"] == "Checkout is blank"


@pytest.mark.parametrize("text", ["new Checkout is blank project:webshop", "12 comment Like this"])
async def test_files_that_a_command_leaves_out_are_listed(talker: Talker, ana: Person, text: str) -> None:
    file = await ana.upload("screen.log", b"1")

    await ana._post("message", channel=talker.direct_channel, text=text, file_ids=[file["id"]])
    await talker.office.idle()

    told = [text_of(m) for m in await talker.messages(talker.direct_channel) if m["is_bot"]]
    assert "choose “More actions › Attach files to an issue” on your message" in told[0]
    assert len(told) == 2


# Threads


async def test_a_bare_mention_asks_about_the_thread(office: Office, talker: Talker, ana: Person) -> None:
    thread = await talker.thread("Checkout is slow again", "Since the release", "For all of us")
    answer = await talker.mention("", thread)
    assert "Comment on" not in text_of(answer)

    await ana.press(answer, "Create an issue")
    form = await ana.form("New issue")
    await ana.submit(form, {"Project": "Web Shop"})
    await office.idle()

    issue = office.newest_issue()
    assert issue.subject == "Checkout is slow again"
    assert {"Since the release", "For all of us"} <= set((issue.description or "").splitlines())
    [post] = await posts(talker, office.channel_id("general"))
    assert post["thread_ts"] == thread["ts"]


async def test_a_deleted_first_message_does_not_stand_for_its_thread(talker: Talker, ana: Person) -> None:
    thread = await talker.thread("Oops", "Checkout is slow again")
    await ana._post("delete", channel=thread["channel"], ts=thread["ts"])

    await ana.press(await talker.mention("", thread), "Create an issue")

    form = await ana.form("New issue")
    subject = input_named(form, "Subject")["element"]
    assert subject["initial_value"] == "Checkout is slow again"
    assert "deleted" not in str(form)


async def test_a_thread_about_an_issue_offers_what_can_be_done_with_it(talker: Talker, ana: Person) -> None:
    thread = await talker.thread("Delivery costs, as in #12")
    answer = await talker.mention("", thread)
    labels = [e["text"]["text"] for b in answer["blocks"] for e in b.get("elements", ())]
    assert labels == [
        *("Comment on #12", "Follow in this thread", "Log time"),
        *("Create an issue", "Find related issues"),
    ]

    await ana.press(answer, "Find related issues")
    assert "#12" in text_of(await ana.form("Related issues"))
    await ana.close(await ana.form("Related issues"))
    await ana.press(answer, "Comment on #12")
    assert "Delivery costs" in text_of(await ana.form("Comment"))


async def test_a_thread_s_first_message_becomes_a_comment(
    office: Office, talker: Talker, ana: Person
) -> None:
    thread = await talker.thread("It fails on Firefox, too", "For all of us")
    unnamed = await talker.mention("add this as a comment", thread)
    assert "Create an issue" in text_of(unnamed)

    await ana.press(await talker.mention("add this to 12 as a comment", thread), "Comment on #12")
    await ana.submit(await ana.form("Comment"), {})
    await office.idle()

    note = office.tracker.data.issues[12].notes[-1]
    assert "It fails on Firefox, too" in note.text
    assert "For all of us" not in note.text


async def test_a_mention_alone_outside_threads_is_answered_with_help(talker: Talker) -> None:
    assert "`/issue new Login page is blank`" in text_of(await talker.mention(""))


# Accounts


async def test_a_message_runs_after_its_author_links(office: Office, stranger: Talker, ben: Person) -> None:
    thread = await stranger.thread()
    answer = await stranger.mention("12", thread)
    assert (answer["ephemeral"], answer["thread_ts"]) == (True, thread["ts"])

    await ben.press(answer, "Link account")
    await ben.submit(await ben.form("Link account"), {"API key": KEYS["ben"]})
    await office.idle()

    [*_, shown] = await ben.messages()
    assert "#12 Delivery costs differ" in text_of(shown)
    assert shown["thread_ts"] == thread["ts"]


async def test_link_offers_its_form(stranger: Talker, ben: Person) -> None:
    answer = await stranger.direct("link")

    await ben.press(answer, "Link account")

    assert (await ben.form("Link account"))["title"]["text"] == "Link account"


@pytest.mark.parametrize(
    "text",
    [
        "link {key}",
        "Link {key}",
        "tracker login {key}",
        "my API key is `{key}`, thanks",
        "{key}",
        "Login 0123456789abcdef",
    ],
)
async def test_a_typed_key_is_refused(talker: Talker, caplog: pytest.LogCaptureFixture, text: str) -> None:
    key = KEYS["ben"]

    answer = await talker.direct(text.format(key=key))

    assert "Never type your API key" in text_of(answer)
    bots = [m for m in await talker.messages(talker.direct_channel) if m["is_bot"]]
    assert key not in str(bots)
    assert key not in caplog.text


@pytest.mark.parametrize("text", ["{commit} broke the login", "link to {commit} is dead", "login broken"])
async def test_a_commits_id_in_a_sentence_is_text(talker: Talker, text: str) -> None:
    said = text.format(commit=COMMIT)

    answer = await talker.mention(said)

    assert f"Create issue “{said[:40]}" in text_of(answer)


async def test_an_issue_may_name_a_commit(office: Office, talker: Talker) -> None:
    await talker.mention(f"new Login broken by {COMMIT} project:webshop")

    assert office.newest_issue().subject == f"Login broken by {COMMIT}"
