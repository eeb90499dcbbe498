"""What the buttons of followed issues carry."""

from bot.slack.buttons import Button, Number


class FollowIssue(Button):
    """On a post in a thread, which is then kept up to date; `created` is whether it announces the issue.

    On a card, and on a post about something else, `thread` is where a new post goes. `asked` is whether the
    button asks first, as it must unless everyone can see the issue.
    """

    action = "issue.follow"
    issue: Number
    created: bool = False
    asked: bool = False
    thread: str = ""


class StopFollowing(Button):
    """On the post that is kept up to date."""

    action = "issue.unfollow"
    issue: Number
    created: bool = False
