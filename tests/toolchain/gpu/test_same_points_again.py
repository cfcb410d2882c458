"""A class has the same points each time: how that is looked at, and on a GPU that it is so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.bench import gpu_class_again
from tests.bench.gpu import grading
from tests.bench.gpu.grading import ASSIGNMENT, errors

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.gpu.grading import Batch


def grade(score: float, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A grade with two items, the second about speed."""
    items = [{"id": "aligned", "points": score}, {"id": "speedup", "points": 5, "message": "1.2 times"}]
    return {"score": score + 5, "items": items, "seconds": 1.5} | more


def test_what_differs_between_runs_is_a_line_of_the_table() -> None:
    """Other points are reported by their items, all else by its place; seconds are no difference."""
    first = {"a": grade(25), "b": grade(25), "c": grade(25)}
    again = {"a": grade(25, seconds=2.5), "b": grade(0), "c": grade(25, cause={"line": 3})}
    report = gpu_class_again.table([first, again])
    assert "| a |" not in report
    assert "| b | 30, 5 | aligned | items[0].points, score |" in report
    assert "| c | 30, 30 | - | cause |" in report
    assert "1 of 3 are the same in 2 runs; 1 have other points." in report


def test_the_class_begins_with_kernels_that_race() -> None:
    """And is as large as it is asked to be."""
    names = list(gpu_class_again.sources(60))
    assert len(names) == 60
    assert names[0] == "no_first_barrier.cu"
    assert len(gpu_class_again.sources(150)) == 150


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> list[Batch]:
    """Kernels that race or read unset memory, three times on the GPU and once on the emulator."""
    folder: Path = tmp_path_factory.mktemp("again")
    given = grading.put(folder / "given", gpu_class_again.sources(12))
    backends = ("gpu", "gpu", "gpu", "emulator")
    return [
        grading.grade(ASSIGNMENT, given, folder / f"out-{number}", backend=name, cache=folder / f"c-{number}")
        for number, name in enumerate(backends)
    ]


UNDEFINED = (
    "no_first_barrier",
    "no_barriers",
    "no_second_barrier",
    "second_barrier_after_loop",
    "uninitialised_sum",
)
"""Kernels whose outputs a race, or a value that no thread set, leaves undefined."""


@pytest.mark.gpu
@pytest.mark.timeout(900)
def test_a_class_has_the_same_points_each_time(batches: list[Batch]) -> None:
    """Kernels that race, read what no thread set, or read beyond their arrays; the item about speed apart."""
    first, *others, _ = (
        {name: _without_speed(grade) for name, grade in batch.grades.items()} for batch in batches
    )
    assert others == [first, first]
    assert [error for batch in batches for grade in batch.grades.values() for error in errors(grade)] == []


@pytest.mark.gpu
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", UNDEFINED)
def test_an_undefined_output_has_the_points_of_a_self_check(name: str, batches: list[Batch]) -> None:
    """A race costs its own item on a GPU, as it does on the emulator."""
    on_gpu, emulated = batches[0].grades, batches[-1].grades
    (key,) = (key for key in emulated if key.removesuffix(".cu") == name)
    assert _without_speed(on_gpu[key]) == _without_speed(emulated[key])


def _without_speed(grade: dict[str, Any]) -> dict[str, float]:
    return {
        name: of_item
        for name, of_item in gpu_class_again.points(grade).items()
        if name != gpu_class_again.SPEEDUP
    }
