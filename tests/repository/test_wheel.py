"""The wheel: what students install grades their own files, and holds nothing that they must not have."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from grader.authoring.validation import mistake_sources
from grader.grading.assignment import bundled_ids, handout
from grader.model import Visibility
from tests.bundled import bundled
from tests.documents import commands

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = ROOT / "reference/matmul/solution.cu"
STAFF_ONLY = ("solution", "mistakes", "mutants", "naive.cu", "attacks")
PROGRAM = ROOT / "reference/matmul/matmul-program/solution.cu"
FOR_STUDENTS = [line for line in commands("docs/students.md") if not line.startswith("grader questions ")]
RUN = """
import sys, grader
sys.stderr.write(grader.__file__ + "\\n")
from grader.cli import main
sys.exit(main())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this repository."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", folder, ROOT], check=True)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def contents(wheel: Path) -> dict[str, bytes]:
    """The contents of its files, by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="module")
def site(wheel: Path) -> Path:
    """A folder in which it is installed, and nothing of the repository."""
    folder = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def _run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the installed package, as a student would, beside his file `mine.cu`."""
    shutil.copy(SOLUTION, site.parent / "mine.cu")
    environment = os.environ | {"PYTHONPATH": str(site), "HOME": str(site.parent)}
    command = [sys.executable, "-c", RUN, *arguments]
    ran = subprocess.run(
        command, cwd=site.parent, env=environment, check=False, capture_output=True, text=True
    )
    package, _, ran.stderr = ran.stderr.partition("\n")
    assert package.startswith(str(site))
    return ran


def _data(contents: dict[str, bytes], folder: str) -> dict[str, bytes]:
    """The files of a folder beside the program."""
    within = f"grader/_data/{folder}/"
    return {
        name.removeprefix("grader/_data/"): held for name, held in contents.items() if name.startswith(within)
    }


def test_of_assignments_it_holds_what_students_may_have(contents: dict[str, bytes]) -> None:
    """Byte for byte what `grader export-student` writes of each."""
    expected: dict[str, bytes] = {}
    for name in bundled_ids():
        recorded = ROOT / "handouts" / f"{name}.json"
        baselines = recorded.read_text(encoding="utf-8") if recorded.is_file() else ""
        expected |= handout.handout_files(bundled(name), baselines)
    assert _data(contents, "assignments") | _data(contents, "reference") == expected
    assert len(expected) > 40


def test_it_holds_no_hidden_case(contents: dict[str, bytes]) -> None:
    """Of the staff's files there is what checking needs; a case that is hidden is in none of them."""
    files = {name: held.decode() for name, held in _data(contents, "assignments").items()}
    files |= {name: held.decode() for name, held in _data(contents, "reference").items()}
    hidden = [
        (name, case)
        for name in bundled_ids()
        for case in bundled(name).cases
        if case.visibility is not Visibility.VISIBLE
    ]
    assert len(hidden) > 10
    for name, case in hidden:
        text = files.get(f"assignments/{name}/assignment.yaml", "")
        assert not re.search(rf"\b(?:id: |- ){re.escape(case.id)}\b", text), (name, case.id)
    assert not [name for name, text in files.items() if re.search(r"visibility: *hidden", text)]


def test_it_holds_no_solution_no_mistake_and_no_attack(contents: dict[str, bytes]) -> None:
    """Neither by name nor by what is in a file."""
    beside = [name for name in contents if name.startswith("grader/_data/")]
    assert not [name for name in beside for word in STAFF_ONLY if word in name.rpartition("/_data/")[2]]
    staffs = [*(ROOT / "reference").rglob("*.cu"), *(ROOT / "sandbox/attacks").rglob("*.*")]
    private = {file.read_bytes() for file in staffs if file.is_file() and file.stat().st_size}
    for folder in (ROOT / "reference").rglob("mistakes"):
        private.update(mistake_sources(folder.parent).values())
        private.add((folder / "mistakes.yaml").read_bytes())
    assert len(private) > 500
    assert not [name for name, held in contents.items() if held in private]


def test_it_holds_the_program_and_what_sandboxes_need(contents: dict[str, bytes]) -> None:
    """Every module, the templates and scripts of pages, the recipe of the image, and what runs in a job."""
    modules = {file.relative_to(ROOT).as_posix() for file in (ROOT / "grader").rglob("*.py")}
    needed = {
        "Dockerfile",
        "sandbox/gpu_harness/harness.py",
        "sandbox/seccomp.json",
        "sandbox/image/assemble.py",
    }
    pages = {*ROOT.glob("grader/reports/templates/*.j2"), *ROOT.glob("grader/reports/trace_page/*")}
    assert len(pages) > 4, "templates, scripts and a style"
    modules |= {"grader/model/mistakes/texts.yaml", *(file.relative_to(ROOT).as_posix() for file in pages)}
    assert modules | {f"grader/_data/{name}" for name in needed} <= set(contents)


def test_a_student_checks_with_it(site: Path) -> None:
    """Anywhere, without the repository: the verdict is that of the staff's files."""
    ran = _run(site, "check", "tiled-matmul", "mine.cu")
    assert ran.returncode == 0, ran.stderr
    assert "90 of 90 points" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("typed", FOR_STUDENTS)
def test_the_commands_for_students_work_with_it(site: Path, typed: str) -> None:
    """With what they have: only the command for a sheet needs more, for that holds the answers."""
    shutil.copy(PROGRAM, site.parent / "program.cu")
    ran = _run(site, *shlex.split(typed)[1:])
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("grade tiled-matmul mine.cu -o out", "without hidden cases and solutions"),
        ("validate tiled-matmul", "without hidden cases and solutions"),
        ("new mine --like tiled-matmul", "without hidden cases and solutions"),
        ("export-student tiled-matmul handout", "without hidden cases and solutions"),
        ("questions memory-analysis --student ada", "holds its answers"),
        ("doctor --attack", "no attacks are installed"),
    ],
)
def test_a_command_that_needs_the_staff_s_files_names_where_they_are(
    site: Path, typed: str, message: str
) -> None:
    """One line, a wrong use, and nothing written."""
    before = sorted(site.parent.iterdir())
    ran = _run(site, *typed.split())
    (line,) = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in line
    assert "clone" in line
    assert {file.name for file in site.parent.iterdir()} - {file.name for file in before} <= {"mine.cu"}


def test_no_text_asks_to_install_what_is_not_published() -> None:
    """Extras of the package are typed in a clone; everywhere else messages name what PyPI has."""
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "grader").rglob("*.py")}
    instruction = re.compile(r"pip install[^`]*cuda-grader")
    assert not [file.name for file, text in texts.items() if instruction.search(text)]
    assert not instruction.search((ROOT / "README.md").read_text(encoding="utf-8"))
