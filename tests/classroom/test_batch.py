"""A class is graded to its end, whatever happens to one submission, to the disk or to the batch itself."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.classroom.batch import BatchSession, OutFolder, executor, grade_class
from grader.classroom.batch.executor import Graded
from grader.classroom.batch.resume import store, write
from grader.grading.assignment import expand_cases
from grader.kinds import pipeline
from grader.model import HandIn, Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.mistakes import mistake
from tests.reports import sample_grades

if TYPE_CHECKING:
    from grader.model import Grade
    from grader.toolchain.sandbox import Job, Result

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = (ROOT / "reference/matmul/solution.cu").read_bytes()
WRONG = mistake(ROOT / "reference/matmul/mistakes/tile_read_transposed.cu")
BROKEN = mistake(ROOT / "reference/matmul/mistakes/does_not_compile.cu")


class DeadlySandbox(LocalSandbox):
    """Kills the process that grades a submission which asks for it; hangs for one which asks for that."""

    marker = Path()
    """Stands where one was killed that asks to be killed once."""
    server_marker = Path()
    """Stands where the server was killed that the processes are forked from."""

    def run(self, job: Job) -> Result:
        """See `Sandbox`."""
        text = b"".join(content for _, content in job.files)
        if b"ONCE" in text and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if b"SERVER" in text and not self.server_marker.exists():
            self.server_marker.touch()
            os.kill(os.getppid(), signal.SIGKILL)
        if b"KILL" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"HANG" in text:
            time.sleep(600)
        while b"BUSY" in text:
            pass
        if b"RAISE" in text:
            raise RuntimeError("the disk is on fire")
        return super().run(job)


@pytest.fixture(scope="module")
def grades(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Grade]:
    """Three submissions that bring their process to its end, each in its way, among two that do not."""
    assignment = bundled("tiled-matmul")
    plan = pipeline.Plan(assignment, 1, expand_cases(assignment, 1)[:1], ())
    sandbox = DeadlySandbox()
    sandbox.marker = tmp_path_factory.mktemp("once") / "killed"
    sandbox.server_marker = tmp_path_factory.mktemp("once") / "server_killed"
    tools = Tools(find_toolchain(), sandbox)
    sources = {
        "kill": b"// KILL",
        "hang": b"// HANG",
        "busy": b"// BUSY",
        "raise": b"// RAISE",
        "once": b"// ONCE\n" + BROKEN,
        "server": b"// SERVER\n" + BROKEN,
        "first": BROKEN,
        "last": BROKEN,
    }
    submissions = [Submission(name, f"{name}.cu", source, name) for name, source in sorted(sources.items())]
    return {
        graded.grade.submission_id: graded.grade
        for graded in grade_class(plan, submissions, tools, jobs=2, patience=12, cpu_seconds=2)
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kill", "SIGKILL"),
        ("hang", "longer than 12 s"),
        ("raise", "the disk is on fire"),
    ],
)
def test_a_failure_of_ours_is_an_error_and_never_a_zero(
    grades: dict[str, Grade], name: str, reason: str
) -> None:
    """The grade states what happened; no point is lost, none can be earned."""
    grade = grades[name]
    assert grade.verdict is Verdict.ERROR
    assert reason in grade.error
    assert {item.result.verdict for item in grade.items} <= {Verdict.ERROR, Verdict.SKIP}
    assert grade.max_score == 0
    assert grade.skipped_points == 100


def test_what_takes_more_cpu_time_than_a_submission_may_is_a_question(grades: dict[str, Grade]) -> None:
    """It is the submission's work, not the machine's load: its points stay in the maximum."""
    grade = grades["busy"]
    assert (grade.verdict, grade.is_question) == (Verdict.ERROR, True)
    assert "more than 2 s of CPU time" in grade.error
    assert grade.score == 0
    assert grade.max_score == 100


@pytest.mark.parametrize("name", ["first", "last", "once", "server"])
def test_the_batch_goes_on(grades: dict[str, Grade], name: str) -> None:
    """The submissions before and after are graded as ever, and those whose process or server was killed."""
    assert grades[name].verdict is Verdict.FAIL
    assert grades[name].error == ""


def _class(folder: Path, students: int) -> Path:
    folder.mkdir()
    for number in range(students):
        (folder / f"s{number}.cu").write_bytes(SOLUTION + f"// {number}\n".encode())
    return folder


def _command(folder: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "grader", "grade", "tiled-matmul", str(folder), "-o", str(out), "-j", "1"]


def test_a_killed_batch_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """After SIGKILL what was finished is kept to the byte, the rest is graded, with the same seed."""
    folder, out = _class(tmp_path / "class", 4), tmp_path / "out"
    batch = subprocess.Popen(
        _command(folder, out), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 100
        while not OutFolder(out).finished() and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        batch.kill()
        batch.wait()
    done = OutFolder(out).finished()
    session = OutFolder(out).session()
    assert 1 <= len(done) < 4
    before = {name: (out / f"grades/{name}/grade.json").read_bytes() for name in done}
    again = subprocess.run(_command(folder, out), cwd=ROOT, check=False, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert {name: (out / f"grades/{name}/grade.json").read_bytes() for name in done} == before
    assert f"{len(done)} of 4 were graded before" in again.stdout
    assert sorted(OutFolder(out).finished()) == ["s0", "s1", "s2", "s3"]
    assert OutFolder(out).session() == session


def test_a_batch_whose_server_is_killed_goes_on(tmp_path: Path) -> None:
    """Another one is started, nothing is lost, and a second run finds all done."""
    folder, out = _class(tmp_path / "class", 3), tmp_path / "out"
    batch = subprocess.Popen(
        _command(folder, out), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 100
    while not (servers := _servers(batch.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert servers
    for server in servers:
        os.kill(server, signal.SIGKILL)
    output = batch.communicate(timeout=300)[0]
    assert batch.returncode == 0, output
    assert sorted(OutFolder(out).finished()) == ["s0", "s1", "s2"]
    again = subprocess.run(_command(folder, out), cwd=ROOT, check=False, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "3 of 3 were graded before" in again.stdout


def _servers(batch: int) -> list[int]:
    """The fork servers among the children of a batch."""
    children = " ".join(path.read_text() for path in Path(f"/proc/{batch}/task").glob("*/children")).split()
    return [int(child) for child in children if b"multiprocessing.forkserver" in _command_line(child)]


def _command_line(process: str) -> bytes:
    """The command that started a process; empty if it has ended meanwhile."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def test_a_server_that_ends_while_a_process_is_asked_of_it_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The submission is graded by a process of the next server."""
    start, refused = ForkServerProcess.start, tmp_path / "refused"

    def once_refused(process: ForkServerProcess) -> None:
        if not refused.exists():
            refused.touch()
            raise ConnectionRefusedError
        start(process)

    monkeypatch.setattr(ForkServerProcess, "start", once_refused)
    assignment = bundled("tiled-matmul")
    plan = pipeline.Plan(assignment, 1, expand_cases(assignment, 1)[:1], ())
    tools = Tools(find_toolchain(), LocalSandbox())
    (graded,) = grade_class(plan, [Submission("ada", "ada.cu", BROKEN, "ada")], tools, jobs=1)
    grade = graded.grade
    assert refused.exists()
    assert grade.error == ""
    assert grade.verdict is Verdict.FAIL


