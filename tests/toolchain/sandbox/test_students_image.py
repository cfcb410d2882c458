"""The image `grader`, which students run on machines of their own: made and used as they would."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

import pytest

from grader.authoring.validation import mistake_sources
from tests.documents import ROOT
from tests.mistakes import mistake_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(900)]

IMAGE = "grader-test-students"
SOLUTION = ROOT / "reference/matmul/solution.cu"
RACY = mistake_file(ROOT / "reference/matmul/mistakes/no_first_barrier.cu")
PROGRAM = ROOT / "reference/matmul/matmul-program/solution.cu"
STUDENT = 4711
READ_ONLY = ("--network", "none", "--read-only", "--tmpfs", "/tmp")  # noqa: S108 - the container's
FOR_PROGRAMS = (*READ_ONLY[:-1], "/tmp:exec")  # noqa: S108 - as above


@pytest.fixture(scope="module", autouse=True)
def _image() -> None:
    """`make image`; PyPI may be reached through a proxy with a certificate of its own."""
    hosts = {"PIP_TRUSTED_HOST": "pypi.org files.pythonhosted.org"}
    making = ["make", "--silent", "image", f"IMAGE={IMAGE}"]
    subprocess.run(making, cwd=ROOT, env=os.environ | hosts, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's folder with two files, which is not root's."""
    shutil.copy(SOLUTION, tmp_path / "mine.cu")
    shutil.copy(RACY, tmp_path / "racy.cu")
    tmp_path.chmod(0o755)
    for path in (tmp_path, *tmp_path.iterdir()):
        os.chown(path, STUDENT, STUDENT)
    return tmp_path


def run(folder: Path, *typed: str, options: tuple[str, ...] = READ_ONLY) -> subprocess.CompletedProcess[str]:
    """Run the command of the README, with further options of the engine."""
    command = ["docker", "run", "--rm", *options, "-v", f"{folder}:/w", IMAGE, *typed]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def files_of_the_image() -> Iterator[tuple[str, str]]:
    """The name and the SHA-256 of every file."""
    made = subprocess.run(["docker", "create", IMAGE], check=True, capture_output=True, text=True)  # noqa: S607
    name = made.stdout.strip()
    try:
        with subprocess.Popen(["docker", "export", name], stdout=subprocess.PIPE) as export:  # noqa: S607
            assert export.stdout
            with tarfile.open(fileobj=export.stdout, mode="r|") as root:
                for member in root:
                    content = root.extractfile(member) if member.isfile() else None
                    if content is not None:
                        yield member.name, hashlib.sha256(content.read()).hexdigest()
    finally:
        subprocess.run(["docker", "rm", name], check=True, capture_output=True)  # noqa: S607


def test_it_holds_no_solution_no_mistake_and_no_attack() -> None:
    """Neither by name nor by what is in a file; and of the repository nothing but the wheel."""
    files = dict(files_of_the_image())
    staffs = [*(ROOT / "reference").rglob("*.cu"), *(ROOT / "sandbox/attacks").rglob("*.*")]
    contents = [file.read_bytes() for file in staffs if file.is_file() and file.stat().st_size]
    for folder in (ROOT / "reference").rglob("mistakes"):
        contents += [*mistake_sources(folder.parent).values(), (folder / "mistakes.yaml").read_bytes()]
    private = {hashlib.sha256(content).hexdigest() for content in contents}
    assert len(private) > 500
    assert not [name for name, digest in files.items() if digest in private]
    ours = [name for name in files if "/grader/_data/" in name]
    assert any(name.endswith("assignments/tiled-matmul/skeleton.cu") for name in ours)
    assert not [name for name in ours for word in ("solution", "mistakes", "attacks") if word in name]
    assert not [name for name in files if name.endswith((".whl", "constraints.txt"))]


