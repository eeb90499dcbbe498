"""Every error has a sentence: a constant text, filled from the error's own values and from nothing typed."""

import ast
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import bot
from bot.errors import BotError, UserError
from bot.features.issues.fields import Draft
from bot.service import inputs, models
from bot.slack.surfaces.buttons import ActionExpired
from bot.slack.surfaces.manifest import TEMPLATE
from tests.support.wording import worded

for module in pkgutil.walk_packages(bot.__path__, "bot."):
    if not module.name.endswith(("__main__", ".migrations.env")) and ".versions." not in module.name:
        import_module(module.name)

st.register_type_strategy(Draft, st.just(Draft()))
st.register_type_strategy(UserError, st.builds(ActionExpired))
st.register_type_strategy(str, st.just("web"))

ROOT = Path(bot.__path__[0])


def below(kind: type[BotError]) -> Iterator[type[BotError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from below(subclass)


BASES: set[type[BotError]] = {
    UserError,
    *(kind for kind in below(UserError) if vars(kind)["__init__"] is vars(UserError)["__init__"]),
}
"""Worded where they are raised."""
KINDS = sorted({*below(BotError)} - BASES, key=lambda kind: f"{kind.__module__}.{kind.__name__}")


class Raised(NamedTuple):
    """A call of an error's base class: where it is, its text, and the names of its values."""

    place: str
    text: ast.expr | None
    names: set[str | None]


NAMES = {kind.__name__ for kind in BASES}


def raised() -> Iterator[Raised]:
    """Every error that is worded where it is raised."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
                text = node.args[0] if len(node.args) == 1 else None
                yield Raised(
                    f"{path.relative_to(ROOT)}:{node.lineno}",
                    text,
                    {key.arg for key in node.keywords} - {"offers"},
                )


@pytest.fixture(autouse=True, scope="module")
def _models_built() -> None:
    """Models are built when they are first used, and have no signature before."""
    for model in (*vars(models).values(), *vars(inputs).values()):
        if isinstance(model, type) and issubclass(model, BaseModel) and model is not BaseModel:
            model.model_rebuild()


WHOLE = {"why": "It's web.", "how": "Try web."}
"""The values that are whole sentences, wherever they have these names."""


def places(text: str) -> set[str]:
    """Returns the names that a template needs; commands have to exist, and nothing else may be in braces."""
    places = re.findall(r"\{([^{}]*)\}", text)
    commands = {place[1:].split(" ")[0] for place in places if place.startswith("/")}
    assert all(f'/{{prefix}}{command}"' in TEMPLATE for command in commands)
    assert text.count("{") == text.count("}") == len(places)
    names = {place for place in places if not place.startswith("/")}
    assert all(name.isidentifier() for name in names), "a name, without attribute, index and format"
    return names - {"service", "prefix"}


def test_a_sentence_at_its_raise_is_constant_and_has_its_values() -> None:
    for place, text, names in raised():
        assert isinstance(text, ast.Constant), f"{place}: a constant, so that nothing typed is a template"
        assert isinstance(text.value, str), place
        assert places(text.value) == names, place
        values = {name: WHOLE.get(name, "web") for name in filter(None, names)}
        sentence = worded(UserError(text.value, **values))
        assert sentence[-1] in ".?!", place
        assert "{" not in sentence, place


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.says], ids=lambda kind: kind.__name__)
def test_a_class_has_the_values_of_its_sentence(kind: type[BotError]) -> None:
    assert places(kind.says) <= {*getattr(kind, "__dataclass_fields__", ()), *dir(kind)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_error_has_a_sentence(kind: type[BotError], data: st.DataObject) -> None:
    whole = {name: st.just(sentence) for name, sentence in WHOLE.items() if f"{{{name}}}" in kind.says}
    sentence = worded(data.draw(st.builds(kind, **whole)))
    assert sentence[-1] in ".?!"
    assert "{" not in sentence


def test_typed_text_is_no_template() -> None:
    sentence = worded(
        UserError("“{typed}” isn't a date. Try `{/timelog} 42 1h` in {service}.", typed="{service} {/issue}")
    )
    assert sentence == "“{service} {/issue}” isn't a date. Try `/timelog 42 1h` in Tracker."


def test_a_sentence_may_have_that_of_another_error_in_it() -> None:
    inner = UserError("No {kind} {query}.", kind="issue", query="{error}")
    assert worded(UserError("{error} Try `{/issue}`.", error=inner)) == "No issue {error}. Try `/issue`."
