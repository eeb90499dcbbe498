"""What people type without having read anything is done, or led on with a button; it seldom ends in words.

Each row is what is typed, and what its answer says. `{n}` is an open issue in the channel's project.
"""

import re
from collections import Counter

from bot.sandbox.tracker.defaults import NEW
from tests.support.office import Office
from tests.support.person import DM, Person
from tests.support.reading import JSON, text_of

SEARCHES = {
    # In the contract's table
    "overdue": "Status: open · Due",
    "due today": "Due <!date",
    "due this week": "Due <!date.* to <!date",
    "due before friday": "on or before",
    "unassigned": "Unassigned",
    "assigned to me": "Assignee: me",
    "assigned to ben": "Assignee: Ben Okafor",
    "for ben": "Assignee: Ben Okafor",
    "mine": "Assignee: me",
    "by me": "Author: me",
    "created by ben": "Author: Ben Okafor",
    "from dana": "Author: Dana Novak",
    "urgent": "Priority: Urgent",
    "high priority": "Priority: High",
    "bugs": "Tracker: Bug",
    "in progress": "Status: In progress",
    "search": "Category: Search",
    "closed last week": "Closed <!date",
    "created today": "Created <!date",
    "updated since monday": "Updated",
    "all the bugs": "Tracker: Bug · Status: any",
    "in mobile": "Project: Mobile App",
    "project:all bugs": "All projects · Tracker: Bug",
    "show all open tickets": "Status: open",
    "by:ben": "Author: Ben Okafor",
    "for:me prio:high": "Priority: High · Assignee: me",
    # In their own words
    "what's overdue?": "Status: open · Due",
    "what is due tomorrow": "Due <!date",
    "due in two weeks": "Due <!date",
    "due by end of month": "on or before",
    "due next week and unassigned": "Due <!date",
    "everything assigned to Ben Okafor": "Assignee: Ben Okafor",
    "ben's bugs": "Tracker: Bug.*Assignee: Ben Okafor",
    "assigned to @ana": "Assignee: Ana Ruiz",
    "tickets I created": "Author: me",
    "what am I working on": "Assignee: me",
    "bugs without assignee": "Tracker: Bug",
    "urgent bugs in web shop": "Project: Web Shop · Tracker: Bug.*Priority: Urgent",
    "overdue in mobile": "Project: Mobile App.*Due on or before",
    "created by ben for dana": "Assignee: Dana Novak · Author: Ben Okafor",
    "new this week": "Created <!date",
    "updated in the last 7 days": "Updated",
    "resolved yesterday": "Closed <!date",
    "newest bugs": "newest first",
    "oldest open issues": "oldest first",
    "bugs and tasks": "Tracker: Bug or Task",
    "open bugs assigned to me due this week": "Tracker: Bug.*Assignee: me · Due",
    "everything in all projects": "All projects",
    "bugs for 3.0": "Target version: 3.0",
    "feedback": "Status: Feedback",
    "issues with voucher": "Subject contains the word: voucher",
    "voucher bugs": "Tracker: Bug.*Subject contains the word: voucher",
    "list": "Status: open",
    "late bugs": "Tracker: Bug",
    "assigned to april": "No one called “april” here.*Choose a person.*Search for “assigned to april”",
    "assigned to ben okafor": "Assignee: Ben Okafor(?!.*Subject)",
    "resolved": "Status: Resolved",
    "due": "Search for “due”",
    "assigned to": "Search for “assigned to”",
    "open closed bugs": "Search for “open closed bugs”",
    "🎉": "New search",
    "web": "New search",
    "web shop login page is slow on my phone": "New search",
    "critical": "New search",
    f"assigned to {'x' * 1500}": "Search for “assigned to x",
    "sort:prio": "Did you mean `sort:priority`.*Search for",
    "{n}": "Status",
}
NEW_ISSUES = {
    "new Cart is empty assign to ben": "assigned to Ben Okafor",
    "new Cart is empty due friday": "· due <!date",
    "new Cart is empty priority high assign to me due tomorrow": "High · assigned to Ana Ruiz · due",
    "new Pay the amount due": "Pay the amount due",
    "new Users can't assign to groups": "Users can't assign to groups",
    "new Cart is empty and assign to dana": "assigned to Dana Novak",
    "new Cart is empty assigned to Chris Lindqvist": "Created|can't be assigned|No one",
    "new Cart is empty due in 3 days": "· due <!date",
    "new Cart is empty priority urgent": "Urgent",
    'new "Reminder: due friday"': "Reminder: due friday",
    "new Cart is empty in project infrastructure": "in Infrastructure",
    "create Cart is empty to:ben": "assigned to Ben Okafor",
    "add Cart is empty": "Created",
    "new 🎉": "Created",
    "new Cart is empty assign to zoe": "Cart is empty assign to zoe",
    "new Cart is empty prio:hgih": "Open form|Did you mean",
    "The page is blank": "Create issue “The page is blank”",
    "my page is blank": "Subject contains",
    "due": "Create issue “due”",
}
CHANGES = {
    "{n} assign to me": "Assignee",
    "{n} assign to ben": "Assignee",
    "{n} assign to ben okafor and set priority to low": "Priority: ",
    "assign {n} to dana": "Assignee: ",
    "{n} unassign": "Assignee",
    "{n} take it": "Assignee: Unassigned → ",
    "{n} high priority": "Priority: ",
    "{n} make it urgent": "Priority: ",
    "{n} set priority to normal": "Priority: ",
    "{n} due in two weeks": "Due date: ",
    "{n} due friday": "Due date: ",
    "{n} no due date": "Due date: ",
    "{n} set status to in progress": "Status",
    "{n} feedback": "Status: ",
    "{n} move to in progress": "Status: ",
    "{n} status resolved": "Status: ",
    "{n} 60% done": "% done: ",
    "{n} estimate 3h": "Estimated hours: ",
    "{n} target version 3.0": "Target version: ",
    "{n} rename to Cart is full": "Subject: ",
    "{n} category search": "Category: ",
    "{n} in progress and assign to me": "Assignee: ",
    "{n} comment I can reproduce this": "Commented on",
    "comment {n} Me too": "Commented on",
    "show {n}": "Status",
    "{n} edit": "Edit #",
    "close {n}": "Status: ",
    "{n} reopen": "Status|can't be changed",
    "{n} mark as done": "Status",
    "{n} assign to zoe": "Open form",
    "{n} due someday": "Open form",
    "{n} blah blah": "Open form",
    "{n} high priority?": "looks like a question.*Open form",
    "{n} no priority": "No priority called “no”.*Open form",
    "{n} c": "No status called “c”.*Open form",
    "{n} assign to a": "No one called “a” here.*Open form",
    "{n} title is cut off": "Open form",
    "{n} close and reopen": "I don't understand.*Open form",
}
LISTS = {
    "list": "Status: open",
    "my issues": "Assignee: me",
    "mine": "Assignee: me",
    "overdue": "Status: open",
    "assigned to me": "Assignee: me",
    "find voucher": "voucher",
    "open bugs": "Search for “open bugs”",
    "help": "/issue",
    "": "New issue",
    "template": "template",
}
TIMES = {
    "{n} 1h30 design": "Logged 1h 30m.*Design",
    "{n} 1h testing the cart": "Logged 1h.*Testing.*the cart",
    "{n} 30m review support": "Logged 30m.*Support.*review",
    "2h {n} yesterday fixed the cart": "Logged 2h.*fixed the cart",
    "{n} 45m last friday": "Logged 45m",
    "i spent 2h on {n} yesterday": "Logged 2h",
    "{n} 1h the day before yesterday": "Logged 1h",
    "{n} testing 1h": "Logged 1h.*Testing",
    "{n} 1h talked about support": "talked about support",
    "{n} fixed the cart 1h 30m": "Logged 1h 30m.*fixed the cart",
    "1h in web shop meeting": "Logged 1h on .*Web Shop.*meeting",
    "1h on mob programming": "^(?!Logged).*Log time",
    "90m on webshop yesterday": "Logged 1h 30m on .*Web Shop",
    "1 hour on {n}": "Logged 1h",
    "{n} 0.5": "Logged 30m",
    "{n} 1,5h": "Logged 1h 30m",
    "{n} 1h on 2026-11-20": "Logged 1h|in the future",
    "{n} 1h tomorrow": "Log anyway",
    "{n}": "Log time",
    "two hours on {n}": "Log time",
    "": "Log time",
    "edit": "Edit",
    "{n} soon": "Open form",
}
MENTIONS = {
    "new Cart is empty assign to ben": "Open form",
    "create an issue: Cart is empty project:webshop": "Created.*Cart is empty",
    "add Cart is empty due friday project:webshop": "· due <!date",
    "{n}": "Status",
    "#{n}": "Status",
    "{n} assign to me": "Assignee",
    "assign {n} to ben": "Assignee: ",
    "close {n}": "Status: ",
    "close {n}?": "looks like a question",
    "#{n} #99": "No status called “#99”",
    "show me issue {n}": "Status",
    "comment {n} Same on my phone": "Commented on",
    "{n} comment Same on my tablet": "Commented on",
    "edit {n}": "Open form",
    "search voucher": "voucher",
    "find overdue bugs": "Tracker: Bug",
    "overdue": "Status: open",
    "mine": "Assignee: me",
    "my open issues": "Assignee: me",
    "list": "Status: open",
    "high priority bugs": "Tracker: Bug · Status: open · Priority: High",
    "bugs assigned to ben": "Tracker: Bug.*Assignee: Ben Okafor",
    "log {n} 1h fixed it": "Logged 1h",
    "time {n} 30m": "Logged 30m",
    "2h {n}": "Logged 2h",
    "i spent 2h on {n} yesterday": "Logged 2h|Search for",
    "digest": "digest",
    "digest add webshop daily 9:00": "digest",
    "help": "/issue",
    "hello": "/issue",
    "whoami": "Ana Ruiz",
    "link": "linked|Link",
    "projects": "Web Shop",
    "new": "Open form",
    "The cart is empty since today": "Create issue “The cart is empty since today”.*Search for",
    "🎉": "Help",
}
"""Said to the bot in a direct message."""
COMMANDS = {"issues": SEARCHES, "issue": {**NEW_ISSUES, **CHANGES, **LISTS}, "timelog": TIMES}
DONE = re.compile(r"Created |Updated |Logged |Nothing changed|Commented on|Project: |All projects|\*Status\*")
AT_LEAST_DONE, MOST_ENDING_IN_WORDS = 120, 15


