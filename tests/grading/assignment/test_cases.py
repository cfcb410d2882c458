"""From case plans to cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.grading.assignment import expand_cases, load_assignment
from tests.grading.assignment.conftest import SOUND

if TYPE_CHECKING:
    from tests.grading.assignment.conftest import Write


def test_cases_have_concrete_shapes_in_the_order_of_the_file(write: Write) -> None:
    """A fixed case is itself; a random plan is as many cases as it draws, numbered from 1."""
    cases = expand_cases(load_assignment(write()), seed=1)
    assert [case.id for case in cases] == ["whole", "odd", "random-1", "random-2"]
    assert [case.shape for case in cases[:2]] == [(("N", 256),), (("N", 55),)]
    assert all(1 <= dict(case.shape)["N"] <= 80 for case in cases[2:])
    assert [case.tags for case in cases[1:3]] == [("non-aligned",), ("non-aligned", "random")]


def test_the_same_seed_gives_the_same_cases_everywhere(write: Write) -> None:
    """These figures hold on every machine and with every version of every library."""
    cases = expand_cases(load_assignment(write()), seed=2024)
    assert [(case.id, dict(case.shape)["N"], case.seed) for case in cases] == [
        ("whole", 256, 2387098592990160795),
        ("odd", 55, 3266750752408743570),
        ("random-1", 63, 7011290017134658154),
        ("random-2", 20, 2762359152664280497),
    ]


def test_another_seed_gives_other_inputs_and_other_random_shapes(write: Write) -> None:
    """A secret seed is worth something: nothing random stays as it was."""
    assignment = load_assignment(write(SOUND.replace("random: 2", "random: 20")))
    one, two = (expand_cases(assignment, seed) for seed in (1, 2))
    assert {case.seed for case in one}.isdisjoint(case.seed for case in two)
    assert [case.shape for case in one] != [case.shape for case in two]


def test_every_case_has_a_seed_of_its_own(write: Write) -> None:
    """Two cases of one shape do not get the same inputs."""
    cases = expand_cases(load_assignment(write(SOUND.replace("random: 2", "random: 50"))), seed=0)
    assert len({case.seed for case in cases}) == len(cases) == 52
    assert all(0 <= case.seed < 2**63 for case in cases)


def test_a_range_is_drawn_from_end_to_end(write: Write) -> None:
    """Both ends of a range can come up."""
    text = SOUND.replace("random: 2, shape: {N: 1..80}", "random: 60, shape: {N: 7..9}")
    drawn = [dict(case.shape)["N"] for case in expand_cases(load_assignment(write(text)), seed=3)[2:]]
    assert set(drawn) == {7, 8, 9}


def test_a_draw_does_not_depend_on_what_else_is_in_the_file(write: Write) -> None:
    """Adding a case or a dimension leaves the other random shapes as they were."""
    before = expand_cases(load_assignment(write()), seed=5)
    text = SOUND.replace("  - {id: odd", "  - {id: another, shape: {N: 3}}\n  - {id: odd")
    after = expand_cases(load_assignment(write(text)), seed=5)
    assert [case for case in after if case.id != "another"] == list(before)
