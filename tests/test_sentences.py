"""Every error has a sentence."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bot
from bot.errors import BotError, UserError
from bot.features.digests.schedules import ScheduleError
from bot.features.issues.fields import Draft
from bot.slack.buttons import ActionExpired
from tests.support.wording import worded

for module in pkgutil.walk_packages(bot.__path__, "bot."):
    if not module.name.endswith(("__main__", ".migrations.env")) and ".versions." not in module.name:
        import_module(module.name)

st.register_type_strategy(Draft, st.just(Draft()))
st.register_type_strategy(UserError, st.builds(ActionExpired))
st.register_type_strategy(str, st.just("web"))


def below(kind: type[BotError]) -> Iterator[type[BotError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from below(subclass)


BASES = {UserError, ScheduleError}
"""Never raised themselves."""
KINDS = sorted({*below(BotError)} - BASES, key=lambda kind: f"{kind.__module__}.{kind.__name__}")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_error_has_a_sentence(kind: type[BotError], data: st.DataObject) -> None:
    said = worded(data.draw(st.builds(kind)))
    assert said[-1] in ".?!"
    assert "{" not in said
