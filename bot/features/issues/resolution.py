"""Looks up the names in a draft."""

from collections.abc import Mapping

from bot.errors import UserError, WrongField
from bot.features.accounts.accounts import Session
from bot.features.issues.errors import ValueGone
from bot.features.issues.fields import FIELDS, Draft, Kind, Meant
from bot.features.name_matching import TOLD, Names, probable
from bot.features.projects.catalog import Catalog
from bot.features.projects.projects import KnownProject
from bot.features.users.people import People
from bot.option_keys import is_key
from bot.service.inputs import CustomFieldInput, NewIssue
from bot.service.models import Ref


async def resolved(
    draft: Draft, people: People, session: Session, catalog: Catalog
) -> tuple[dict[str, Meant], list[WrongField]]:
    """The draft's values by option key, and an error for each unknown or ambiguous name.

    A misspelled name has the value that it probably means; other such names have none. Of a list, the first
    `TOLD` such names are told.
    """
    found: dict[str, Meant] = {}
    errors: list[WrongField] = []
    parts = draft.parts
    for key, value in draft.values.items():
        field = FIELDS[key]
        if field.choices is None:
            found[key] = value
            continue
        refs, wrong = [], 0
        looked_up = field.known(catalog) if field.choices in parts else ()
        known = Names("person" if field.kind is not Kind.CHOICE else field.name, looked_up)
        for name in value if field.kind is Kind.PEOPLE else (value,):
            try:
                if field.kind is Kind.CHOICE:
                    refs.append(known.pick(name))
                elif field.kind is Kind.PERSON:
                    refs.append(await people.assignee(session, name, known, catalog.project_id))
                else:
                    refs.append(await people.find(session, name, known))
            except UserError as error:
                wrong += 1
                if wrong <= TOLD:
                    errors.append(WrongField(field.name, error))
                    refs += filter(None, [probable(error)])
        if refs:
            found[key] = tuple(refs) if field.kind is Kind.PEOPLE else refs[0]
    return found, errors


def request(draft: Draft, meant: Mapping[str, Meant], project: KnownProject, catalog: Catalog) -> NewIssue:
    """The request that creates the issue, with the fields that have a value."""
    fields: dict[str, object] = {FIELDS[key].sent: sent(value) for key, value in meant.items()}
    if draft.custom_fields:
        fields["custom_fields"] = custom_inputs(draft, catalog)
    return NewIssue.model_validate({"project_id": project.id, "subject": draft.subject.strip(), **fields})


def sent(value: Meant) -> object:
    """A value as a request has it."""
    if isinstance(value, tuple):
        return tuple(ref.id for ref in value)
    return value.id if isinstance(value, Ref) else value


def custom_inputs(draft: Draft, catalog: Catalog) -> tuple[CustomFieldInput, ...]:
    """Custom field values spelled as in the service, which refuses list values in another case.

    Raises WrongField for an option of a list that doesn't have it anymore.
    """
    found = []
    for number, value in draft.custom_fields.items():
        known = catalog.custom_field(number).known
        meant = known(value) if isinstance(value, str) else tuple(map(known, value))
        if any(map(is_key, (meant,) if isinstance(meant, str) else meant)):
            raise WrongField(f"cf_{number}", ValueGone())
        found.append(CustomFieldInput(id=number, value=meant))
    return tuple(found)
