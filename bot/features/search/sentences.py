"""What the user sees when a search can't be read or made."""

from bot.errors import BotError
from bot.features.search.commands import (
    MOST_SORTS,
    SORTS,
    NotAQueryNumber,
    SortedTwice,
    TooManySorts,
    UnknownSortField,
    UnknownSortOrder,
)
from bot.features.search.search import InvalidFilters, NotASubproject, ProjectNeeded, SavedQueryNotAlone
from bot.features.search.views import SearchTooLong
from bot.slack.wording import Wording


def sentence(error: BotError, _: Wording) -> str | None:
    """The sentence for an error of this feature; None for any other error."""
    match error:
        case NotAQueryNumber():
            return "`query:` takes a saved query's number, such as `query:7`. Find it in the query's URL."
        case TooManySorts():
            return f"`sort:` takes at most {MOST_SORTS} fields, such as `sort:priority,updated`."
        case SortedTwice():
            return "`sort:` names a field twice. Remove one of them."
        case UnknownSortOrder():
            return "Sort with `asc` or `desc`, such as `sort:updated:desc`."
        case UnknownSortField(field=field, nearest=None):
            known = ", ".join(f"`{name}`" for name in SORTS)
            return f"Issues can't be sorted by “{field[:40]}”. Try {known}."
        case UnknownSortField(field=field, nearest=nearest):
            return f"Issues can't be sorted by “{field[:40]}”. Did you mean `sort:{nearest}`?"
        case SearchTooLong():
            return "That search is too long. Remove a filter or two."
        case SavedQueryNotAlone():
            return "A saved query can only be combined with `project:` and `sort:`. Remove the other filters."
        case ProjectNeeded(option="category"):
            return "Every project has its own categories. Add `project:` with the project's name."
        case ProjectNeeded():
            return "Add `project:` with the parent project's name."
        case NotASubproject(name=name, project=project):
            return f'{name} isn\'t a subproject of {project}. To search it, use `project:"{name}"`.'
        case InvalidFilters(reason=reason):
            return f"I can't search for that: {reason}."
    return None
