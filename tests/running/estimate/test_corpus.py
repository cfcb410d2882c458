"""The kernels whose times are measured and estimated match their descriptions, and compute what they must."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from grader.model import Argument, Launch
from grader.model.work import MOST_IN_BLOCK, MOST_IN_GRID, MOST_THREADS
from grader.simulation.emulator.launch import Kernel as Linked
from tests.bench.estimate import inputs, references
from tests.bench.estimate import measured as measured_times
from tests.bench.estimate.__main__ import ROUNDS
from tests.bench.estimate.corpus import CALIBRATION, CORPUS, PARTS, ROOT, Array, value_of
from tests.bench.estimate.cubins import entry_in
from tests.bench.estimate.heldout import HELD_OUT, HELD_OUT_FOLDER
from tests.bench.estimate.heldout2.kernels import HELD_OUT_2, HELD_OUT_2_FOLDER
from tests.bench.estimate.measure import FEWEST, Timer
from tests.bench.estimate.records import FOLDER
from tests.running.estimate.small_shapes import SMALL
from tests.simulation.emulator.nvcc import compile_all, entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.simulation.ptx import Module
    from tests.bench.estimate.records import Kernel, Shape

ALL = (*CORPUS, *CALIBRATION, *HELD_OUT, *HELD_OUT_2)
FAMILIES = {name: tuple(group) for name, group in groupby(ALL, lambda kernel: kernel.family)}

RACES = {"calibration_vector-add_steps_of_one_block"}
"""Several blocks store the same sums: right, but a race all the same."""


def test_each_kernel_has_a_name_and_a_file_of_the_corpus_a_kernel() -> None:
    """No name is there twice, no file is missing, and none lies there unused."""
    assert len({kernel.name for kernel in ALL}) == len(ALL)
    assert len(CORPUS) >= 70
    assert all((ROOT / kernel.file).is_file() for kernel in ALL)
    for folder, kernels in ((FOLDER, CORPUS), (HELD_OUT_FOLDER, HELD_OUT), (HELD_OUT_2_FOLDER, HELD_OUT_2)):
        files = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob("*.cu")}
        assert files == {kernel.file for kernel in kernels}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_a_naive_kernel_and_launches_that_cuda_allows(family: str) -> None:
    """Of three shapes or more each."""
    kernels = FAMILIES[family]
    assert {kernel.naive for kernel in kernels} == {kernels[0].name}
    for kernel in kernels:
        x, y, z = kernel.block
        assert x * y * z <= MOST_THREADS
        assert all(size <= most for size, most in zip(kernel.block, MOST_IN_BLOCK, strict=True))
        assert len(kernel.shapes) >= 3
        for shape in kernel.shapes:
            assert all(1 <= n <= most for n, most in zip(kernel.grid_of(shape), MOST_IN_GRID, strict=True))
            sizes = [value_of(each.elements, shape) for each in kernel.parameters if isinstance(each, Array)]
            assert min(sizes) > 0


MEASURED = sorted((ROOT / FOLDER).parent.glob("measured-*.txt"))


@pytest.mark.parametrize("file", MEASURED, ids=lambda file: file.stem)
def test_what_was_measured_is_of_these_kernels_and_shapes(file: Path) -> None:
    """A time for each, of a launch whose output was right; on an H200 only some were measured."""
    document = measured_times.read(file)
    parts = [part for part in PARTS if part in document]
    assert parts
    for part in parts:
        measured = {kernel.name: kernel for kernel in PARTS[part] if kernel.name in document[part]}
        assert set(measured) == set(document[part])
        assert len(measured) == len(PARTS[part]) or "h200" in file.name
        for name, kernel in measured.items():
            rows = document[part][name]
            assert [row["shape"] for row in rows] == [dict(shape) for shape in kernel.shapes]
            assert all(row["ms"] > 0 and row["error"] <= _most_error(kernel) for row in rows)


def test_a_measurement_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Whole numbers stay whole, and every digit is kept."""
    numbers = dict.fromkeys(measured_times.NUMBERS, 20) | {
        "ms": 0.0601984,
        "error": 3.2e-07,
        "again_ms": 1e-3,
    }
    parts = {"corpus": {"a": [{"shape": {"M": 256, "K": 64}} | numbers] * 2}, "held-out": {}}
    file = tmp_path / "measured.txt"
    file.write_text(measured_times.written({"device": {"name": "[a] GPU"}}, parts), "utf-8")
    assert repr(measured_times.read(file)) == repr(parts)


