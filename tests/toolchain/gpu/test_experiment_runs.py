"""The experiments on a GPU from end to end, with a `grader` command that makes its grades up."""

from __future__ import annotations

import json
import re
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.gpu import demo_class, grading, one_submission, repeatability, speedups
from tests.bench.gpu.grading import Batch
from tests.bench.gpu.repeated import THRESHOLD
from tests.toolchain.gpu.sample_grades import sample_grade

if TYPE_CHECKING:
    from pathlib import Path


def _speedup(source: str) -> float:
    """A device on which each round of padding costs a little of 1 / 1.5."""
    found = re.search(r"i < (\d+); \+\+i", source)
    return 1 / (1 / 1.5 + 0.0005 * int(found[1] if found else 0))


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of each batch; its grades follow from the padding and the assignment's threshold."""
    batches = []

    def grade(assignment: str, submissions: Path, out: Path, *options: str, **more: Any) -> Batch:  # noqa: ANN401
        batches.append(" ".join((out.name, *options)))
        assert more.get("cache") is not None
        grades = {}
        for file in sorted(submissions.rglob("*.cu")):
            name = file.stem if file.parent == submissions else file.parent.name
            speedup = _speedup(file.read_text("latin-1"))
            full = speedup >= (THRESHOLD if "threshold" in assignment else 1.0)
            grades[name] = sample_grade(*(() if full else ("speedup",)), speedup=speedup)
        return Batch(12.0, grades)

    monkeypatch.setattr(grading, "grade", grade)
    monkeypatch.setattr(repeatability, "busy", lambda _: nullcontext([]))
    return batches


def _main(module: Any, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:  # noqa: ANN401
    monkeypatch.setattr(sys, "argv", [module.__name__, *arguments])
    module.main()


def test_repeatability_finds_its_threshold_and_no_flips_on_a_perfect_device(
    graded: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lengths come from two lines, and each share is graded on the side where it lies."""
    _main(repeatability, monkeypatch, str(tmp_path), "--quick")
    text = (tmp_path / "repeatability-ratios.md").read_text("utf-8")
    rows = re.findall(r"\| (\d\.\d\d) \| (\d\.\d{3}) \| 2 \| (\d) \| 0 \| 0 % \|", text)
    assert [(share, full) for share, _, full in rows] == [
        ("0.95", "0"),
        ("0.97", "0"),
        ("0.99", "0"),
        ("1.01", "2"),
        ("1.03", "2"),
        ("1.05", "2"),
    ]
    assert all(abs(float(share) - float(measured)) < 0.002 for share, measured, _ in rows)
    busy = (tmp_path / "repeatability-busy.md").read_text("utf-8")
    assert [f"### {kind}" in busy for kind in ("quiet", "gpu busy", "cpu busy")] == [True] * 3
    same = (tmp_path / "repeatability-same.md").read_text("utf-8")
    assert "| solution | 3 | 100 |" in same
    assert all("--jobs 4" in batch for batch in graded)


def test_an_experiment_goes_on_where_it_stopped(
    graded: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results that are already in the folder are not graded again."""
    _main(repeatability, monkeypatch, str(tmp_path), "--quick", "--part", "ratios")
    before = len(graded)
    (tmp_path / "ratios.json").unlink()
    _main(repeatability, monkeypatch, str(tmp_path), "--quick", "--part", "ratios")
    assert len(graded) == before + 1


@pytest.mark.usefixtures("graded")
def test_the_demo_has_a_report_for_each_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The staff's files, the sample class, and a class of distinct submissions with the files' names."""
    _main(demo_class, monkeypatch, str(tmp_path), "--quick")
    reports = {part: (tmp_path / f"demo-{part}.md").read_text("utf-8") for part in demo_class.PARTS}
    assert "| solution |" in reports["reference"]
    assert "as expected: 2 of 2" in reports["sample"]
    assert "| submissions | 6 |" in reports["sixty"]
    assert "(naive.cu)" in reports["sixty"]


@pytest.mark.usefixtures("graded")
def test_speedups_are_asked_for_at_each_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an assignment of its own, with a budget to fit."""
    _main(speedups, monkeypatch, str(tmp_path))
    text = (tmp_path / "speedups.md").read_text("utf-8")
    assert [f"| {size} | 0.420 |" in text for size in (512, 1024, 2048, 4096)] == [True] * 4
    assert "budget: 10.0" in (tmp_path / "timing-4096" / "assignment.yaml").read_text("utf-8")


def test_one_submission_is_checked_and_graded_cold_and_warm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a cache that is new for each cold run, and the same for the warm one after it."""
    caches = []

    def command(*arguments: str, cache: Path | None = None) -> float:
        caches.append((arguments[0], cache))
        grade = sample_grade()
        report = [grade] if arguments[0] == "grade" else grade
        (tmp_path / arguments[arguments.index("--json") + 1]).write_text(json.dumps(report), "utf-8")
        return 4.0

    monkeypatch.setattr(grading, "command", command)
    _main(one_submission, monkeypatch, str(tmp_path), "--quick")
    assert [name for name, _ in caches] == ["check", "check", "grade", "grade"]
    assert caches[0][1] == caches[1][1] != caches[2][1] == caches[3][1]
    text = (tmp_path / "one-submission.md").read_text("utf-8")
    assert "| whole command | 4.000 | 4.000 | 4.000 | 4.000 |" in text
