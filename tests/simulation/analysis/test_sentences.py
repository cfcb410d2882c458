"""Steps and mistakes of all subjects are texts that the course may replace, and all steps are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.model.messages import TABLES, text_of
from grader.simulation.analysis.subjects import SUBJECTS, parameters, study

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.model import Clause

SIZES = {"M": 55, "K": 48, "N": 43}
DEVICE = {"threads": 250, "registers": 40, "shared_bytes": 4096}
OWN = {"sm": 0, "max_threads": 1536, "max_blocks": 8, "max_registers": 32768, "max_shared_bytes": 16384}
GIVEN: tuple[tuple[str, dict[str, int]], ...] = (
    *(("matmul", SIZES | {"tile": tile}) for tile in (16, 32, 33, 64)),
    ("launch", {"x": 100, "y": 7, "block_x": 32, "block_y": 8, "reads": 2, "writes": 1, "work": 3}),
    ("occupancy", DEVICE | {"sm": 80}),
    ("occupancy", {"sm": 80, "threads": 250}),
    ("occupancy", {"sm": 80, "threads": 2048}),
    ("occupancy", DEVICE | OWN),
    ("occupancy", OWN | {"threads": 64}),
)


def all_sentences(name: str, numbers: Mapping[str, int]) -> Iterator[Clause]:
    """The steps of all quantities of a subject, and what can be done wrong in it."""
    subject = SUBJECTS[name]
    for quantity in subject.quantities:
        yield from study(subject, numbers, quantity).steps
    for wrong in subject.misconceptions(subject.situation(parameters(subject, numbers))):
        yield wrong.slip


@pytest.mark.parametrize(("name", "numbers"), GIVEN)
def test_a_step_is_a_sentence_with_all_of_its_numbers(name: str, numbers: dict[str, int]) -> None:
    """Of the course's texts; none of its fields is left open."""
    for part in all_sentences(name, numbers):
        assert part.name in TABLES["worked-answers"]
        assert "{" not in text_of(part.name, **dict(part.values))


def test_no_step_is_idle() -> None:
    """Each text of a step is used by some subject."""
    named = {part.name for name, numbers in GIVEN for part in all_sentences(name, numbers)}
    assert named >= {name for name in TABLES["worked-answers"] if name.startswith("step-")}
