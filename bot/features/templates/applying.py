"""Fills in a new issue from a template. Pure functions.

What the user typed stays. A field that has a value keeps it, and typed text comes before the template's
description, or below the heading that it has itself.

A description is read as the text before its first heading, and a part for each heading. Headings are the
service's own, and lines that are all bold, since Slack's editor has no headings.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from bot.features.issues.fields import FIELDS, Draft
from bot.service.conventions import SUBJECT_LENGTH
from bot.store.templates import Template

TEMPLATED = tuple(FIELDS[name] for name in ("tracker", "priority"))
"""The fields with choices that a template fills in."""
MARKS: dict[str, tuple[str, str, tuple[str, str]]] = {
    "markdown": ("### ", "**", ("```", "```")),
    "textile": ("h3. ", "*", ("<pre>", "</pre>")),
}
"""How a format starts a heading, marks bold text, and starts and ends code."""
MAX_DEPTH = 6
_MARKUP = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Part:
    heading: str
    text: str


@dataclass(frozen=True)
class Outline:
    before: str
    parts: tuple[Part, ...] = ()

    def heading(self, heading: str) -> str | None:
        """The outline's own spelling of a heading."""
        parts = self._by_heading.get(key(heading))
        return parts[0].heading if parts else None

    def text(self, heading: str) -> str:
        """The text below a heading, wherever that is repeated; empty without it."""
        parts = self._by_heading.get(key(heading), ())
        return "\n\n".join(part.text for part in parts if part.text)

    @cached_property
    def _by_heading(self) -> Mapping[str, list[Part]]:
        parts: dict[str, list[Part]] = {}
        for part in self.parts:
            parts.setdefault(key(part.heading), []).append(part)
        return parts


def key(text: str) -> str:
    """Return the letters and digits of a text, to compare it regardless of case and markup."""
    return _MARKUP.sub("", text.casefold())


def read(text: str, text_format: str, only: Outline | None = None) -> Outline:
    """The outline of a description in the service's format.

    With `only`, it has just the headings of that outline, and a line such as `Expected result:` is one, too.
    """
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line, heading in _lines(text.replace("\r\n", "\n"), text_format, colons=only is not None):
        meant = only.heading(heading) if only and heading else heading
        if meant:
            sections.append((meant, []))
        else:
            sections[-1][1].append(line)
    (_, before), *parts = ((heading, "\n".join(lines).strip()) for heading, lines in sections)
    return Outline(before, tuple(Part(*part) for part in parts))


def written(outline: Outline, text_format: str) -> str:
    """The description with that outline."""
    start = MARKS[text_format][0]
    parts = chain.from_iterable((start + part.heading, part.text) for part in outline.parts)
    return "\n\n".join(filter(None, (outline.before, *parts)))


def _lines(text: str, text_format: str, *, colons: bool) -> Iterator[tuple[str, str]]:
    """The lines, each with the heading that it is or an empty text; `colons` start a part, too."""
    _, bold, (opens, closes) = MARKS[text_format]
    in_code = False
    for line in text.split("\n"):
        bare = line.strip().rstrip("\\")
        if in_code or bare.startswith(opens):
            in_code = closes not in (bare if in_code else bare.removeprefix(opens))
            yield line, ""
        else:
            plain = bare if colons and bare.endswith(":") else ""
            yield line, _heading(bare, text_format) or _all_bold(bare, bold) or plain


def _heading(line: str, text_format: str) -> str:
    if text_format == "textile":
        mark, _, heading = line.partition(" ")
        return heading.strip() if len(mark) == len("h1.") and mark[0] == "h" and mark[1].isdigit() else ""
    heading = line.lstrip("#")
    level = len(line) - len(heading)
    return heading.strip().rstrip("#").strip() if 0 < level <= MAX_DEPTH and heading[:1] == " " else ""


def _all_bold(line: str, bold: str) -> str:
    inner = line.removesuffix(":").removeprefix(bold).removesuffix(bold)
    marked = line.removesuffix(":") == f"{bold}{inner}{bold}" and not inner.startswith((" ", "*"))
    return inner.strip().removesuffix(":") if marked and bold not in inner else ""


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


def with_headings(draft: Draft, template: Template, text_format: str) -> Draft:
    """The draft with the template's headings as headings again: Slack's editor makes them bold text."""
    return draft.described(written(_outlines(draft, template, text_format)[1], text_format))


def own_subject(subject: str, template: Template) -> str:
    """The subject without the template's prefix, which ends at a word's end: `Bug` isn't one of `Bugs`."""
    prefix = template.content.prefix
    match = re.match(rf"{re.escape(prefix)}(?!(?<=\w)\w)", subject, re.IGNORECASE) if prefix else None
    return subject[match.end() :].strip() if match else subject


def _outlines(draft: Draft, template: Template, text_format: str) -> tuple[Outline, Outline]:
    """The template's description, and the draft's with the same headings."""
    skeleton = read(template.content.description, text_format)
    return skeleton, read(draft.description, text_format, skeleton)
