"""What the buttons of followed issues carry."""

from bot.slack.buttons import Button, Number


class FollowIssue(Button):
    """On a post in a thread, which is then kept up to date; `created` is whether it announces the issue.

    On a card, and on a post about something else, `thread` is where a new post goes. `agreed` is the project
    that isn't public which its question asks about, if it asks.
    """

    action = "issue.follow"
    issue: Number
    created: bool = False
    agreed: Number | None = None
    thread: str = ""


class StopFollowing(Button):
    """On the post that is kept up to date."""

    action = "issue.unfollow"
    issue: Number
    created: bool = False
