"""A text writes only what it asks for, and the answer has a button for the next step.

Each row is a typed text, and a pattern of its answer. `{n}` is an open issue that the person follows.
"""

import re

import pytest

from bot.sandbox.tracker.defaults import NEW
from tests.features.mentions.talking import Talker
from tests.support.office import Office
from tests.support.person import Person
from tests.support.reading import text_of
from tests.support.written import written

QUESTION = "looks like a question"
UNCLEAR = "I don't recognize that command.*Create issue “"
UNSURE = "I can't tell.*Open form"
ONE_ENTRY = "one entry at a time.*Open form"
FORM = "Here's the form.*Open form"
REFUSED = "Open form"
BOTH = "Change .* and .*Change both"
ANOTHER_THING = {
    "add a comment to {n}": FORM,
    "add comment": FORM,
    "add a private comment to {n}": FORM,
    "add a private comment to {n}: works for me": FORM,
    "add this to {n} as a comment": FORM,
    "add internal comment {n} they won't pay": FORM,
    "add internal note: they won't pay": UNCLEAR,
    "create confidential note {n} they won't pay": FORM,
    "comment {n} private: works for me": FORM,
    "comment on {n} (private) works for me": FORM,
    "comment on {n} privately: works for me": FORM,
    "{n} note (internal): works for me": FORM,
    "stop sending me so many messages": "Tell me about",
    "dont notify me after 6pm": "Tell me about",
    "good morning :)": "Hello!.*Help",
    "hi :)": "Help",
    "thx you're the best": "You're welcome!.*Help",
    "are you a real person lol": "I'm a bot.*Help",
    "tell ben weekly mon 9:00": UNCLEAR,
    "message dana hourly": UNCLEAR,
    "add a comment saying it works": UNCLEAR,
    "add time to {n}": FORM,
    "add 2h": FORM,
    "add 2h to webshop": FORM,
    "add 2h delay to the retries": UNCLEAR,
    "create a digest for webshop": FORM,
    "create a new weekly digest": "Which day.*Open form",
    "add digest": FORM,
    "new digest for webshop": FORM,
    "create a template": FORM,
    "new template for bugs": FORM,
    "create a project called Harbor": FORM,
    "new project": FORM,
    "create user": "Only an administrator|Open form",
    "add gwen as a user": UNCLEAR,
    "new user can't log in": UNCLEAR,
    "add user avatars to the header": UNCLEAR,
    "add ben to {n}": UNCLEAR,
    "add a subtask to {n}": UNCLEAR,
    "add farah as watcher on {n}": "can't change an issue's watchers.*Follow",
    "move {n} to the mobile app project": "can't move issues to another project",
    "copy {n} to mobile app": "can't copy issues",
    "whats blocking {n}": "Show #{n}",
    "has anyone already reported the payment page being slow?": "Search for “payment page slow”",
    "bug - search returns nothing": "Create issue “search returns nothing”",
    "raise a ticket pls, vpn keeps dropping": "Create issue “vpn keeps dropping”",
    "how many hours has ben spent on web shop last month": "can't show other people's time",
    "tell me when {n} is closed": "follow an issue to see.*Follow #{n}",
    "let me know once {n} is done": "follow an issue to see.*Follow #{n}",
    "post new bugs of web shop in here": "Add digest",
    "send us a summary every monday 8:30 of what's due": "Add digest",
    "add me as a watcher to {n}": "can't change an issue's watchers.*Follow",
    "add a due date to #{n}": UNCLEAR,
    "add {n} to my list": UNCLEAR,
    "add issue {n} to the digest": UNCLEAR,
    "add a reply to {n}: thanks": UNCLEAR,
    "add a file to {n}": UNCLEAR,
    "add 2h to {n} and 1h to 13": UNSURE,
    "add webshop digest daily 9": UNCLEAR,
    "create a live feed for webshop": UNCLEAR,
    "add Ben to the project": UNCLEAR,
    "add a new member": UNCLEAR,
    "create an issue please": "Here's the form",
    "close": "Which issue.*My issues",
    "assign it": "Which issue.*My issues",
    "create a bug": FORM,
    "create something for this": UNCLEAR,
    "new hire here": UNCLEAR,
    "add me": UNCLEAR,
    "create it": UNCLEAR,
    "add this": UNCLEAR,
    "new here, what can you do?": UNCLEAR,
    "new here": UNCLEAR,
    "new to this, where do I start": UNCLEAR,
    "new around here!": UNCLEAR,
    "new bugs": "Status: New|Create issue “",
    "new issues": "Status: New",
    "new this week": "Created <!date",
    "new today": "Created <!date",
    "new?": "Status: New",
    "new ?": UNCLEAR,
    "create an issue?": FORM,
    "could you open a ticket?": FORM,
    "add a dark mode?": UNCLEAR,
    "new Why does the login fail?": UNCLEAR,
}
"""Mentions that say `add`, `create` or `new`, but not of an issue."""
QUESTIONS = {
    "{n} closed?!": QUESTION,
    "close {n}?!": QUESTION,
    "close {n}??": QUESTION,
    "close {n} ?": QUESTION,
    "close {n}\uff1f": QUESTION,
    "{n} close? thanks": QUESTION,
    "{n} closed? or open": QUESTION,
    "close {n}? :)": QUESTION,
    "take {n}?": QUESTION,
    "move {n} to feedback?": QUESTION,
    "{n} status:closed ?": "“{n} status:closed .” looks like a question",
    "watch {n}?": QUESTION,
    "{n}? close": QUESTION,
    "{n} to:me?!": "No one called|Open form",
    "{n} done? :thinking_face:": QUESTION,
    "{n} closed :question:": QUESTION,
    '"close" {n}?': "Search for|Open form|looks like",
    "unfollow {n}?": f"{QUESTION}.*Run “unfollow {{n}}”",
    "{n} unfollow?!": QUESTION,
    "unfollow {n} ?": QUESTION,
    "unfollow {n} please?": "looks like a question",
    "{n} follow?": QUESTION,
    "{n} note ?": f"{QUESTION}.*Run “{{n}} note”",
    "{n} comment ???": QUESTION,
    "comment {n}? anyone": QUESTION,
    "{n} due friday?": QUESTION,
    "{n} assign to me?": QUESTION,
    "1h on {n}?": f"{QUESTION}.*Open form",
    "1h on {n} fixed?": f"{QUESTION}.*Open form",
    "1h on {n} today?!": f"{QUESTION}.*Open form",
    "log {n} 1h? not sure": "Open form",
    "spent 2h on {n} yesterday?": f"{QUESTION}.*Open form",
    "digest add webshop daily 9:00 ?": QUESTION,
    "digest add webshop daily?": QUESTION,
    "digest remove?": QUESTION,
    "tracker default mobile ?": QUESTION,
    "default mobile?": QUESTION,
    "tracker default none?": QUESTION,
    "unlink?": QUESTION,
    "tracker emoji :ticket: ?": QUESTION,
    "template save {n} as slow?": QUESTION,
}
"""Mentions that ask."""
NUMBERS = {
    "10:30 on {n} works for me": UNCLEAR,
    "10:30 on {n}": UNCLEAR,
    "3.0 on {n} fails for me": UNCLEAR,
    "log {n} from 2 to 3 hours": "Open form",
    "log {n} less than 2h": UNSURE,
    "log {n} 2h for @ben": "only your own time.*Open form",
    "log {n} moved from 2 to 3 servers": "Open form",
    "log {n} upgraded from 3.11 to 3.12": "Open form",
    "log {n} 10:75-11:30": "isn't a duration.*Open form",
    "log 10:30 on {n} works for me": UNSURE,
    "{n} 10:30 works for me": "Open form",
    "log {n} at 10:30": "Open form",
    "time {n} 10:30 to 11:30": UNSURE,
    "1d {n}": "How many hours is “1d”.*Open form",
    "1h on {n} at 10:30": UNSURE,
    "1h on {n} pm": UNSURE,
    "1h on {n} of us": UNSURE,
    "2h for {n} people": UNSURE,
    "2h on {n} december": UNSURE,
    "9:00 {n}": UNCLEAR,
    "1h on {n} then 2h on 13": ONE_ENTRY,
    "log 1h on {n} to 13": UNSURE,
    "log {n} 1h, 13 2h": ONE_ENTRY,
    "{n} or 13 closed": REFUSED,
    "comment: {n} users want this": UNCLEAR,
    "status: {n} closed": UNCLEAR,
    "1h on {n} or 13?": UNSURE,
    "1h on {n} or 13": UNSURE,
    "1h on {n} and 13": UNSURE,
    "1h on {n} & #13": UNSURE,
    "1h on {n} / 13": UNSURE,
    "1h on {n}\n2h on 13": UNSURE,
    "1h on {n}, 13, and 14": "Create issue|Open form",
    "1h {n} or 13": UNSURE,
    "1h or 2h on {n}": "Create issue|Open form",
    "log 1 to 2 hours on {n}": UNSURE,
    "log {n} or 13 1h": UNSURE,
    "log {n}, 13 1h": UNSURE,
    "log {n} and 13 1h": UNSURE,
    "log {n} 13 1h": UNSURE,
    "log {n} 1h or 2h": UNSURE,
    "{n}/13 close": UNCLEAR,
    "{n}#13 close": UNCLEAR,
    "close {n} and 13": BOTH,
    "close {n}, 13": BOTH,
    "close #{n} #13": BOTH,
    "follow {n} or 13": REFUSED,
    "note: {n} users reported this": UNCLEAR,
    "note {n} users reported this": UNCLEAR,
    "note that {n} users reported this": UNCLEAR,
    "update: {n} closed": UNCLEAR,
    "done: {n}": UNCLEAR,
    "comment on {n} and 13: fixed": FORM,
    "comment {n}, 13 fixed": FORM,
    "{n} users reported this": REFUSED,
    "{n} closed bugs": REFUSED,
    "{n} ben closed it": "Open form.*Comment “ben closed it”",
    "{n} ben resolved": REFUSED,
    "{n} ben reopened it": REFUSED,
}
"""Mentions in which a number may be something else than an issue or a duration."""
COMMANDS = {
    "/issue add a comment to": "New issue|Create",
    "/issue create a digest for webshop": "Create issue",
    "/issue add 2h to {n}": "Create issue",
    "/issue new ?": QUESTION,
    "/issue new same as {n} but for the mobile app": "can't copy #{n}.*Open form",
    "/issue new copy of {n}": "can't copy #{n}.*Open form",
    "/issue close": "Which issue.*My issues",
    "/issue reassign all of gwens bugs to chris": "Search for “gwens bugs”",
    "/timelog {n} less 1h": "whether “1h” is the time you spent.*Open form",
    "/timelog {n} 2h until the release": "If you spent that time.*Open form",
    "/timelog {n} 2h from now": "If you spent that time.*Open form",
    "/timelog {n} 2h a day": "Log one entry at a time.*Open form",
    "/issue {n}, 13 delete": "can't delete issues. Close #{n} and #13 instead.*Close #{n} and #13",
    "/timelog fill in my hours for monday: {n} 4h, 13 4h": ONE_ENTRY,
    '/issue new Say "hi\npriority: high': "A quotation mark is missing.*Open form",
    "/issue unfollow {n}?": f"{QUESTION}.*Run “unfollow {{n}}”",
    "/issue {n} note ?": QUESTION,
    "/issue {n} closed?!": f"{QUESTION}.*Open form",
    "/issue {n}/13 close": "Create|Open form",
    "/issue comment {n} or 13 is broken": "{n} or 13 is broken",
    "/issue {n} assign @ben, due friday": "hasn't linked an account.*Open form",
    "/issue new Cart is slow, assign @ben, high priority": "hasn't linked an account.*Open form",
    "/timelog 10:30 on {n} works for me": UNSURE,
    "/timelog 1h on {n} or 13?": UNSURE,
    "/timelog 1 to 2 hours on {n}": UNSURE,
    "/timelog {n} meeting at 10:30": "Open form",
    "/timelog {n} 1h fixed?": f"{QUESTION}.*Open form",
    "/timelog {n} 10:30 - 11:30": UNSURE,
    "/issue {n} comment (private) they won't pay": "let you write private notes.*private. they won't pay",
    "/issue comment {n} [internal] they won't pay": "let you write private notes.*On .*#{n}",
    "/issue {n} private note they won't pay": "let you write private notes.*On .*#{n}",
    "/timelog {n} downtime was 2h": "whether “2h” is the time you spent.*Open form",
    "/timelog {n} timeout of 30m": "whether “30m” is the time you spent.*Open form",
    "/timelog {n} was down for 30 minutes": "whether “30 minutes” is the time you spent.*Open form",
    "/timelog {n} eta: 2h": "whether “2h” is the time you spent.*Open form",
    "/timelog {n} should take 2h": "whether “2h” is the time you spent.*Open form",
    "/timelog {n} could be 2h": "whether “2h” is the time you spent.*Open form",
    "/timelog {n} at most 2h": "whether “2h” is the time you spent.*Open form",
    "/timelog {n} down for 2h": "whether “2h” is the time you spent.*Open form",
    "/timelog {n} meeting in 2h": "whether “2h” is the time you spent.*Open form",
    "/timelog {n} 2h planned": "If you spent that time.*Open form",
    "/timelog {n} 2h to go": "If you spent that time.*Open form",
    "/timelog {n} 2h left": "If you spent that time.*Open form",
    "/timelog {n} fixed it 2 hours ago": "^Issue #{n} .*Choose an activity",
    "/digest daily 9:00?": QUESTION,
    "/digest every morning at 9 my open issues": "only read a time after `daily`.*Open form",
    "/digest me weekdays 9:00 ?": QUESTION,
    "/tracker default mobile?": QUESTION,
}
ASKED = {
    "add a comment to {n}: works for me": "Commented on.*“works for me”",
    "add comment on #{n} I can reproduce this": "Commented on.*“I can reproduce this”",
    "add 2h to {n}": "Logged 2h on",
    "add half an hour to {n}": "Logged 30m on",
    "add two hours to {n}": "Logged 2h on",
    "add 1h 30m to {n} pairing": "Logged 1h 30m on.*pairing",
    "1:30 #{n}": "Logged 1h 30m on",
    "create a digest for webshop daily 9:00": "Web Shop",
    "create an issue: Why does the login fail?": "Created.*Why does the login fail",
    "add a ticket: user avatars in comments": "Created.*user avatars in comments",
    "new Cart has an issue": "Created.*Cart has an issue",
    "add Slow response time in the cart": "Created.*Slow response time in the cart",
    "new The comment box is too small": "Created.*The comment box is too small",
    "create Totals for 3 carts are wrong": "Created.*Totals for 3 carts are wrong",
    "{n} comment Can you look?": "Commented on.*“Can you look.”",
    "comment {n} Can you look?": "Commented on.*“Can you look.”",
    "{n} note 12 users reported this": "Commented on.*“12 users reported this”",
    "{n} rename to Why is the cart empty?": "Subject: .*Why is the cart empty",
    "close {n}!": "Status: ",
    "close {n}, please": "Status: ",
    "unfollow {n}": "no longer following",
    "/issue new Why does the login fail?": "created.*Why does the login fail",
    "/issue create Which fields are required?": "created.*Which fields are required",
    "/issue add a comment to {n}: same here": "Commented on.*“same here”",
    "/issue {n} comment Who has seen this?": "Commented on.*“Who has seen this.”",
    '/timelog {n} 1h "Why is the cart empty?"': "Logged 1h on.*Why is the cart empty",
    "/timelog {n} 1h fixed 3 and 4": "Logged 1h on.*fixed 3 and 4",
    "/timelog {n} 1:30 standup at 10:30": "Logged 1h 30m on.*standup at 10:30",
    "/timelog {n} 2h for testing and design": "Logged 2h on.*for testing and design",
    "/timelog 1.5 on {n}": "Logged 1h 30m on",
    "/issue new Copy 12 files to the server": "created.*Copy 12 files",
}
"""Requests that are written."""


