"""How long the bot waits, where tests set it; other durations are constants beside their use."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class KeyTimings:
    """When a refused key is tried again, and what follows if refusals last. Durations in seconds."""

    recheck: float = 0.5  # the pause before a refused key is checked again immediately
    watch: float = 5.0  # the interval at which long work checks that the key is still there
    first_retry: float = 60.0
    """How long background work waits after a refusal; the wait doubles with each one."""
    longest_retry: float = 3600.0
    notify_after: float = 3600.0
    delete_after: float = 7 * 86400.0


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Durations in seconds. All replicas that share a database use the same values.

    After a crash, another replica takes over the process's requests within `heartbeat_timeout` + 2 ×
    `interval`, and its digests when their leases of `longest_post` have ended, too. It looks for a digest
    message that may have been posted no sooner than `longest_post` after the send was recorded.
    """

    interval: float = 5.0
    """The interval of heartbeats, and of checks for crashed replicas, due digests and followed issues."""
    heartbeat_timeout: float = 20.0
    longest_post: float = 35.0
    """The longest time from recording a send in the database to the end of the request that posts it."""
    look_up_after: float = 10.0  # the delay before the bot looks for a message whose post request failed
    fresh: float = 1.5
    """How old a response that decides about a post may be; Slack may make the post wait for three more."""
    follow_every: float = 60.0  # the interval at which the issues that a user follows are read
    notice_every: float = 300.0
    """The interval at which the issues that are assigned to a user, or that they reported, are read."""
    notice_after: float = 5.0
    """The seconds until the bot reads an issue that changed: times in the service are in whole seconds, so
    another change may get the same one.
    """
    keys: KeyTimings = field(default_factory=KeyTimings)


@dataclass(frozen=True)
class Timeouts:
    """Timeouts of calls to the service, in seconds.

    `free`: wait for a free connection. `read`: read or write one chunk. `total`: the call with all its
    attempts. Uploads have their own `upload_free` and, as the total, `upload`.
    """

    free: float = 5.0
    connect: float = 5.0
    read: float = 20.0
    total: float = 30.0
    upload_free: float = 60.0
    upload: float = 600.0


@dataclass(frozen=True)
class Delays:
    """How long the bot waits for users, Slack and the service. Durations in seconds."""

    options: float = 2.5  # until a select's options are given up
    still_working: float = 2.0  # until the user gets a notice
    form: float = 2.0  # until the form shows progress
    last_answer: float = 3.0  # for a last reply before the process stops
    progress: float = 1.5  # between two updates of a form's progress
    acknowledged: float = 0.5
    """Until Slack has applied an acknowledgement, which would overwrite an earlier update."""
    completed: float = 0.1
    """Until completed deliveries are recorded: those that a crash leaves unrecorded count as lost."""
    typing: float = 0.5  # for a pause in a user's typing
    lookups: tuple[float, ...] = (0.2, 1.5)
    """Before each look for a write whose response was lost, since the service may still be processing it."""
    event_retries: tuple[float, ...] = (5.0, 30.0, 120.0)
    """Before a reaction is handled again, each time that it fails unexpectedly."""
    thread: float = 65.0  # until a form stops reading a thread, of which Slack may give one page a minute
    slack: float = 15.0  # until a request to Slack is given up
    slack_backoff: float = 0.5  # for slack_sdk, which doubles it for each repeated request
    connect: float = 10.0  # for the first socket, until the bot starts without it
    turn: float = 60.0  # for a message's turn, while the person's earlier ones are handled
    body: float = 10.0  # until the body of a request has arrived
    idle: float = 75.0  # until an idle connection is closed; longer than the 60 seconds of common proxies
    linger: float = 1.0  # for the rest of a request that is rejected already
    ping: float = 10.0  # between two pings of a socket
    renewal: float = 120.0
    """While one process alone may renew a workspace's token: a refresh token works once."""
    digest_now: float = 1.5  # for a digest that the user asked for; after that it is posted in the background
    channel_pace: float = 1.05
    """Between two background writes to one channel, after the first few. Slack takes about one a
    second, with bursts of five: the smaller burst leaves room for users' own requests, as do the next two.
    """
    channel_burst: int = 3
    workspace_pace: float = 0.2  # between two such posts in one workspace. Slack allows 300 a minute.
    update_pace: float = 1.3  # between two such updates of posts in one workspace. Slack allows 50 a minute.
    background_retry: float = 30.0
    """Until background work is retried, if Slack can't be reached or locks the app out."""
    channels: float = 5.0
    """How long facts about conversations are cached, and so until outsiders in one are noticed."""
    cached: float = 60.0  # while a user's projects, and the choices in them, are cached
    service: Timeouts = field(default_factory=Timeouts)


DEFAULT = Timings()
