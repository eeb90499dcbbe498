"""Direct messages of processes that crash or stall while others do the same work."""

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from tests.features.digests.newsroom import QUIET, Digests
from tests.features.digests.test_live import BENS, MINUTE, change
from tests.features.digests.test_troubles import FEWEST_STEPS, Trouble, dies, stalls
from tests.support.reading import text_of

TIMINGS = replace(QUIET, notice_every=60, notice_after=0)


@pytest.mark.parametrize("trouble", [dies, stalls])
async def test_a_process_in_trouble_at_any_step_tells_each_comment_once(
    tmp_path: Path, url: str, trouble: Trouble
) -> None:
    async with Digests(tmp_path, url, timings=TIMINGS).opened("ana", "ben") as digests:
        await digests.ben.ask("/tracker notify comments on")
        issue = digests.report(assigned_to_id=BENS)
        for step in count(1):
            process = await digests.process()
            change(digests, issue, text=f"Comment {step}.")
            came_to_it = await trouble(digests, process, step)
            await digests.tick(MINUTE)
            messages = str([text_of(message) for message in await digests.ben.direct()])
            assert messages.count(f"Comment {step}.") == 1, step
            await process.close()
            if not came_to_it:
                break
    assert step > FEWEST_STEPS