TABLES = {
    "things": ANOTHER_THING,
    "questions": QUESTIONS,
    "numbers": NUMBERS,
    "commands": COMMANDS,
    "asked": ASKED,
}


@pytest.mark.parametrize("table", TABLES)
async def test_only_requests_are_written(office: Office, ana: Person, table: str) -> None:
    office.workspace.state.rate_limits = False  # the test talks faster than people
    talker, issue = Talker(ana), office.public_issue()
    for command in (
        "/tracker default webshop",
        f"/issue {issue.id} follow",
        f"/timelog {issue.id} 1h design",
    ):
        await ana.command(command)
    await office.idle()
    before, now, wrong = "", None, []
    for said, says in TABLES[table].items():
        issue.status_id, issue.assigned_to_id = NEW, None
        office.tracker.data.time_entries.clear()  # else a long day would ask
        if now != before:
            before = written(office)
        typed, answer = said.format(n=issue.id), says.replace("{n}", str(issue.id))
        if typed[:1] == "/":
            seen = len(await ana.messages())
            await ana.command(typed)
            await office.idle()
            shown = [*(await ana.messages())[seen:], *(await ana.state())["views"][-1:]]
            for view in (await ana.state())["views"]:
                await ana.close(view)
        else:
            shown = [await talker.mention(typed)]
        text = " ".join(map(text_of, shown))
        leads = "action_id" in str([one.get("blocks") for one in shown])
        now = written(office)
        if (
            (now != before) is not (table == "asked")
            or not re.search(answer, text, re.DOTALL)
            or not (leads or table == "asked")
        ):
            wrong.append(
                f"{typed}{': written' if now != before else ''}{'' if leads else ': no button'}: {text[:200]}"
            )

    assert not wrong, "\n".join(wrong)
