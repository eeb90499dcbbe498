"""A line of the benchmarks' table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure of the bot's and, if there is one, the other side's.

    `most` is the target: a bound on the ratio or, without another side, on the bot's own figure.
    """

    what: str
    ours: float
    theirs: float | None
    unit: str
    most: float | None = None

    @property
    def reached(self) -> bool:
        """Returns whether the figure meets its target."""
        return self.most is None or self.ours <= self.most * (self.theirs or 1)

    def __str__(self) -> str:
        theirs, ratio, aim = self.theirs, "", ""
        if theirs is not None:
            ratio = f"{theirs:.2f} {self.unit}  ratio {self.ours / theirs:.2f}"
        if self.most is not None:
            aim = f"aim {self.most:g}: {'reached' if self.reached else 'missed'}"
        return f"{self.what:<66} {f'{self.ours:.2f} {self.unit}':>16} {ratio:>28}  {aim}\n"
