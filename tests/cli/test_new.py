"""`grader new`: what it writes works as it stands, under whatever id, title and kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from grader.authoring.validation import mistake_sources
from grader.cli import main, new
from grader.grading.assignment import load_assignment, staff_folder
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

ROOT = Path(__file__).parents[2]


def test_a_fresh_assignment_is_sound_and_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The id, the title and the kernel are those asked for, wherever they stand."""
    title = 'Adds: "it all" # up'
    where = ["--in", str(tmp_path), "--title", title, "--kernel", "addAll"]
    assert main(["new", "my-first.1", *where]) == 0
    assert f"next: grader validate {tmp_path}/assignments/my-first.1" in capsys.readouterr().out.replace(
        "\n", ""
    )
    assignment = load_assignment(tmp_path / "assignments/my-first.1")
    assert (assignment.id, assignment.title, assignment.reference) == ("my-first.1", title, "my-first.1")
    assert assignment.kernel.kernel == "addAll"
    assert staff_folder(assignment) == tmp_path / "reference/my-first.1"
    for file in tmp_path.rglob("*"):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            assert new.STARTER_KERNEL not in text
            assert new.STARTER_ID not in text
    readme = (assignment.path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"# {title}\n")
    assert "grader check assignments/my-first.1 my.cu" in readme


@pytest.mark.slow
def test_every_mistake_of_the_starter_loses_the_items_of_its_table(tmp_path: Path) -> None:
    """And the model solution nothing, the skeleton what an empty kernel does: as `grader validate` asks."""
    folder = _course(tmp_path)
    staff = folder / "reference/first"
    table = yaml.safe_load((staff / "mistakes/mistakes.yaml").read_text(encoding="utf-8"))
    assert sorted(table) == sorted(file.name for file in (staff / "mistakes").glob("*.cu"))
    assert _lost(folder, [staff / "solution.cu"]) == [[]]
    assert _lost(folder, [staff / "mistakes" / name for name in table]) == [
        m["loses"] for m in table.values()
    ]
    assert _lost(folder, [folder / "assignments/first/skeleton.cu"]) == [table["does_nothing.cu"]["loses"]]


def _course(tmp_path: Path) -> Path:
    assert main(["new", "first", "--in", str(tmp_path), "--title", "First"]) == 0
    return tmp_path


def _lost(folder: Path, files: list[Path]) -> list[list[str]]:
    """The items that each file fails, on all cases."""
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(folder / "assignments/first"), 7, tools, visible_only=False)
    grades = [pipeline.grade(plan, Submission(f.stem, f.name, f.read_bytes(), ""), tools) for f in files]
    assert not any(grade.error for grade in grades)
    fail = Verdict.FAIL
    return [[i.result.item.id for i in grade.items if i.result.verdict is fail] for grade in grades]


@pytest.mark.parametrize(
    "like", ["tiled-matmul", "tiled-matmul-square", "boundary-safe-lesson", "tile-phases"]
)
def test_a_copy_is_sound_and_leaves_the_original_alone(tmp_path: Path, like: str) -> None:
    """Kernels, shared operations and programs; id, title and reference are new, all else is as it was."""
    assert main(["new", "copy", "--like", like, "--in", str(tmp_path), "--title", "A copy"]) == 0
    copy, original = (
        load_assignment(tmp_path / "assignments/copy"),
        load_assignment(ROOT / "assignments" / like),
    )
    assert (copy.id, copy.title) == ("copy", "A copy")
    assert copy.reference == ("copy" if original.reference else "")
    assert (copy.cases, copy.rubric, copy.interface) == (original.cases, original.rubric, original.interface)
    assert staff_folder(copy) == tmp_path / "reference/copy"
    for folder, inside in ((staff_folder(original), "mistakes"), (original.path, "")):
        for file in (folder / inside).iterdir():
            place = tmp_path / ("reference" if inside else "assignments") / "copy" / inside / file.name
            assert file.name == "__pycache__" or place.is_file()
    assert mistake_sources(staff_folder(copy)) == mistake_sources(staff_folder(original))
    assert f"grader check {like} " not in (copy.path / "README.md").read_text(encoding="utf-8")


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither an assignment nor a reference of that id."""
    (tmp_path / "reference/taken").mkdir(parents=True)
    assert main(["new", "taken", "--in", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert not (tmp_path / "assignments").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["../up"], "expected an id"),
        (["-like"], None),
        (["x" * 65], "expected an id"),
        (["a", "--kernel", "not a name"], "expected a kernel's name"),
        (["a", "--title", "two\nlines"], "expected a title of one line"),
        (["a", "--title", " "], "expected a title of one line"),
        (["a", "--like", "tile-matmul"], "did you mean `tiled-matmul`?"),
        (["a", "--like", "tiled-matmul", "--kernel", "k"], "with --like the kernel's name is copied"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str | None
) -> None:
    """With exit code 2."""
    if message is None:
        with pytest.raises(SystemExit):
            main(["new", *arguments, "--in", str(tmp_path)])
    else:
        assert main(["new", *arguments, "--in", str(tmp_path)]) == 2
        assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_at_a_terminal_what_is_missing_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Title and kernel, with a default for each."""
    answers = iter(["Mine", ""])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    assert main(["new", "asked", "--in", str(tmp_path)]) == 0
    assignment = load_assignment(tmp_path / "assignments/asked")
    assert (assignment.title, assignment.kernel.kernel) == ("Mine", new.STARTER_KERNEL)
