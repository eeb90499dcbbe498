"""What goes wrong with digests."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from tests.features.digests.newsroom import HISTORY, POST, QUIET, Digests

MANY = 22_000


async def test_a_late_post_whose_answer_was_lost_is_looked_for_as_long_as_any_other(digests: Digests) -> None:
    digest = await digests.add()
    issue = digests.report()
    digests.pass_time(timedelta(days=2))  # the bot was down
    digests.wire.faults = [(POST, "lose the answer"), *[(HISTORY, "500 before it")] * 2]
    await digests.tick(timedelta(seconds=1))
    for _ in range(4):
        await digests.run_for(60)

    assert digests.listed(digest) == [(issue.id,)]
    assert await digests.notices() == []


async def test_a_digest_of_very_many_issues_is_posted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timings = replace(QUIET, fresh=1.5)
    async with Digests(tmp_path, timings=timings).opened("ana") as digests:
        await digests.add()
        for _ in range(MANY):
            digests.report()

        # Pages that are asked for all at once take a while each.
        digests.service.too_late, planned = 1.5, digests.service._fault

        def fault(request: web.Request) -> str | None:
            return "late" if "issue_id=" in request.path_qs else planned(request)

        monkeypatch.setattr(digests.service, "_fault", fault)

        for _ in range(2):
            await digests.tick()

        assert len(digests.posted()) == 1
