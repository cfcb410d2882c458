"""A large class: memory and open files of `grader grade`, seconds of its end, and what kills cost.

    python -m tests.bench.many 5000 --jobs 16 --kills 3

makes a class of the sample class and the mistakes, each file with a comment of its own, so that no build is
cached, and grades it in a process group that is watched through ``/proc``. With ``--kills`` the class is
graded once more, the whole group is killed with SIGKILL at random moments and started again, and both
folders are compared; with ``--keep`` that may be a run of its own.
``--recorded`` grades some of them, and then feeds the parent with these grades under as many names: all that
the parent does is real, no process grades, and grades come as fast as it takes them. A name has the same
grade each time, so kills can be compared there, too. Options of `grade`, such as ``--cluster local``, are
passed on.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.classroom.batch import OutFolder, class_page
from grader.classroom.batch.executor import BatchSetting, Executor, Graded
from grader.classroom.batch.folder import load_grade
from grader.classroom.batch.reading import readable_grades
from grader.cli import grade as grade_command
from grader.cli import main as grader
from grader.grading.assignment import find_assignment, load_assignment
from grader.reports import class_page as report
from grader.reports import class_table, files, junit
from grader.toolchain.sandbox import bubblewrap
from tests.mistakes import mistake_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from grader.model import Grade, Submission

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = "tiled-matmul"
RECORDED = 30
"""Different submissions that are graded where the others are recorded."""
READ = 300
"""Grades that are read in several ways, at most."""
INTERVAL = 0.5
"""Seconds between two looks at the processes."""
SETTLED = 0.25
"""The part of a run after which memory should no longer grow."""
_MIB = 2**20
_TIME = re.compile(r' time="[0-9.]+"')
_PAGE = os.sysconf("SC_PAGE_SIZE")


def sources() -> list[bytes]:
    """The different files that the class consists of."""
    sample = sorted((ROOT / "tests/sample_class").glob("*/*.cu"))
    mistakes = mistake_files(ROOT / "reference/matmul/mistakes")
    return [path.read_bytes() for path in (*sample, *mistakes)]


def make_class(folder: Path, number: int) -> None:
    """Write a number of different files, each with a name of its own."""
    folder.mkdir(parents=True)
    for student, source in zip(range(number), cycle(sources()), strict=False):
        (folder / f"student{student:06}.cu").write_bytes(source + f"\n// student {student}\n".encode())


@dataclass
class Watched:
    """The observations of a run: bytes of the parent and of all below it, and open files, by seconds."""

    seconds: float = 0.0
    rows: list[tuple[float, int, int, int]] = field(default_factory=list)

    def slope(self) -> float:
        """Bytes of the parent per second after it settled, by least squares."""
        settled = [row for row in self.rows if row[0] >= SETTLED * self.seconds]
        times, sizes = [row[0] for row in settled], [row[1] for row in settled]
        if len(settled) < 2:
            return 0.0
        middle, mean = sum(times) / len(times), sum(sizes) / len(sizes)
        spread = sum((at - middle) ** 2 for at in times)
        return sum((at - middle) * (size - mean) for at, size in zip(times, sizes, strict=True)) / spread


def watched(command: Sequence[str], cache: Path, until: float = float("inf")) -> Watched:
    """Run a command to its end, or kill its group after some seconds; print nothing of it."""
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    began, seen = time.monotonic(), Watched()
    with (cache / "log").open("a") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    while process.poll() is None:
        seen.seconds = time.monotonic() - began
        if seen.seconds > until:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            break
        if sample := _sample(process.pid):
            seen.rows.append((seen.seconds, *sample))
        time.sleep(min(INTERVAL, max(0.0, until - seen.seconds)))
    if process.returncode not in {0, -signal.SIGKILL}:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}; see {cache / 'log'}")
    return seen


def _sample(parent: int) -> tuple[int, int, int] | None:
    """Bytes of a process, bytes of all below it, and its open files; None where it has just ended."""
    try:
        opened = len(list(Path(f"/proc/{parent}/fd").iterdir()))
        return _resident(parent), sum(map(_resident, _below(parent))), opened
    except OSError:
        return None


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except OSError:
        return 0


def _below(process: int) -> Iterator[int]:
    try:
        children = [
            int(child)
            for path in Path(f"/proc/{process}/task").glob("*/children")
            for child in path.read_text(encoding="ascii").split()
        ]
    except OSError:
        return
    for child in children:
        yield child
        yield from _below(child)


def fed(records: Path, command: list[str]) -> int:
    """Run `grade` with grades that are stored already, under the names that are asked for."""
    out = OutFolder(records)
    stored = {
        grade.submission_digest: grade for grade in (load_grade(out, name) for name in out.submissions())
    }
    recorded = [
        (grade, pickle.dumps(Graded(grade, files=tuple(files.of_submission(grade).items()))))
        for grade in stored.values()
    ]
    session = out.graded_session()

    def grade(_seed: int, submissions: Sequence[Submission]) -> Iterator[Graded]:
        for submission in submissions:
            one = recorded[zlib.crc32(submission.id.encode()) % len(recorded)]
            yield _renamed(*one, submission)

    setting = BatchSetting(session.backend, session.toolkit, session.device, session.races)
    vars(grade_command)["on_this_machine"] = lambda *_: Executor(setting, grade)
    return grader(command)


def _renamed(grade: Grade, pickled: bytes, submission: Submission) -> Graded:
    """A recorded grade as another submission's, as if it came from a process; all names have one length."""
    names = (
        (grade.submission_id, submission.id),
        (grade.submission_digest, submission.digest),
    )
    for old, new in names:
        assert len(old) == len(new)
        pickled = pickled.replace(old.encode(), new.encode())
    graded: Graded = pickle.loads(pickled)  # noqa: S301 - ours
    return replace(graded, grade=replace(graded.grade, hand_in=submission.hand_in))


