"""No process of the grader runs a file as Python from the folder that a command is typed in.

Staff stand in a student's folder, in an unpacked download, in a student's repository: what lies there is
strangers' files. Here it has a module of every name there is.
"""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from itertools import cycle
from pathlib import Path

import pytest

from tests.classroom.gradescope.container_folder import SOLUTION, lay_out, results_of

OURS = "grader"
CUSTOM = ("sitecustomize", "usercustomize")
"""The modules that Python imports by itself when it starts, if they are there."""

NAMES = sorted({*sys.stdlib_module_names, *packages_distributions(), *CUSTOM, OURS})
"""Every module that could be loaded: those of Python, of all that is installed, and ours."""

FORMS = ("module", "package", "bytecode")

INSTALLED = Path(sys.executable).with_name("grader")
SHEET = "answers: {}\n"


@dataclass(frozen=True)
class Trap:
    """A folder full of modules, each of which leaves a file among the ``traces`` when it is executed."""

    folder: Path
    traces: Path

    def set(self, names: list[str]) -> None:
        """Plant modules of these names: some as files, some as packages, some as bytecode alone."""
        for form, name in zip(cycle(FORMS), filter(str.isidentifier, names)):
            source = self.folder / (f"{name}/__init__.py" if form == "package" else f"{name}.py")
            source.parent.mkdir(exist_ok=True)
            trace = str(self.traces / name)
            source.write_text(f"open({trace!r}, 'w').close()\n", encoding="utf-8")
            if form == "bytecode":
                py_compile.compile(str(source), cfile=str(source.with_suffix(".pyc")))
                source.unlink()

    def run(self, *command: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command that begins with a program, in the folder."""
        return subprocess.run(
            list(map(str, command)),
            cwd=self.folder,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def sprung(self) -> list[str]:
        """The modules that were executed."""
        return sorted(path.name for path in self.traces.iterdir())


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """A folder without modules yet, in which commands are typed."""
    (tmp_path / "here").mkdir()
    (tmp_path / "traces").mkdir()
    return Trap(tmp_path / "here", tmp_path / "traces")


@pytest.fixture
def sheets(tmp_path: Path) -> Path:
    """A class that is graded without a compiler."""
    folder = tmp_path / "sheets"
    folder.mkdir()
    for name in ("ada", "bob"):
        (folder / f"{name}.yaml").write_text(SHEET, encoding="utf-8")
    return folder


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A class of one file that does not compile, which is compiled all the same."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "ada.cu").write_text("no kernel\n", encoding="utf-8")
    return folder


def test_a_class_is_graded_and_reported_without_a_module_from_there(
    trap: Trap, sheets: Path, tmp_path: Path
) -> None:
    """By the installed command: the processes that grade, their server, and what reads their grades."""
    trap.set(NAMES)
    out = tmp_path / "out"
    for words in (["grade", "memory-analysis", sheets, "-o", out], ["report", out], ["rescore", out]):
        done = trap.run(INSTALLED, *words)
        assert done.returncode == 0, done.stderr
    assert trap.sprung == []


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["check", "memory-analysis", "SHEET"],
        ["check", "vector-add", "KERNEL"],
        ["questions", "memory-analysis", "--student", "ada"],
        ["validate", "memory-analysis"],
    ],
    ids=" ".join,
)
def test_other_commands_import_nothing_from_there(words: list[str], trap: Trap, tmp_path: Path) -> None:
    """No module from there is imported, whatever the commands end with."""
    trap.set(NAMES)
    (tmp_path / "ada.yaml").write_text(SHEET, encoding="utf-8")
    (tmp_path / "ada.cu").write_text("no kernel\n", encoding="utf-8")
    named = {"SHEET": tmp_path / "ada.yaml", "KERNEL": tmp_path / "ada.cu"}
    done = trap.run(INSTALLED, *(named.get(word, word) for word in words))
    assert done.returncode in (0, 1), done.stderr
    assert trap.sprung == []


@pytest.fixture(scope="module")
def loaded_for_m(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules that Python itself loads for ``-m``, before the first line of the module."""
    folder = tmp_path_factory.mktemp("module")
    (folder / "empty.py").write_text("import sys\nprint(*sys.modules)\n", encoding="utf-8")
    command = [sys.executable, "-m", "empty"]
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(command, cwd=folder, env=plain, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("where", [[], ["--cluster", "local"]], ids=["here", "cluster"])
def test_what_is_compiled_is_graded_without_a_module_from_there(
    where: list[str], trap: Trap, kernels: Path, tmp_path: Path
) -> None:
    """On this machine, and by a worker of a cluster."""
    if where:
        pytest.importorskip("distributed", reason="the package is an extra")
    trap.set(NAMES)
    words = ["grade", "vector-add", kernels, "-o", tmp_path / "out", *where]
    done = trap.run(INSTALLED, *words)
    assert done.returncode == 0, done.stderr
    assert trap.sprung == []


def test_by_m_python_alone_looks_there(
    trap: Trap, sheets: Path, tmp_path: Path, loaded_for_m: set[str]
) -> None:
    """``-m`` puts the folder first; from our first line on nothing comes from there."""
    trap.set([name for name in NAMES if name not in {OURS, *loaded_for_m}])
    words = ["grade", "memory-analysis", sheets, "-o", tmp_path / "out"]
    done = trap.run(sys.executable, "-m", "grader", *words)
    assert done.returncode == 0, done.stderr
    assert trap.sprung == []


def test_the_autograder_of_gradescope_imports_nothing_from_there(
    trap: Trap, tmp_path: Path, loaded_for_m: set[str]
) -> None:
    """Its results are written, with a grade or without one, as this machine allows."""
    root = lay_out(tmp_path / "autograder", {"tiled.cu": SOLUTION}, None)
    trap.set([name for name in NAMES if name not in {OURS, *loaded_for_m}])
    trap.run(sys.executable, "-m", "grader.classroom.gradescope.run", root)
    assert results_of(root)
    assert trap.sprung == []


STARTS_PROCESSES = """
import multiprocessing, os, subprocess, sys
from grader.base.search_paths import leave_out_working_folder

if __name__ == "__main__":
    sys.path[:0] = ["", os.getcwd(), os.path.abspath("below")]
    os.environ |= {"PYTHONPATH": ":below", "PYTHONPYCACHEPREFIX": "cache", "PATH": ":" + os.environ["PATH"]}
    leave_out_working_folder()
    from pathlib import Path
    from grader.classroom.batch import OutFolder, reading
    from grader.classroom.batch.executor import forkserver
    for context in (forkserver(["json"]), *map(multiprocessing.get_context, ("spawn", "fork"))):
        process = context.Process(target=print, args=("here",))
        process.start()
        process.join()
        assert process.exitcode == 0
    subprocess.run([sys.executable, "-c", "import json, colorsys"], check=True)
    reading._WORTH_PROCESSES = 1
    assert reading.readable_grades(OutFolder(Path(sys.argv[1])), ["ada", "bob"], 2) == {}
"""
"""A program that finds its folders as Python leaves them where variables have empty and relative entries."""


def test_processes_of_all_ways_to_start_them_import_nothing_from_there(trap: Trap, tmp_path: Path) -> None:
    """By a fork server, by a new interpreter, by a fork; also where variables mean that folder."""
    program = tmp_path / "program.py"
    program.write_text(STARTS_PROCESSES, encoding="utf-8")
    trap.set(NAMES)
    done = trap.run(sys.executable, program, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert trap.sprung == []
