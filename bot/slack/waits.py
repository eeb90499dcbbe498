"""How long dispatch waits for what."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Waits:
    """Timeouts and intervals, in seconds.

    `options`: until a select's options are given up. `still_working`: until the user gets a notice. `form`:
    until the form shows progress. `last_answer`: for a last reply before the process stops. `progress`:
    between two updates of a form's progress. `acknowledged`: until Slack has applied an acknowledgement,
    which would overwrite an earlier update.
    """

    options: float = 2.5
    still_working: float = 2.0
    form: float = 2.0
    last_answer: float = 3.0
    progress: float = 1.5
    acknowledged: float = 0.5
