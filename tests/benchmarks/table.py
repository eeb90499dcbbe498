"""The table: one row per figure, with both sides and their ratio."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure of the bot's and, if there is one, the other side's.

    `most` or `least` is the target: a bound on the ratio or, without another side, on the bot's own figure.
    """

    what: str
    ours: float
    theirs: float | None
    unit: str
    most: float | None = None
    least: float | None = None
    inverse: bool = False

    @property
    def ratio(self) -> float | None:
        """Returns the bot's figure divided by the other side's, or with `inverse` the other way around."""
        if self.theirs is None:
            return None
        return self.theirs / self.ours if self.inverse else self.ours / self.theirs

    @property
    def reached(self) -> bool:
        """Returns whether the figure meets its target."""
        figure = self.ours if self.ratio is None else self.ratio
        return (self.most is None or figure <= self.most) and (self.least is None or figure >= self.least)

    def cells(self) -> tuple[str, ...]:
        """Returns the row's texts."""
        theirs = "" if self.theirs is None else f"{self.theirs:.{self._digits}f} {self.unit}"
        aim = f"≤ {self.most:g}" if self.most is not None else f"≥ {self.least:g}" if self.least else ""
        verdict = "" if not aim else "reached" if self.reached else "missed"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return (self.what, f"{self.ours:.{self._digits}f} {self.unit}", theirs, ratio, aim, verdict)

    @property
    def _digits(self) -> int:
        return 0 if self.unit in ("requests", "rounds") else 2 if self.unit == "s" else 1


def printed(rows: Sequence[Row]) -> str:
    """Returns the whole table as text."""
    lines = [
        ("", "the bot", "the other", "ratio", "aim", ""),
        *(row.cells() for row in rows),
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "".join(
        "  ".join(
            cell.ljust(width) if column in (0, 4, 5) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        + "\n"
        for line in lines
    )


def share(figures: Sequence[float], part: float) -> float:
    """Returns the percentile of the figures, with `part` between 0 and 1."""
    return sorted(figures)[max(0, math.ceil(part * len(figures)) - 1)]
