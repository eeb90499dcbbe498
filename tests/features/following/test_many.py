"""Posts of followed issues keep within Slack's rate limits."""

from bot.sandbox.tracker import defaults
from bot.store.followed import Followed
from tests.features.following.threads import change, create_from_message, in_thread, read_followed
from tests.support.digesting import ANA
from tests.support.office import Office
from tests.support.person import Person

WRITES = ("chat.postMessage", "chat.update")
BURST = 5


async def test_many_issues_closed_at_once_are_paced_and_none_is_lost(office: Office, ana: Person) -> None:
    post = await create_from_message(ana, "Cart loses items")
    wire, data = office.slack_wire, office.tracker.data
    assert wire
    issues = [i for i in data.issues.values() if i.project_id == 1 and i.status_id == defaults.NEW][:8]
    slack, state = office.bot.slack, office.workspace.state
    state.rate_limits = False
    channel = office.channel_id("webshop")
    for issue in issues:
        issue.is_private = False
        shown = await slack.chat_postMessage(channel=channel, thread_ts=post["thread_ts"], text="Created")
        one = Followed(
            owner=ANA,
            issue_id=issue.id,
            channel_id=channel,
            thread_ts=post["thread_ts"],
            ts=str(shown["ts"]),
            posted_by=ANA.user_id,
            created=True,
        )
        await office.bot.store.followed.add(one)
        change(issue, status_id=defaults.CLOSED)
    wire.calls.clear()
    state.rate_limits = True

    await read_followed(office)

    lines = [m["text"] for m in await in_thread(ana, post) if "Closed: " in m["text"]]
    assert len(lines) == len(issues)
    assert len(wire.called("chat.postMessage")) == len(issues)  # none was refused
    times = [call.at for call in wire.calls if call.method in WRITES]
    assert all(at - times[0] > number - BURST for number, at in enumerate(times))