def end(out: OutFolder, number: int) -> Iterator[tuple[str, float, int]]:
    """Do the steps that follow once all is graded; yield each one's name, seconds, and bytes written."""
    began = time.perf_counter()
    names = out.finished()
    yield "journal replayed", time.perf_counter() - began, (out.path / "journal.jsonl").stat().st_size
    began = time.perf_counter()
    stored = readable_grades(out, names)
    yield "grades read, as to go on", time.perf_counter() - began, 0
    yield from reading_costs(out, list(names)[:READ])
    grades = list(stored.values())
    if len(grades) != number:
        raise SystemExit(f"{len(grades)} grades of {number} are there")
    yield from class_costs(out, grades)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        other = OutFolder(Path(folder))
        assignment = load_assignment(find_assignment(ASSIGNMENT))
        class_page.write_similar(other, assignment, {one.submission_id: out.source(one) for one in grades})
        page = other.path / class_page.SIMILAR
        yield page.name, time.perf_counter() - began, page.stat().st_size


def reading_costs(out: OutFolder, names: Sequence[str]) -> Iterator[tuple[str, float, int]]:
    """Processor time of reading some of the grades without their evidence and with it, the least of three."""
    ways: dict[str, Callable[[], object]] = {
        "by one process": lambda: readable_grades(out, names, 1),
        "with evidence": lambda: [load_grade(out, name).verdict for name in names],
    }
    seconds = {name: min(_processor_time(read) for _ in range(3)) for name, read in ways.items()}
    for name, least in seconds.items():
        ratio = least / seconds["by one process"]
        yield f"{len(names)} {name}, {ratio:.1f} x", least, 0


