"""Repairs that were tried: made at the place in the source that they name, they have the stated effect."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from grader.model import Argument, Launch, Severity
from grader.simulation.emulator.launch import Kernel
from grader.simulation.emulator.repair import WORK, RepairCase, RepairSearch, between_warps, fitting, key
from grader.simulation.emulator.statement_gaps import Source
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Run
    from grader.simulation.emulator.repair import Key
    from grader.simulation.ptx import Module

TEXT = (Path(__file__).parent / "repairs.cu").read_text()
LINES = TEXT.split("\n")
FILE = "repairs.cu"
LAUNCH = Launch((2, 1, 1), (64, 1, 1))
NAMES = re.findall(r"__global__ void (\w+)", TEXT)
REPAIRED = [name for name in NAMES if not name.startswith(("silent_", "right_"))]


class Marks(NamedTuple):
    """The lines of a kernel that are marked: where a barrier belongs, and which is spare."""

    here: int
    spare: int


def marks(name: str) -> Marks:
    """The marks of a kernel; 0 where there is none."""
    first = next(at for at, line in enumerate(LINES, 1) if f"void {name}(" in line)
    last = next(at for at, line in enumerate(LINES, 1) if at > first and line == "}")
    marked = {LINES[at - 1].rpartition("// ")[2]: at for at in range(first, last) if "// " in LINES[at - 1]}
    return Marks(marked.get("here", 0), marked.get("spare", 0))


@cache
def module() -> Module:
    """All kernels in the build for hazards."""
    return nvcc.compile_one(TEXT, name=FILE)


def arguments(name: str) -> tuple[Argument, ...]:
    """Two arrays, of whole numbers where the kernel takes such."""
    dtype = "int32" if name == "silent_lost_update" else "float32"
    numbers = np.arange(128).astype(dtype)
    return (Argument("in", "in", numbers), Argument("out", "inout", np.zeros(128, dtype)))


def run(kernels: Module, name: str, steps: int = WORK) -> Run:
    """One launch with detection."""
    kernel = Kernel(kernels, name, FILE, FILE)
    return kernel.run(LAUNCH, arguments(name), detect=True, steps=steps)


def workshop(name: str) -> RepairSearch:
    """A kernel with one case to try repairs on."""
    found = run(module(), name)
    trial = RepairCase(LAUNCH, arguments(name), found.findings, found.steps)
    source = Source(module(), FILE, LINES)
    return RepairSearch(module(), name, source, [trial], lambda new, _, steps: run(new, name, steps))


@cache
def repairs(name: str) -> Mapping[Key, str]:
    """The repair of each finding."""
    return workshop(name).repairs()


def place(repair: str) -> int:
    """The line that a repair puts a barrier before."""
    between = re.search(r"between lines \d+ and (\d+)", repair)
    if between:
        return int(between[1])
    end = re.search(r"before the `}` on line (\d+)", repair)
    assert end
    return int(end[1])


@pytest.mark.parametrize("name", REPAIRED)
def test_a_repair_names_the_place_that_a_teacher_would(name: str) -> None:
    """Before the marked line, with the spare barrier moved there if one stands about."""
    expected = marks(name)
    proposed = set(repairs(name).values())
    assert len(proposed) == 1
    (repair,) = proposed
    assert place(repair) == expected.here, repair
    if expected.spare:
        assert repair.startswith(f"move the `__syncthreads()` of line {expected.spare} "), repair
    else:
        barrier = "__syncwarp" if name.startswith("warp_") else "__syncthreads"
        assert repair.startswith(f"add `{barrier}()` "), repair


@pytest.fixture(scope="module")
def followed() -> Module:
    """The same file with every repair made in the source."""
    lines = list(LINES)
    for name in REPAIRED:
        (repair,) = set(repairs(name).values())
        spare = marks(name).spare
        if spare:
            lines[spare - 1] = ""
        barrier = "__syncwarp();" if "__syncwarp" in repair else "__syncthreads();"
        lines[place(repair) - 1] = f"{barrier} {lines[place(repair) - 1]}"
    return nvcc.compile_one("\n".join(lines), name=FILE)


@pytest.mark.parametrize("name", REPAIRED)
def test_a_kernel_that_follows_its_repair_is_right(followed: Module, name: str) -> None:
    """A repair that was tried in the PTX holds for the source: nothing is found any more."""
    before, after = run(module(), name), run(followed, name)
    assert before.findings
    assert after.findings == ()


@pytest.mark.parametrize("name", REPAIRED)
def test_every_finding_of_a_repaired_kernel_has_its_repair(name: str) -> None:
    """Also the second of two races that one barrier ends."""
    assert {key(finding) for finding in run(module(), name).findings} == set(repairs(name))


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("silent_")])
def test_no_repair_is_given_where_no_barrier_in_one_place_helps(name: str) -> None:
    """Lost updates, races between blocks, two writers, threads that have gone."""
    assert run(module(), name).findings
    assert repairs(name) == {}


def test_the_words_name_a_loop_that_lies_between() -> None:
    """Behind the inner loop, not in it."""
    (repair,) = set(repairs("end_of_turn").values())
    loop = next(at for at, line in enumerate(LINES, 1) if "turn < 3" in line)
    assert repair == (
        f"add `__syncthreads()` at the end of the loop that begins on line {loop}, before the `}}` on line"
        f" {loop + 5}: tried, and the race is gone"
    )


def test_no_repair_is_given_when_the_budget_is_spent() -> None:
    """A repair that was not tried to the end is none; the steps are counted, so everywhere alike."""
    shop = workshop("forward")
    shop.left = 100
    assert shop.repairs() == {}
    assert shop.left == 100


def test_a_repair_must_hold_in_every_trial() -> None:
    """A place is no good where another case finds something new."""
    shop = workshop("forward")
    other = RepairCase(LAUNCH, (), (), 50)
    shop.trials = [*shop.trials, other]
    shop.run = lambda new, trial, steps: run(module() if trial is other else new, "forward", steps)
    assert shop.repairs() == {}
    assert shop.left < WORK


def test_trials_are_the_smallest_and_all_that_show_something_new() -> None:
    """A case that would take too long is left out, unless it alone shows a hazard."""
    races = run(module(), "forward").findings
    small, large, huge = (RepairCase(LAUNCH, (), (), steps) for steps in (100, WORK, WORK * 2))
    showing = RepairCase(LAUNCH, (), races, WORK // 6)
    again = RepairCase(LAUNCH, (), races, WORK // 6 + 1)
    assert fitting([huge, again, showing, large, small]) == [showing]
    assert fitting([large, small]) == [small]


def test_many_lanes_make_a_trial_more_work() -> None:
    """Twice for 4096 lanes, five times for a full chunk, never more."""
    works = [
        RepairCase(Launch((blocks, 1, 1), (64, 1, 1)), (), (), 100).work() for blocks in (1, 64, 256, 4096)
    ]
    assert works == [101, 200, 500, 500]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("right_")])
def test_a_barrier_is_called_unneeded_only_where_nothing_changes_without_it(name: str) -> None:
    """The spare one, of two in a row only one, and never one that orders what threads share."""
    spare = marks(name).spare
    assert run(module(), name).findings == ()
    shop = workshop(name)
    shop.repeated = range(len(LINES))
    assert shop.unneeded() == [spare] * bool(spare)


def test_a_barrier_in_a_loop_is_not_judged_by_a_single_turn() -> None:
    """It orders one turn and the next, so that two turns are needed to judge it."""
    assert workshop("right_with_a_spare_in_the_loop").unneeded() == []
    assert workshop("right_with_one_at_the_end").unneeded() == [marks("right_with_one_at_the_end").spare]


def test_a_barrier_is_taken_away_only_if_a_thorough_case_agrees() -> None:
    """Small cases may have too few turns to need it."""
    shop = workshop("right_with_one_at_the_end")
    shop.thorough = (RepairCase(LAUNCH, arguments("forward"), (), 50),)
    shop.run = lambda new, trial, steps: run(
        new, "forward" if trial in shop.thorough else "right_with_one_at_the_end", steps
    )
    assert shop.unneeded() == []


def test_without_a_barrier_the_largest_case_runs_first() -> None:
    """There loops go round, so that a barrier that is needed shows after one launch."""
    shop, ran = workshop("right_with_one_at_the_end"), list[RepairCase]()
    small, large = (RepairCase(LAUNCH, arguments("forward"), (), steps) for steps in (50, 60))
    shop.trials = [small, large]

    def races(new: Module, trial: RepairCase, steps: int) -> Run:
        ran.append(trial)
        return run(new, "forward", steps)

    shop.run = races
    assert shop.unneeded() == []
    assert small not in ran
    assert large in ran


def test_no_barrier_is_called_unneeded_in_a_kernel_with_findings() -> None:
    """First the race, then the rest."""
    assert workshop("spare_after_loop").unneeded() == []


def test_an_order_of_two_stores_is_no_repair_where_the_output_stays_wrong() -> None:
    """It would end the race and leave the mistake: one of the two should not store there."""
    stores = workshop("stores_in_order")
    assert any(hazard == "WAW" for _, hazard, _, _ in stores.trials[0].keys)
    stores.is_right = lambda *_: False
    assert not stores.repairs()


def test_a_barrier_of_a_warp_is_no_repair_where_a_case_that_is_no_trial_races_between_warps() -> None:
    """Small cases may show inside one warp what goes on between warps in those too large to be tried."""
    shop = workshop("warp_reverse")
    small = shop.trials[0]
    of_block = tuple(replace(finding, severity=Severity.ERROR) for finding in small.findings)
    shop.between_warps = between_warps([small, replace(small, findings=of_block)])
    assert {repair.split()[1] for repair in shop.repairs().values()} == {"`__syncthreads()`"}
