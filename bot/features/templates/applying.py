"""Fills in a new issue from a template, and takes back what nobody changed. Pure functions.

What the user typed stays. A field that has a value keeps it, and typed text comes before the template's
description, or below the heading that it has itself.
"""

import re

from bot.features.issues.fields import FIELDS, Draft
from bot.features.templates.outline import Outline, Part, key, read, written
from bot.service.conventions import SUBJECT_LENGTH
from bot.store.templates import Template

TEMPLATED = tuple(FIELDS[name] for name in ("tracker", "priority"))
"""The fields with choices that a template fills in."""


def applied(draft: Draft, template: Template, text_format: str) -> Draft:
    """The draft, filled in from a template."""
    content, (skeleton, typed) = template.content, _outlines(draft, template, text_format)
    before = "\n\n".join(filter(None, (typed.before, skeleton.before)))
    parts = (Part(part.heading, typed.text(part.heading) or part.text) for part in skeleton.parts)
    chosen = {name: f"#{choice.id}" for name, choice in content.choices.items()}
    subject = draft.subject
    if content.prefix and own_subject(subject, template) == subject:
        prefixed = f"{content.prefix} {subject}"
        subject = prefixed if len(prefixed) <= SUBJECT_LENGTH else subject
    description = written(Outline(before, tuple(parts)), text_format)
    update = {"template": f"#{template.id}", "subject": subject, "values": chosen | draft.values}
    return draft.model_copy(update=update).described(description)


def withdrawn(draft: Draft, template: Template, text_format: str) -> Draft:
    """The draft without what the template filled in and nobody changed."""
    content, (skeleton, typed) = template.content, _outlines(draft, template, text_format)
    before = "" if key(typed.before) == key(skeleton.before) else typed.before.removesuffix(skeleton.before)
    parts = (part for part in typed.parts if key(part.text) not in ("", key(skeleton.text(part.heading))))
    filled = {
        name: (f"#{choice.id}", choice.name)  # a form's values are names once it is refreshed
        for name, choice in content.choices.items()
    }
    values = {name: value for name, value in draft.values.items() if value not in filled.get(name, ())}
    description = written(Outline(before.strip(), tuple(parts)), text_format)
    update = {"template": None, "subject": own_subject(draft.subject, template), "values": values}
    return draft.model_copy(update=update).described(description)


def with_headings(draft: Draft, template: Template, text_format: str) -> Draft:
    """The draft with the template's headings as headings again: Slack's editor makes them bold text."""
    return draft.described(written(_outlines(draft, template, text_format)[1], text_format))


def own_subject(subject: str, template: Template) -> str:
    """The subject without the template's prefix, which ends at a word's end: `Bug` isn't one of `Bugs`."""
    prefix = template.content.prefix
    found = re.match(rf"{re.escape(prefix)}(?!(?<=\w)\w)", subject, re.IGNORECASE) if prefix else None
    return subject[found.end() :].strip() if found else subject


def missing(draft: Draft, template: Template, text_format: str) -> tuple[str, ...]:
    """The template's required headings below which nothing is written."""
    skeleton, typed = _outlines(draft, template, text_format)
    unfilled = ("", *(key(part.text) for part in skeleton.parts))
    return tuple(name for name in template.content.required if key(typed.text(name)) in unfilled)


def _outlines(draft: Draft, template: Template, text_format: str) -> tuple[Outline, Outline]:
    """The template's description, and the draft's with the same headings."""
    skeleton = read(template.content.description, text_format)
    return skeleton, read(draft.description, text_format, skeleton)
