"""An office with digests, whose clocks the test sets."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.features.digests.newsroom import Digests


@pytest.fixture
async def digests(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Digests]:
    """Opens an office, with the test's settings as indirect parameter. Tests with the `url` fixture run it on
    both databases.
    """
    url = request.getfixturevalue("url") if "url" in request.fixturenames else ""
    settings: dict[str, Any] = getattr(request, "param", {})
    async with Digests(tmp_path, url, **settings).opened("ana", "ben") as digests:
        yield digests
