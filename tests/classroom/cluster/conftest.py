"""A small class, graded on one machine and on clusters, and what has to be the same."""

from __future__ import annotations

import difflib
import itertools
import json
import os
import pprint
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import OutFolder
from grader.classroom.batch.folder import RECORD, REPORT
from grader.model.seals import is_page_intact, seal_of
from tests.mistakes import mistake

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[3]
STAFF = ROOT / "reference/vector-add"
MISTAKES = (
    "no_guard",
    "subtracts",
    "does_not_compile",
    "four_in_a_row",
    "writes_into_a",
    "no_store",
    "integer_sum",
)


class Class:
    """Submissions for `vector-add`, and the folder in which they are graded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.submissions = folder / "submissions"
        self.submissions.mkdir()
        for number in range(3):
            for name in ("solution", *(f"mistakes/{name}" for name in MISTAKES)):
                source = mistake(STAFF / f"{name}.cu").decode() + f"// {number}\n"
                (self.submissions / f"{Path(name).name}_{number}.cu").write_text(source)

    def start(self, out: Path, *options: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """`grade` as it is typed, under way."""
        command = [
            sys.executable,
            "-m",
            "grader",
            "grade",
            "vector-add",
            str(self.submissions),
            "-o",
            str(out),
        ]
        return subprocess.Popen(
            [*command, "--seed", "7", *options],
            cwd=ROOT,
            env=os.environ | dict(env or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def grade(self, out: Path, *options: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
        """The exit code of `grade`, and its output on standard error."""
        return ended(self.start(out, *options, env=env))


def ended(batch: subprocess.Popen[str], seconds: float = 500) -> tuple[int, str]:
    """The exit code of a batch, and its output on standard error; of an error of ours its whole output."""
    try:
        printed, output = batch.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        batch.kill()
        raise
    return batch.returncode, output + printed if batch.returncode == 3 else output


def wait_for_first_grade(out: Path, batch: subprocess.Popen[str]) -> None:
    """Wait until something is graded, and the batch is not done."""
    while not OutFolder(out).finished() and batch.poll() is None:
        time.sleep(0.05)
    assert batch.poll() is None, "the batch was over too early"


def files_without_seconds(out: Path) -> dict[str, object]:
    """Every file of a graded class by path, without times, and without the order in which grades came.

    Nor with what depends on times, on interruptions or on where the folder lies: the seal of a page, which
    has to fit its record, the path of the submissions, and the lines of the journal that list what a batch
    had still to grade, of which there has to be one. Two lines of the journal that say the same are one.
    """
    files: dict[str, object] = {}
    for path in sorted(out.rglob("*")):
        if not path.is_file() or path.name == ".lock":
            continue
        content = path.read_bytes()
        name = str(path.relative_to(out))
        if path.suffix == ".json":
            files[name] = _without_seconds(json.loads(content))
        elif path.suffix == ".jsonl":
            begins, rest = _partition(content.splitlines())
            assert begins, f"{name}: no line lists what there was to grade"
            files[name] = sorted({_what_it_says(line) for line in rest})
        elif path.suffix == ".xml":
            files[name] = re.sub(rb' time="[0-9.]+"', b"", content)
        elif path.name == REPORT:
            record = path.with_name(RECORD)
            of = seal_of(record.read_text()) if record.exists() else ""
            assert is_page_intact(content.decode(), of), f"{name}: its seal does not fit"
            files[name] = re.sub(rb"<!-- (of|checksum) [0-9a-f]{8} -->\n", b"", content)
        else:
            files[name] = content
    return files


def _partition(lines: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The lines of a journal with which a batch begins, and the others."""
    begins = [line for line in lines if "begins" in json.loads(line)]
    return begins, [line for line in lines if line not in begins]


def _what_it_says(line: bytes) -> str:
    """A line of the journal without its number, and without checksums of files that hold times or paths."""
    said = json.loads(line)
    kept = sorted(said.pop("kept", ()))
    said = {key: value for key, value in said.items() if key not in ("checksum", "number", "files")}
    return json.dumps({**said, "kept": kept}, sort_keys=True)


def assert_same_files(out: Path, expected: Mapping[str, object]) -> None:
    """The folder of a class holds the expected files; what differs is named, with its first lines."""
    written = files_without_seconds(out)
    differing = [name for name in sorted({*written, *expected}) if written.get(name) != expected.get(name)]
    assert not differing, "\n".join(
        line
        for name in differing
        for line in (name, *_first_differences(expected.get(name), written.get(name)))
    )


def _first_differences(expected: object, written: object) -> list[str]:
    """A dozen lines of the difference between two files."""
    before, after = (_lines(value) for value in (expected, written))
    return list(
        itertools.islice(difflib.unified_diff(before, after, "expected", "written", n=1, lineterm=""), 12)
    )


def _lines(value: object) -> list[str]:
    if isinstance(value, bytes):
        return value.decode(errors="replace").splitlines()
    return pprint.pformat(value, width=160).splitlines()


def _without_seconds(value: object) -> object:
    if isinstance(value, dict):
        varying = ("seconds", "checksum", "path")
        return {key: _without_seconds(inner) for key, inner in value.items() if key not in varying}
    return [_without_seconds(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture(scope="session")
def a_class(tmp_path_factory: pytest.TempPathFactory) -> Class:
    """Twenty-four submissions."""
    return Class(tmp_path_factory.mktemp("class"))


@pytest.fixture(scope="session")
def on_one_machine(a_class: Class) -> dict[str, object]:
    """The files that one machine writes for the class."""
    out = a_class.folder / "one-machine"
    code, output = a_class.grade(out)
    assert code == 0, output
    return files_without_seconds(out)


class Scheduler:
    """Dask's scheduler and workers as programs of their own."""

    def __init__(self, folder: Path, allowed_failures: int) -> None:
        self.folder = folder
        self.settings = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self.programs: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--host", self.address, "--no-dashboard")

    def worker(self, *options: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """One more worker, which takes a submission at a time."""
        common = (self.address, "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        return self._start("worker", *common, *(options or ("--no-nanny",)), env=env)

    def preloading(self, script: str) -> subprocess.Popen[bytes]:
        """A worker that runs a script first; `grader` imports nothing from its working folder."""
        path = self.folder / f"preloads/{len(self.programs)}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)
        return self.worker("--no-nanny", "--preload", str(path))

    def expect(self, workers: int) -> None:
        """Wait until a number of workers is there."""
        script = (
            "import sys; from distributed import Client; client = Client(sys.argv[1]); "
            "client.wait_for_workers(int(sys.argv[2]), timeout=60)"
        )
        subprocess.run([sys.executable, "-c", script, self.address, str(workers)], check=True, timeout=100)

    def _start(
        self, what: str, *options: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, *options]
        log = (self.folder / f"{what}{len(self.programs)}.log").open("wb")
        program = subprocess.Popen(
            command, cwd=self.folder, stdout=log, stderr=log, env=os.environ | self.settings | dict(env or {})
        )
        log.close()
        self.programs.append(program)
        return program

    def stop(self) -> None:
        """End all programs."""
        for program in reversed(self.programs):
            program.terminate()
        for program in self.programs:
            try:
                program.wait(timeout=10)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


@pytest.fixture
def scheduler(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Scheduler]:
    """A scheduler without workers; its parameter is Dask's ``allowed-failures``, by default 3."""
    started = Scheduler(tmp_path, getattr(request, "param", 3))
    yield started
    started.stop()