@pytest.mark.parametrize("number", ROUNDS)
def test_each_round_of_held_out_kernels_was_measured_on_an_h100(number: int | None) -> None:
    """The parts that the comparison asks for are in the file that it reads."""
    parts, kind = ROUNDS[number]
    document = measured_times.read(ROOT / FOLDER.parent / f"measured-{kind}h100.txt")
    assert all(set(document[part]) == {kernel.name for kernel in PARTS[part]} for part in parts)


def _most_error(kernel: Kernel) -> float:
    """The largest error that an output may have: none where it is of whole numbers."""
    (of,) = (
        each.type for each in kernel.parameters if isinstance(each, Array) and each.name == kernel.output
    )
    return references.TOLERANCE if of.startswith("float") else 0.0


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_are_right_and_have_no_hazards(family: str) -> None:
    """On a small shape, on the emulator."""
    kernels, shape = FAMILIES[family], SMALL[family]
    names = {kernel.file.replace("/", "_"): ROOT / kernel.file for kernel in kernels}
    modules = compile_all({name: path.read_text("utf-8") for name, path in names.items()}, ())
    for kernel in kernels:
        error, findings = _launched(kernel, modules[kernel.file.replace("/", "_")], shape)
        assert error <= _most_error(kernel), kernel.name
        assert kernel.name in RACES or not findings, kernel.name


def _launched(kernel: Kernel, module: Module, shape: Shape) -> tuple[float, int]:
    """Launch a kernel, and return the error of its output and the number of findings."""
    arrays = inputs.arrays_of(kernel, shape)
    arguments = tuple(
        Argument(each.name, "inout" if each.name == kernel.output else "in", arrays[each.name])
        if isinstance(each, Array)
        else Argument(each.name, "value", inputs.number_of(each, shape))
        for each in kernel.parameters
    )
    mangled = f"_Z{len(kernel.entry)}{kernel.entry}"
    (entry,) = (name for name in entries(module) if name == kernel.entry or name.startswith(mangled))
    launch = Launch(kernel.grid_of(shape), kernel.block, kernel.shared)
    run = Linked(module, entry).run(launch, arguments, detect=True)
    right = references.RULES[kernel.rule](arrays, shape)
    return references.error_of(kernel.rule, dict(run.outputs)[kernel.output], right), len(run.findings)


def test_a_wrong_output_is_far_from_what_is_right() -> None:
    """One element of many, and parts of a sum."""
    right = references.RULES["saxpy"](inputs.arrays_of(_named("saxpy_naive"), {"n": 1000}), {"n": 1000})
    output = right.copy()
    assert references.error_of("saxpy", output, right) == 0
    output[7] = 0
    assert references.error_of("saxpy", output, right) > references.TOLERANCE
    arrays = inputs.arrays_of(_named("reduction_atomic"), {"n": 1000})
    total = references.RULES["sum"](arrays, {"n": 1000})
    parts = arrays["in"].reshape(10, 100).sum(axis=1)
    assert references.error_of("sum", parts, total) < references.TOLERANCE
    assert references.error_of("sum", parts[1:], total) > references.TOLERANCE


def _named(name: str) -> Kernel:
    return next(kernel for kernel in ALL if kernel.name == name)


def test_a_kernel_is_known_by_its_name_in_machine_code() -> None:
    """Mangled or not, but not by the beginning of another's."""
    cubin = b"\x00.text._Z5firstPf\x00.text.second\x00.text._Z6first2Pf\x00.rel.text.second\x00"
    assert entry_in(cubin, "first") == "_Z5firstPf"
    assert entry_in(cubin, "second") == "second"
    with pytest.raises(ValueError, match="third"):
        entry_in(cubin, "third")


class _Device:
    """A device on which every launch takes the same time."""

    l2_bytes = 1

    def __init__(self, ms: float) -> None:
        self._ms, self.filled = ms, 0

    def allocate(self, _: int) -> int:
        return 256

    def events(self) -> tuple[int, int]:
        return 1, 2

    def synchronize(self) -> None:
        """Nothing is under way."""

    def fill(self, *_: int) -> None:
        self.filled += 1

    def elapsed_of_ms(self, _start: int, _stop: int, work: Callable[[], object]) -> float:
        work()
        return self._ms


@pytest.mark.parametrize(("ms", "launches"), [(1.0, 20), (100.0, 10), (1000.0, FEWEST)])
def test_slow_kernels_are_launched_less_often_but_some_times_at_least(ms: float, launches: int) -> None:
    """Each time after L2 was overwritten."""
    device = _Device(ms)
    timer = Timer(device)  # type: ignore[arg-type] # no more of a device than a timer asks for
    assert len(timer.times(lambda: None, 20, 1.0, FEWEST)) == launches
    assert device.filled == launches
