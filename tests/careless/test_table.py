"""Every row's line and test are still there, so that those who move one learn of it at once."""

from tests.careless.table import changes


def test_each_careless_change_finds_its_line_and_test() -> None:
    assert {change.name: problem for change in changes() if (problem := change.problem())} == {}
