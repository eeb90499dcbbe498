"""Text in any script, and in none, comes back as it was written, on both services."""

import re
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.errors import Refused
from bot.service.client import Client
from bot.service.filters import IssueFilters
from bot.service.inputs import NewIssue, UploadInput
from tests.contract.raw import person, project, time
from tests.contract.world import World

CHOSEN = [
    "naïve café",
    "nai\u0308ve cafe\u0301",
    "日本語の件名",
    "שלום עולם",
    "مرحبا \u202bבעברית\u202c end",
    "\u202eevil\u2066txt\u2069",
    "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ 1️⃣",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 \U0010fffd",
    "Z̸̢̧̛a̴̡͠l̶͝g̵o̷",
    "ﷺ ﷽",
    "a\u00a0b\u2003c\u200bd\ufeffe",
    "I\u0307stanbul ıI ß ẞ ﬁ",
    "<script>&amp;&#x27;\"'`</script>",
    "%s %00 %F0 \\u0041 ${x} #{x} {{x}}",
    "<!channel> <@U0ANA0001> *b* _i_ ~s~",
    "𒐫" * 60,
]
"""Composed and decomposed, right to left, joined, astral, stacked, invisible, quoted."""
ANYTHING = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
"""Includes control characters and noncharacters, but no lone surrogates: JSON can't carry them."""


async def content(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def written(client: Client, world: World, text: str) -> int:
    """Writes the text wherever an issue, a file or a time entry has one; returns the issue's number."""
    key = world.key("ana")
    upload = await client.upload_file(key, content(text), filename=f"{text}.txt")
    new_issue = NewIssue(
        project_id=world.project("lab"),
        subject=text,
        description=text,
        uploads=(UploadInput(token=upload.token, filename=f"{text}.txt", description=text),),
    )
    made = await client.create_issue(key, new_issue)
    entry = await client.create_time_entry(key, time(world, issue_id=world.issues["child"], comments=text))

    assert (made.subject, entry.comments) == (text, text)
    return made.id


def stored(name: str) -> str:
    """Returns the name under which a file is stored, computed without the bot's own rule."""
    name = name.rsplit("/", 1)[-1].rsplit("\\", 1)[-1]
    kept = "".join("_" if character in "/?%*:|\"'<>" else character for character in name)
    while "__" in kept and "__" not in name:
        kept = kept.replace("__", "_")
    return kept


async def test_text_comes_back_unchanged(client: Client, world: World) -> None:
    numbers = {text: await written(client, world, text) for text in world.some(CHOSEN)}

    filters = IssueFilters(issue_ids=tuple(numbers.values()), include=frozenset({"attachments"}))
    read = {issue.id: issue for issue in (await client.list_issues(world.key("ana"), filters)).items}
    for text, number in numbers.items():
        [file] = read[number].attachments
        assert (read[number].subject, read[number].description) == (text, text)
        assert (file.filename, file.description) == (stored(f"{text}.txt"), text)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=ANYTHING)
@example("\x00\x07\x1b[31m\x7f")
@example("\r\n\t\u2028\u2029\x85\x0b\x0c")
@example("\ufffe\uffff\U0010ffff\ufeff")
@example(" \u00a0\u3000 ")
@example("\x1f")
async def test_any_text_comes_back_or_is_rejected_as_blank(client: Client, world: World, text: str) -> None:
    new_issue = NewIssue(project_id=world.project("lab"), subject=text, description=text)
    if re.fullmatch(r"[^\S\x1c-\x1f]*", text):
        with pytest.raises(Refused, match="422"):
            await client.create_issue(world.key("ana"), new_issue)
        return
    made = await client.create_issue(world.key("ana"), new_issue)
    [read] = (await client.list_issues(world.key("ana"), IssueFilters(issue_ids=(made.id,)))).items
    assert (made.subject, read.subject) == (text, text)
    assert read.description == "\r\n".join(re.split("\r\n|\r|\n", text))


async def test_user_and_project_names_work_in_any_script(client: Client, world: World) -> None:
    for text in world.some(CHOSEN):
        key = world.key("chris")
        user = await client.create_user(key, person(name=text[:30]))
        made = await client.create_project(key, project(text, description=text))

        user, made = await client.get_user(key, user.id), await client.get_project(key, made.id)
        assert (user.firstname, user.lastname) == (text[:30], text[:30])
        assert (made.name, made.description) == (text, text)


async def test_length_is_counted_in_characters(client: Client, world: World) -> None:
    for letter, most in (("🙂", 255), ("e\u0301", 127)):
        new_issue = NewIssue(project_id=world.project("lab"), subject=letter * most)

        assert (await client.create_issue(world.key("ana"), new_issue)).subject == new_issue.subject
        with pytest.raises(Refused) as caught:
            await client.create_issue(
                world.key("ana"), new_issue.model_copy(update={"subject": letter * (most + 1)})
            )
        assert caught.value.errors == ("Subject is too long (maximum is 255 characters)",)
