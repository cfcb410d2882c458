"""The experiments on a GPU, without one: variants of files, padded kernels, tables of made-up grades."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.grading.assignment import load_assignment
from grader.model import Submission
from grader.toolchain.nvcc import Tools, build_kernels, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.bench.gpu import grading, load
from tests.bench.gpu.assignments import timing_only
from tests.bench.gpu.grading import MATMUL, put, students
from tests.bench.gpu.options import parse
from tests.bench.gpu.padding import Line, fitted, padded
from tests.bench.gpu.variants import Original, a_class, reference_files, right_files, variant
from tests.builds import shared_builds
from tests.bundled import bundled

# --- submissions --------------------------------------------------------------------------------------


def test_a_class_consists_of_distinct_files_half_of_them_right() -> None:
    """60 of them, and one that never ends."""
    made = a_class(60)
    assert len(made) == len({each.source for each in made.values()}) == 60
    assert 25 <= sum(each.loses == () for each in made.values()) <= 35
    assert sum(each.name == "infinite_loop.cu" for each in made.values()) == 1


def test_a_variant_has_other_names_and_is_otherwise_the_same() -> None:
    """Declared numbers are renamed wherever they stand, members and other words are left alone."""
    source = b"int row = threadIdx.x; float sum = 0.0f;\nrow_of(row); v.sum = sum;\n"
    assert variant(source, 7) == (
        b"int row7 = threadIdx.x; float sum = 0.0f;\nrow_of(row7); v.sum = sum;\n\n// submission 7\n"
    )


@pytest.mark.parametrize(
    "original", [*reference_files()[:2], *right_files()[::17]], ids=lambda each: each.name
)
def test_a_variant_still_builds(original: Original) -> None:
    """A right kernel stays one that the compiler takes."""
    interface = bundled("tiled-matmul").kernel
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    built = build_kernels(tools, Submission("s", "s.cu", variant(original.source, 3), ""), interface)
    assert built.ok, built.findings


def test_a_file_of_several_students_is_one_source_in_folders_of_their_own(tmp_path: Path) -> None:
    """So that the build is shared, and nothing else is."""
    put(tmp_path, students("same", ["a-1", "a-2"]))
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.cu"))
    assert files == ["a-1/matmul.cu", "a-2/matmul.cu"]


def test_an_assignment_about_timing_is_sound_and_has_one_case(tmp_path: Path) -> None:
    """With one threshold where both ends are the same."""
    loaded = load_assignment(Path(timing_only(tmp_path / "one", size=2048, none_below=1.25, full_at=1.25)))
    assert [case.id for case in loaded.cases] == ["square-32"]
    assert [item.id for item in loaded.rubric] == ["compiles", "aligned", "speedup"]
    assert loaded.timing is not None
    assert dict(loaded.timing.shape) == {"M": 2048, "K": 2048, "N": 2048}
    steps = dict(loaded.rubric[-1].options)["steps"]
    assert len(steps) == 1


# --- padded kernels -----------------------------------------------------------------------------------


def test_a_padded_kernel_is_the_model_solution_with_a_loop_before_its_store() -> None:
    """As long as was asked for."""
    solution = (MATMUL / "solution.cu").read_text("utf-8")
    text = padded(321)
    assert "i < 321" in text
    assert text.index("i < 321") < text.index("C[row * N + col] = sum;")
    assert len(text.splitlines()) == len(solution.splitlines()) + 6


def test_the_length_for_a_speedup_lies_on_the_line_through_what_was_measured() -> None:
    """1 / speedup grows with the length."""
    truth = Line(1 / 1.5, 0.0004)
    measured = {rounds: [1 / (truth.start + truth.slope * rounds)] * 2 for rounds in (0, 100, 400)}
    line = fitted(measured)
    assert line.start == pytest.approx(truth.start)
    assert line.rounds(1.25) == pytest.approx((1 / 1.25 - 1 / 1.5) / 0.0004, abs=1)


def test_a_speedup_beyond_the_unpadded_kernel_is_refused() -> None:
    """No padding makes a kernel faster."""
    with pytest.raises(ValueError, match=r"1\.500 times as fast, not 1\.6"):
        Line(1 / 1.5, 0.0004).rounds(1.6)


def test_a_line_needs_two_lengths() -> None:
    """Measured twice at one length it could be any."""
    with pytest.raises(ValueError, match="two lengths"):
        fitted({100: [1.2, 1.3]})


# --- going on where it stopped ------------------------------------------------------------------------


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    """It is read from its file, which appears whole or not at all."""
    path = tmp_path / "deep" / "one.json"
    assert grading.stored(path, lambda: {"runs": 1}) == {"runs": 1}
    assert grading.stored(path, lambda: pytest.fail("measured again")) == {"runs": 1}
    assert [file.name for file in path.parent.iterdir()] == ["one.json"]


def test_a_failed_measurement_leaves_nothing_behind(tmp_path: Path) -> None:
    """The next attempt begins it again."""
    with pytest.raises(ZeroDivisionError):
        grading.stored(tmp_path / "one.json", lambda: 1 // 0)
    assert list(tmp_path.glob("*.json")) == []


def test_a_command_that_cannot_work_is_reported_with_its_message() -> None:
    """Instead of a table of nothing."""
    with pytest.raises(RuntimeError, match="no assignment `nothing`"):
        grading.command("check", "nothing", "nothing.cu")


def test_a_folder_is_graded_and_read_by_the_public_command(tmp_path: Path) -> None:
    """On the emulator, where this needs no GPU: the grades come back by submission."""
    given = put(tmp_path / "given", {"none.cu": "not a kernel\n"})
    batch = grading.grade(
        "tiled-matmul", given, tmp_path / "out", backend="emulator", cache=tmp_path / "cache"
    )
    assert batch.seconds > 0
    assert grading.failed_items(batch.grades["none"])[0] == "compiles"
    assert grading.kinds(batch.grades["none"]) == {"compile"}
    assert grading.errors(batch.grades["none"]) == []


def test_every_core_is_kept_busy_only_as_long_as_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends too early is reported, because then nothing was busy."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    with load.busy("cpu busy") as processes:
        assert [process.poll() for process in processes] == [None]
    assert all(process.poll() is not None for process in processes)
    monkeypatch.setattr(load, "_SPIN", "pass")
    with pytest.raises(RuntimeError, match="ended too early"), load.busy("cpu busy") as processes:
        assert [process.wait() for process in processes] == [0]


def test_an_experiment_takes_a_folder_and_parts() -> None:
    """All parts where none is named."""
    assert parse("x", ("a", "b"), ["out"]).parts == ("a", "b")
    options = parse("x", ("a", "b"), ["out", "--quick", "--part", "b"])
    assert (options.parts, options.quick, options.folder) == (("b",), True, Path("out").absolute())


def test_reports_are_kept_beside_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Printed, and as a file."""
    grading.report(tmp_path, "one", "| a |\n")
    assert (tmp_path / "one.md").read_text("utf-8") == capsys.readouterr().out == "| a |\n"