LOADED_LATE = """
import importlib, sys
from pathlib import Path
from grader.kinds import pipeline
from grader.grading.assignment import find_assignment, load_assignment
from grader.running.backends.emulator import EMULATOR
from grader.classroom.batch.executor import loaded_for
from grader.model import Submission
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox

assignment = load_assignment(find_assignment("tiled-matmul"))
for name in loaded_for(assignment, EMULATOR):
    importlib.import_module(name)
before = set(sys.modules)
tools = Tools(find_toolchain(), LocalSandbox(), Path(sys.argv[1]))
plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
source = Path(sys.argv[2]).read_bytes()
pipeline.grade(plan, Submission("ada", "ada.cu", source, ""), tools)
print(*(name for name in set(sys.modules) - before if name.startswith(("grader.", "numpy.", "yaml"))))
"""


def test_a_process_that_grades_finds_everything_loaded(tmp_path: Path) -> None:
    """Each process would load anew what the first submission loads: all of it is loaded before the fork."""
    (wrong := tmp_path / "wrong.cu").write_bytes(WRONG)
    command = [sys.executable, "-c", LOADED_LATE, str(shared_builds()), str(wrong)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)  # the index of headers is kept then
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_files_are_those_that_can_be_made_of_what_is_kept(tmp_path: Path) -> None:
    """The process that grades makes a submission's files; made again, they have not changed."""
    assignment = bundled("tiled-matmul")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=True)
    source = b'#include "own header.h"\n' + WRONG
    ada = Submission("ada", "ada's.cu", source, "", headers=(("own header.h", b"// nothing\n"),))
    (graded,) = grade_class(plan, [ada], tools, jobs=1)
    out = OutFolder(tmp_path)
    out.path.joinpath("journal.jsonl").touch()
    store(out, graded, ada)
    folder = tmp_path / "grades/ada"
    before = {path.name: path.read_bytes() for path in folder.glob("*.*")}
    assert {"record.json", "report.html", "staff.html", "trace.json.gz"} <= before.keys()
    write(out, graded.grade)
    assert {path.name: path.read_bytes() for path in folder.glob("*.*")} == before


