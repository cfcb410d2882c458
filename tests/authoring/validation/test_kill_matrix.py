"""The kill matrix: what catches what, which case is spare, which is of no use."""

from __future__ import annotations

from grader.authoring.validation.judgement import case_uses, columns
from tests.authoring.validation.sample_outcomes import mistake, mutant, outcome


def test_a_mistake_is_a_column_for_each_item_that_it_must_lose() -> None:
    """Other items that it loses are no column; a mutant is one column, whatever it loses."""
    lost = outcome("m.cu", "right", "memory", cases=("a", "b"))
    found = columns(
        [(mistake("m.cu", "memory"), lost)],
        [(mutant("x-1"), outcome("x-1", "right", "memory", cases=("b",)))],
    )
    assert found == {"m.cu (memory)": {"a", "b"}, "x-1": {"b"}}


def test_what_fails_in_no_case_has_no_column() -> None:
    """A file that does not compile gives no information about the cases."""
    assert columns([(mistake("m.cu", "compiles"), outcome("m.cu", "compiles", cases=()))], []) == {}


def test_a_case_that_alone_catches_something_is_never_spare() -> None:
    """Without it a mutant would live."""
    both, one = frozenset({"a", "b"}), frozenset({"b"})
    uses = {use.case: use for use in case_uses(["a", "b", "c"], {"x": both, "y": one})}
    assert (uses["b"].caught, uses["b"].alone, uses["b"].spare) == (2, ("y",), False)
    assert (uses["a"].caught, uses["a"].alone, uses["a"].spare) == (1, (), True)
    assert (uses["c"].caught, uses["c"].spare) == (0, True)


def test_of_two_equal_cases_one_is_kept() -> None:
    """Each could go, but not both."""
    uses = case_uses(["a", "b"], {"x": frozenset({"a", "b"})})
    assert [use.spare for use in uses] == [False, True]


def test_three_cases_that_cover_each_other_in_part_leave_two() -> None:
    """The greedy choice takes the largest first."""
    pairs = {"x": {"a"}, "y": {"a", "b"}, "z": {"b", "c"}, "w": {"c"}}
    uses = case_uses(["a", "b", "c"], {name: frozenset(by) for name, by in pairs.items()})
    assert [use.case for use in uses if not use.spare] == ["a", "c"]
