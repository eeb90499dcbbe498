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
            return "`query:` takes a saved query's number, the one in its address: write `query:7`."
        case TooManySorts():
            return f"`sort:` takes {MOST_SORTS} fields at most: write `sort:priority:desc,updated`."
        case SortedTwice():
            return "`sort:` names a field twice: leave one of them."
        case UnknownSortOrder():
            return "A field is sorted up or down: write `sort:updated:desc`."
        case UnknownSortField(field=field, nearest=None):
            known = ", ".join(f"`{name}`" for name in SORTS)
            return f"Issues can't be sorted by “{field[:40]}”: it is one of {known}."
        case UnknownSortField(field=field, nearest=nearest):
            return f"Issues can't be sorted by “{field[:40]}”: did you mean `sort:{nearest}`?"
        case SearchTooLong():
            return "That search is too long: leave out a filter or two."
        case SavedQueryNotAlone():
            return "A saved query takes only `project:` and `sort:` beside it: leave out the other filters."
        case ProjectNeeded(option="category"):
            return "A category belongs to a project: add `project:` with its name."
        case ProjectNeeded():
            return "Say whose subprojects you mean: add `project:` with its name."
        case NotASubproject(name=name, project=project):
            return f"{name} isn't a subproject of {project}: search there by `project:`."
        case InvalidFilters(reason=reason):
            return f"That search can't be made: {reason}."
    return None