def _processor_time(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def class_costs(out: OutFolder, grades: Sequence[Grade]) -> Iterator[tuple[str, float, int]]:
    """The files of a class by name, each with the seconds that it takes and its bytes."""
    makers: dict[str, Callable[[], Iterable[str]]] = {
        "junit.xml": lambda: junit.parts(grades),
        "gradebook.csv": lambda: [class_table.gradebook(grades)],
        "index.html": lambda: [report.render(grades, source_of=out.source_lines)],
    }
    for name, make in makers.items():
        began = time.perf_counter()
        size = sum(len(part.encode()) for part in make())
        yield name, time.perf_counter() - began, size


def differences(one: Path, other: Path) -> list[str]:
    """The files in which two graded classes differ, seconds apart."""
    names = sorted(str(path.relative_to(one)) for path in one.glob("grades/*/grade.json"))
    return [
        name
        for name in ("gradebook.csv", "index.html", "junit.xml", "similar.html", *names)
        if _comparable(one / name) != _comparable(other / name)
    ]


def _comparable(path: Path) -> object:
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    return _without_seconds(json.loads(text)) if path.suffix == ".json" else _TIME.sub("", text)


def _without_seconds(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: _without_seconds(held) for key, held in value.items() if key != "seconds"}
    return [_without_seconds(held) for held in value] if isinstance(value, list) else value


def main() -> None:
    """Grade the class and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, nargs="?", default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument(
        "--keep", type=Path, help="leave all files here; a class that was graded here is not graded again"
    )
    options, further = parser.parse_known_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="grader-many-"))
    try:
        _measure(options, further, folder)
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def _measure(options: argparse.Namespace, further: list[str], folder: Path) -> None:
    sandbox = ["local", "--i-trust-these-files"] if bubblewrap.trouble() else ["bubblewrap"]

    def command(handed_in: str, out: str) -> list[str]:
        options_of_all = ["--seed", "1", "--backend", "emulator", "--sandbox", *sandbox]
        given = [ASSIGNMENT, str(folder / handed_in), "-o", str(folder / out), "-j", str(options.jobs)]
        return ["grade", *given, *options_of_all, *further]

    def cache(name: str) -> Path:
        (folder / name).mkdir(parents=True)
        return folder / name

    start = [sys.executable, "-m", "grader"]
    if not (folder / "class").exists():
        make_class(folder / "class", options.number)
    if options.recorded:
        make_class(folder / "few", RECORDED)
        watched([*start, *command("few", "records")], cache("cache-0"))
        start = [sys.executable, "-m", "tests.bench.many", "--feed", str(folder / "records")]
    stored = folder / "seconds"
    if not stored.exists():
        whole = watched([*start, *command("class", "whole")], cache("cache-1"))
        _print(whole, options.number)
        stored.write_text(str(whole.seconds), encoding="ascii")
    for name, seconds, size in end(OutFolder(folder / "whole"), options.number):
        _say(f"  {name:<26}{seconds:8.2f} s {size / 1e6:10.2f} MB")
    again = watched([*start, *command("class", "whole")], folder / "cache-1")
    _say(f"taken up with nothing left to grade: {again.seconds:.1f} s, peak {_peak(again):.0f} MiB")
    if options.kills:
        seconds = float(stored.read_text(encoding="ascii"))
        _kill(options, [*start, *command("class", "killed")], cache("cache-2"), seconds)
        differing = differences(folder / "whole", folder / "killed")
        _say(f"files that differ from the uninterrupted class: {', '.join(differing[:8]) or 'none'}")


def _kill(options: argparse.Namespace, command: list[str], cache: Path, seconds: float) -> None:
    chance = random.Random(options.seed)  # noqa: S311 - moments, no secret
    for _ in range(options.kills):
        moment = chance.uniform(0, 0.8 * seconds / options.kills)
        watched(command, cache, until=moment)
        _say(f"killed after {moment:.1f} s")
    last = watched(command, cache)
    _say(f"gone on to the end: {last.seconds:.1f} s, peak {_peak(last):.0f} MiB")


def _peak(seen: Watched) -> float:
    return max((row[1] for row in seen.rows), default=0) / _MIB


def _print(seen: Watched, number: int) -> None:
    _say(f"{number} submissions in {seen.seconds:.1f} s, {seen.seconds / number:.3f} s each")
    settled = next((row[1] for row in seen.rows if row[0] >= SETTLED * seen.seconds), 0)
    _say(
        f"parent: peak {_peak(seen):.0f} MiB; {settled / _MIB:.0f} MiB after a quarter of the time, then "
        f"{60 * seen.slope() / _MIB:+.1f} MiB a minute, "
        f"{seen.slope() * seen.seconds / number / 1000:+.1f} kB a submission; "
        f"all below it: peak {max(row[2] for row in seen.rows) / _MIB:.0f} MiB"
    )
    _say(
        f"open files of the parent: {seen.rows[0][3]} at first, {seen.rows[-1][3]} at the end, most "
        f"{max(row[3] for row in seen.rows)}"
    )


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--feed"]:
        raise SystemExit(fed(Path(sys.argv[2]), sys.argv[3:]))
    main()
