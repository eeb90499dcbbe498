"""The fields of a digest's form that choose which issues it lists, and what it leaves out."""

from collections.abc import Mapping, Sequence

from bot.features.digests.kind_words import LABELS
from bot.features.digests.plans import Choices, Typed
from bot.service.models import Ref
from bot.slack import forms
from bot.slack.blocks import JSON, Block, option
from bot.slack.buttons import ActionExpired
from bot.store.digest_plans import FILTER_KINDS, FilterKind

EXCLUDED = "excluded"
FIELDS = (*FILTER_KINDS, EXCLUDED)


def fields(filters: Choices, without: Choices) -> list[Block]:
    """One field for each filter, and one for everything to leave out."""
    chosen = {kind: [option(one.name, str(one.id)) for one in filters.get(kind, ())] for kind in FILTER_KINDS}
    out = [_exclusion(kind, one.id, one.name) for kind, choices in without.items() for one in choices]
    return [
        *(
            forms.field(kind, LABELS[kind], forms.several_searched(f"digest.{kind}", options, "Any"))
            for kind, options in chosen.items()
        ),
        forms.field(EXCLUDED, "Leave out", forms.several_searched(f"digest.{EXCLUDED}", out, "Nothing")),
    ]


def options(field: str, known: Mapping[FilterKind, Sequence[Ref]], sought: str) -> list[JSON]:
    """A field's options that contain the text."""
    if field == EXCLUDED:
        found = [_exclusion(kind, ref.id, ref.name) for kind, refs in known.items() for ref in refs]
    else:
        found = [option(ref.name, str(ref.id)) for kind in known if kind == field for ref in known[kind]]
    return [one for one in found if sought in one["text"]["text"].casefold()]


def typed(choices: Choices) -> Typed:
    """A plan's choices as the form submits them, as IDs (`#5`)."""
    return {kind: tuple(f"#{one.id}" for one in chosen) for kind, chosen in choices.items()}


def chosen(values: forms.Values) -> Typed:
    """The filters as submitted, as IDs (`#5`)."""
    found = {kind: values.all_chosen(kind) for kind in FILTER_KINDS}
    return {kind: tuple(f"#{one}" for one in ids) for kind, ids in found.items() if ids}


def excluded(values: forms.Values) -> Typed:
    """What to leave out, as IDs (`#5`). Raises ActionExpired."""
    return {kind: tuple(f"#{one}" for one in ids) for kind, ids in _excluded(values).items()}


def unknown_choices(view: JSON, known: Mapping[FilterKind, Sequence[Ref]]) -> dict[str, str]:
    """Errors at fields with choices that the project doesn't have."""
    values = forms.Values(view)
    ids = {kind: {ref.id for ref in refs} for kind, refs in known.items()}
    errors: dict[str, str] = {
        name: f"This project has no {LABELS[name].lower()} “{text}”. Remove it."
        for name in known
        for value, text in zip(values.all_chosen(name), values.all_chosen(name, "text"), strict=True)
        if forms.number_in(value) not in ids[name]
    }
    if any(not ids[kind].issuperset(out) for kind, out in _excluded(values).items()):
        errors[EXCLUDED] = "This project doesn't have all of these. Choose them again."
    return errors


def _exclusion(kind: FilterKind, number: int, name: str) -> JSON:
    return option(f"{LABELS[kind]}: {name}", f"{kind}:{number}")


def _excluded(values: forms.Values) -> dict[FilterKind, tuple[int, ...]]:
    found: dict[FilterKind, tuple[int, ...]] = {}
    for value in values.all_chosen(EXCLUDED):
        word, _, number = value.partition(":")
        kind = next((kind for kind in FILTER_KINDS if kind == word), None)
        if kind is None:
            raise ActionExpired
        found[kind] = (*found.get(kind, ()), forms.number_in(number))
    return found
