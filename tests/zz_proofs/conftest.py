"""The offices of the features' own tests."""

from tests.features.assigned.in_the_service.conftest import office, turns
from tests.features.digests.conftest import digests

__all__ = ["digests", "office", "turns"]
