"""Owners for the store's tests."""

import pytest

from bot.store.owner import Owner


@pytest.fixture
def ana() -> Owner:
    return Owner(None, "T1", "U0ANA")


@pytest.fixture
def ben() -> Owner:
    return Owner("E1", "T1", "U0BEN")