@pytest.mark.parametrize("trouble", ["", "no memory"])
def test_identical_submissions_are_graded_once(monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    """Each gets the grade under its own name; where the grader failed, and by another name, each its own."""
    graded: list[str] = []

    def noted(_context: object, plan: pipeline.Plan, submission: Submission, *_: object) -> Graded:
        graded.append(submission.id)
        failed = pipeline.failed(plan, submission, trouble)
        return Graded(failed if trouble else replace(failed, verdict=Verdict.FAIL))

    monkeypatch.setattr(executor, "isolated", noted)
    assignment = bundled("tiled-matmul")
    plan = pipeline.Plan(assignment, 1, expand_cases(assignment, 1)[:1], ())
    late = HandIn("bob", late=True)
    ada, bob = (Submission(name, "k.cu", BROKEN, name, hand_in=late) for name in ("ada", "bob"))
    others = [replace(ada, id="cid", file="other.cu"), replace(ada, id="dan", source=BROKEN + b"//")]
    submissions = [ada, replace(bob, hand_in=None), *others]
    grades = [one.grade for one in grade_class(plan, submissions, None, jobs=1)]
    assert sorted(graded) == (["ada", "bob", "cid", "dan"] if trouble else ["ada", "cid", "dan"])
    assert {g.submission_id: (g.submission_digest, g.hand_in) for g in grades} == {
        "ada": ("ada", late),
        "bob": ("bob", None),
        "cid": ("ada", late),
        "dan": ("ada", late),
    }


def test_questions_are_graded_for_each_student() -> None:
    """They are drawn by name, so that equal answers need not be equally right."""
    assignment = bundled("memory-analysis")
    plan = pipeline.Plan(assignment, 1, (), ())
    ada, bob = (Submission(name, "a.yaml", b"x: 1", name) for name in ("ada", "bob"))
    assert executor.grouped(plan, [ada, bob]) == [[ada], [bob]]


def test_a_journal_line_cut_off_by_a_crash_is_passed_over(tmp_path: Path) -> None:
    """The submission that it was about counts as not graded."""
    out = OutFolder(tmp_path)
    out.begin(BatchSession("a", "d", "emulator", 1, "0", "13.0"))
    out.note("ada", "x", "pass")
    with (tmp_path / "journal.jsonl").open("a") as journal:
        journal.write('{"submission": "bob", "dig')
    assert out.finished() == {"ada": "x"}


def test_a_damaged_byte_in_the_journal_costs_one_submission(tmp_path: Path) -> None:
    """Text that is no UTF-8 any more is read as far as it can be."""
    out = OutFolder(tmp_path)
    out.begin(session := BatchSession("a", "d", "emulator", 1, "0", "13.0"))
    out.note("ada", "x", "pass")
    out.note("bob", "y", "pass")
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"bob"', b'"b\xefb"'))
    assert out.session() == session
    assert out.finished().get("ada") == "x"
    assert "bob" not in out.finished()


@pytest.mark.parametrize("kind", ["a file", "below a file", "a link to itself"])
def test_what_is_no_folder_cannot_be_graded_into(tmp_path: Path, kind: str) -> None:
    """It is a matter of the command line, not of space."""
    place = tmp_path / "out"
    if kind == "a link to itself":
        place.symlink_to(place)
    else:
        place.write_text("mine")
    place = place / "deeper" if kind == "below a file" else place
    with (
        pytest.raises(UsageError, match="is no folder; choose another one with -o"),
        OutFolder(place).locked(),
    ):
        pass


def test_a_process_whose_parent_was_killed_ends_without_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It ends without a word."""
    monkeypatch.setattr(pipeline, "grade", lambda *_: "a grade")
    receiver, sender = multiprocessing.Pipe(duplex=False)
    receiver.close()
    before = signal.getsignal(signal.SIGINT)
    try:
        executor._work(sender, *[None] * 3)  # type: ignore[arg-type]
    finally:
        signal.signal(signal.SIGINT, before)
    assert sender.closed


def test_a_folder_with_a_foreign_journal_is_refused(tmp_path: Path) -> None:
    """Nothing of another program's is overwritten."""
    (tmp_path / "journal.jsonl").write_text('{"something": "else"}\n')
    with pytest.raises(UsageError, match="no session of this version of the grader"):
        OutFolder(tmp_path).session()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("size=24k", "cannot be written: No space left on device; free some space"),
        ("ro,size=1m", "cannot be written: Read-only file system; use a folder that can be written"),
    ],
    ids=["full disk", "read-only"],
)
def test_a_disk_that_takes_nothing_more_is_our_error(options: str, message: str, tmp_path: Path) -> None:
    """Exit code 3, a message with a next step, and what was graded before is kept."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare (util-linux) to mount a small disk")
    folder, disk = _class(tmp_path / "class", 3), tmp_path / "disk"
    disk.mkdir()
    grade = " ".join(map(str, _command(folder, disk / "out")))
    script = f"mount -t tmpfs -o {options} tmpfs {disk} && {grade}; code=$?; ls {disk}/out/grades; exit $code"
    ran = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", script],  # noqa: S607 - found on the PATH
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if "unshare" in ran.stderr and "not permitted" in ran.stderr:
        pytest.skip("this system lets no user mount in a namespace of their own")
    assert ran.returncode == 3, ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


def test_every_grade_on_disk_is_whole(tmp_path: Path) -> None:
    """A file that is being written is not seen under its name."""
    out = OutFolder(tmp_path)
    out.begin(BatchSession("a", "d", "emulator", 1, "0", "13.0"))
    out.write({"grade.json": json.dumps({"a": 1})}, "ada")
    assert [path.name for path in (tmp_path / "grades/ada").iterdir()] == ["grade.json"]


def test_what_was_handed_in_is_kept_under_harmless_names(tmp_path: Path) -> None:
    """The file and its headers, not those of an earlier attempt; a name cannot leave the folder."""
    out = OutFolder(tmp_path)
    headers = (("../../sneaky.h", b"#define T 16\n"),)
    out.keep_source(Submission("ada", "old.cu", b"old", "", headers=headers))
    out.keep_source(Submission("ada", "sub/tiled.cu", b"int a;\r\nint b;", "", headers=headers))
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"grades/ada/source/_.._sneaky.h", "grades/ada/source/sub_tiled.cu"}
    assert (tmp_path / "grades/ada/source/sub_tiled.cu").read_bytes() == b"int a;\r\nint b;"
    grade = replace(sample_grades.missing_barrier(), submission_id="ada", submission_file="sub/tiled.cu")
    assert out.source_lines(grade) == ("int a;", "int b;")
    assert out.source_lines(replace(grade, submission_id="bob")) == ()
    assert out.further_lines(grade) == {"_.._sneaky.h": ("#define T 16", "")}
    assert out.further_lines(replace(grade, submission_id="bob")) == {}