@pytest.mark.parametrize(
    "options", [(), READ_ONLY, FOR_PROGRAMS, (*READ_ONLY, "--user", f"{STUDENT}:{STUDENT}")]
)
def test_a_student_checks_with_it_and_owns_the_report(folder: Path, options: tuple[str, ...]) -> None:
    """As root or as oneself, with and without a network and a root that can be written."""
    ran = run(folder, "check", "tiled-matmul", "mine.cu", "--html", "report.html", options=options)
    assert ran.returncode == 0, ran.stderr
    assert "90 of 90 points" in ran.stdout
    assert ran.stderr == ""
    report = folder / "report.html"
    assert (report.stat().st_uid, report.stat().st_gid) == (STUDENT, STUDENT)
    assert {path.name for path in folder.iterdir()} == {"mine.cu", "racy.cu", "report.html"}


def test_a_mistake_is_reported_for_an_editor(folder: Path) -> None:
    """The path is the one that was typed, so an editor outside finds it."""
    ran = run(folder, "check", "tiled-matmul", "racy.cu", "--format", "gcc")
    assert ran.returncode == 1, ran.stderr
    assert all(line.startswith("racy.cu:") for line in ran.stdout.splitlines())


def test_a_whole_program_is_run_in_it(folder: Path) -> None:
    """The host compiler, the linker and the stand-in for the CUDA runtime are there, too."""
    shutil.copy(PROGRAM, folder / "program.cu")
    ran = run(folder, "check", "matmul-program", "program.cu", options=FOR_PROGRAMS)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_folder_where_no_program_may_run_is_no_fault_of_the_student(folder: Path) -> None:
    """`--tmpfs /tmp` alone allows none: the grade is an error of ours, and the reason is reported."""
    shutil.copy(PROGRAM, folder / "program.cu")
    ran = run(folder, "check", "matmul-program", "program.cu", "--width", "1000")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "no program may be run in the temporary folder /tmp" in ran.stdout


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("check", "tiled-matmul", "other.cu"), "other.cu"),
        (("check", "tiled-matmul", "mine.cu", "--html", "/report.html"), "/report.html"),
        (("grade", "tiled-matmul", ".", "-o", "out"), "without hidden cases and solutions"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(folder: Path, typed: tuple[str, ...], message: str) -> None:
    """No file, no right to write, no class: no traceback."""
    ran = run(folder, *typed)
    (line,) = ran.stderr.splitlines()
    assert ran.returncode in (2, 3)
    assert message in line


def test_an_editor_works_in_it_as_in_a_development_container(folder: Path) -> None:
    """With a shell in place of the grader, what an editor's server needs, git, and the task of a handout."""
    exported = ["-m", "grader", "export-student", "vector-add", str(folder), "--image", IMAGE]
    subprocess.run([sys.executable, *exported], check=True, capture_output=True)
    (task, *_) = json.loads((folder / ".vscode/tasks.json").read_bytes())["tasks"]
    inside = "/w/assignments/vector-add"
    values = {"${file}": f"{inside}/skeleton.cu", "${fileDirname}": inside}
    typed = " ".join(values.get(word, word) for word in task["args"])
    tools = "tar --version && git init -q . && git status --short && ldd --version"
    script = f"{{ {tools}; }} >/tmp/v && {task['command']} {typed}"
    shell = (*READ_ONLY, "--entrypoint", "sh")
    ran = run(folder, "-c", script, options=shell)
    assert ran.returncode == 1, ran.stderr
    *_, last = ran.stdout.splitlines()
    assert last.startswith(f"{inside}/skeleton.cu:")


def test_without_the_right_to_change_users_it_stays_the_same_user(folder: Path) -> None:
    """Its root may then not write in the student's folder, nor see a private one, and reports that."""
    weak = ("--cap-drop", "ALL")
    assert run(folder, "check", "tiled-matmul", "mine.cu", options=weak).returncode == 0
    ran = run(folder, "check", "tiled-matmul", "mine.cu", "--html", "report.html", options=weak)
    assert ran.returncode == 3
    assert "report.html: cannot be written: Permission denied" in ran.stderr
    folder.chmod(0o700)
    ran = run(folder, "check", "tiled-matmul", "mine.cu", options=weak)
    (line,) = ran.stderr.splitlines()
    assert ran.returncode in (2, 3)
    assert "mine.cu" in line
