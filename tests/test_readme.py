"""What the README tells people to type works, and what it shows is what they get."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOLUTION = ROOT / "reference/matmul/solution.cu"
RACY = ROOT / "reference/matmul/mistakes/no_first_barrier.cu"


def _commands(document: str) -> list[str]:
    """The lines of all ``sh`` blocks, without their comments."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = (line.split(" #")[0].strip() for block in blocks for line in block.splitlines())
    return [line for line in lines if line]


GRADER = [command for command in _commands("README.md") if command.startswith("grader ")]
COMMANDS = {
    *("check", "trace", "grade", "report", "rescore", "questions"),
    *("new", "validate", "export-student", "doctor"),
}
NEED_AN_ENGINE = [command for command in GRADER if "--build-image" in command or "--attack" in command]
TAKE_MINUTES = [command for command in GRADER if command.startswith("grader validate ")]
OTHERS = [command for command in _commands("README.md") if not command.startswith("grader ")]


def test_the_readme_shows_every_command() -> None:
    """A command that nobody is told about does not exist."""
    assert {command.split()[1] for command in GRADER} == COMMANDS


def test_the_commands_of_the_readme_work_in_its_order(tmp_path: Path) -> None:
    """Typed one after the other in a folder with `mine.cu` and `submissions/`, each exits 0."""
    shutil.copy(SOLUTION, tmp_path / "mine.cu")
    (tmp_path / "submissions").mkdir()
    shutil.copy(SOLUTION, tmp_path / "submissions/ada.cu")
    shutil.copy(RACY, tmp_path / "submissions/bob.cu")
    for command in (command for command in GRADER if command not in (*NEED_AN_ENGINE, *TAKE_MINUTES)):
        _type(command, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_takes_minutes_works_too(tmp_path: Path) -> None:
    """A new assignment is sound as it stands."""
    _type("grader new my-kernel", tmp_path)
    assert [command.split()[-1] for command in TAKE_MINUTES] == ["assignments/my-kernel"]
    _type(TAKE_MINUTES[0], tmp_path)


def _type(command: str, folder: Path) -> None:
    """Run a command as a user would; it must end with 0."""
    arguments = [sys.executable, "-m", "grader", *shlex.split(command)[1:]]
    ran = subprocess.run(arguments, cwd=folder, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, (command, ran.stdout, ran.stderr)


def test_make_runs_the_commands_that_need_an_engine() -> None:
    """They take minutes, so they are typed once: by `make test-docker`, word for word but for the target."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert len(NEED_AN_ENGINE) == 2
    assert all(f"$(BIN)/{command}" in makefile for command in NEED_AN_ENGINE)


@pytest.mark.parametrize("command", OTHERS)
def test_the_other_commands_name_things_that_exist(command: str) -> None:
    """A make target is one of the Makefile's; an extra is one of the package's."""
    program, *arguments = shlex.split(command)
    if program == "make":
        subprocess.run(["make", "-n", *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S607
    else:
        assert program == "pip"
        assert arguments in (["install", "-e", ".[nvcc]"], ["wheel", "--no-deps", "-w", "dist", "."])
        assert re.search(r"^nvcc = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize(
    "document", ["README.md", "grader/README.md", "reference/README.md", "tests/bench/README.md"]
)
def test_links_and_paths_lead_somewhere(document: str) -> None:
    """Every relative link, and every file that a command of a document runs."""
    path = ROOT / document
    text = path.read_text(encoding="utf-8")
    targets = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    scripts = re.findall(r"python (tests/\S+\.py)", text)
    assert all((path.parent / target).exists() for target in targets if target)
    assert all((ROOT / script).exists() for script in scripts)


def test_the_feedback_it_shows_is_what_a_student_gets(tmp_path: Path) -> None:
    """The sample of feedback is, word for word, printed for a file without its first barrier."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    sample = re.search(r"^```\n✗ (.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert sample is not None
    shutil.copy(RACY, tmp_path / "mine.cu")
    arguments = [sys.executable, "-m", "grader", "check", "tiled-matmul", "mine.cu", "--width", "100"]
    ran = subprocess.run(arguments, cwd=tmp_path, check=False, capture_output=True, text=True)
    shown = "\n".join(line.strip() for line in ran.stdout.splitlines())
    for line in ("✗ " + sample[1]).splitlines():
        assert line.strip() in shown
