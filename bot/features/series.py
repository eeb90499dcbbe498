"""Lists of names in a sentence."""

from collections.abc import Sequence

_COMMAS = 3
"""How many names take commas."""


def series(names: Sequence[str], conjunction: str = "or") -> str:
    """`A`, `A or B`, `A, B, or C`."""
    if len(names) < _COMMAS:
        return f" {conjunction} ".join(names)
    return f"{', '.join(names[:-1])}, {conjunction} {names[-1]}"