async def answered(office: Office, ana: Person, typed: str) -> tuple[str, bool]:
    """What the answer says, with the form that opened, and whether it has a button or a field."""
    await office.idle()
    channel = DM if typed[:1] != "/" else None
    before = {(message["ts"], str(message)) for message in await ana.messages(channel)}
    if channel:
        own = office.workspace.state.im(ana.user_id).id
        await ana._post("message", channel=own, text=typed)
    else:
        await ana.command(typed)
    await office.idle()
    fresh = [m for m in await ana.messages(channel) if (m["ts"], str(m)) not in before]
    views = (await ana.state())["views"]
    shown: list[JSON] = [*(m for m in fresh if m["user"] != ana.user_id), *views[-1:]]
    leads = any("action_id" in str(one.get("blocks")) for one in shown)
    for view in views:
        await ana.close(view)
    titles = [view["title"]["text"] for view in views[-1:]]
    return " ".join([*map(text_of, shown), *titles]), leads


async def test_what_people_say_is_done_or_led_on(office: Office, ana: Person) -> None:
    office.workspace.state.rate_limits = False  # the test talks faster than people
    await ana.ask("/tracker default webshop")
    rows = [(f"/{name} {said}", says) for name, table in COMMANDS.items() for said, says in table.items()]
    outcomes: Counter[str] = Counter()
    wrong = []
    for typed, says in [*rows, *MENTIONS.items()]:
        issue = office.public_issue()
        issue.status_id, issue.assigned_to_id = NEW, None
        number = issue.id
        text, leads = await answered(office, ana, typed.replace("{n}", str(number)))
        if not re.search(says, text, re.DOTALL):
            wrong.append(f"{typed}: {text[:300]}")
        done = DONE.search(text) and "No issues found" not in text
        outcomes["done" if done else "led on" if leads else "in words"] += 1

    assert not wrong, "\n".join(wrong)
    assert outcomes["done"] >= AT_LEAST_DONE, outcomes
    assert outcomes["in words"] <= MOST_ENDING_IN_WORDS, outcomes
