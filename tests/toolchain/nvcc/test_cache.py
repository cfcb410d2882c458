"""Builds that are kept: what comes back, and when not to believe it."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.base.data_files import data_root
from grader.model import Build, Clause, Finding, FindingKind, Resources, Severity, Submission
from grader.model.messages import remarked
from grader.toolchain.nvcc import LIMITS, build, cache, find_toolchain
from grader.toolchain.nvcc.runtime import own_object
from grader.toolchain.nvcc.toolchain import Tools
from grader.toolchain.sandbox import Job, LocalSandbox, Result
from tests.toolchain.nvcc.conftest import FILE, INTERFACE, KERNEL, QUICK

if TYPE_CHECKING:
    from pathlib import Path

BUILD = Build(
    ok=True,
    findings=(Finding(FindingKind.COMPILE, "no × body", file=FILE, line=3, block=(1, 2, 3)),),
    warnings=(
        remarked(Finding(FindingKind.COMPILE, "unused", severity=Severity.WARNING), Clause("kernel-alone")),
    ),
    ptx=".version 9.0\n",
    constants=(("TILE_SIZE", 16),),
    resources=Resources(registers=32),
    seconds=(("compile", 0.5),),
    parameter_bytes=(8, 8, 4),
    shared_shapes=(("A_tile", (16, 17)),),
)
SUBMISSION = Submission("ada", FILE, KERNEL.encode(), "digest")


class Counting(LocalSandbox):
    """The local sandbox, counting its jobs."""

    def __init__(self) -> None:
        self.jobs = 0

    def run(self, job: Job) -> Result:
        """Run the job and count it."""
        self.jobs += 1
        return super().run(job)


def test_a_build_comes_back_as_it_was(tmp_path: Path) -> None:
    """Every field survives, enumerations and tuples included."""
    cache.store(tmp_path, "abcd", BUILD)
    assert cache.load(tmp_path, "abcd") == BUILD
    assert cache.load(tmp_path, "abce") is None


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b"\xff\n{}", None], ids=["empty", "json", "binary", "flipped"]
)
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, damage: bytes | None) -> None:
    """Neither a short write nor a flipped bit becomes a grade."""
    cache.store(tmp_path, "abcd", BUILD)
    path = tmp_path / "ab" / "abcd.json"
    path.write_bytes(path.read_bytes().replace(b"9.0", b"9.1") if damage is None else damage)
    assert cache.load(tmp_path, "abcd") is None


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    """Nothing is stored and nothing fails where a file stands in the folder's place."""
    (tmp_path / "file").write_text("")
    cache.store(tmp_path / "file", "abcd", BUILD)
    assert cache.load(tmp_path / "file", "abcd") is None


def test_no_half_written_entry_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up leaves nothing behind."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.toolchain.nvcc.cache.os.replace", full)
    cache.store(tmp_path, "abcd", BUILD)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_key_knows_everything_that_decides_a_build() -> None:
    """Another source, file name, header, interface, limit or compiler is another key."""
    toolchain = find_toolchain()
    keys = [
        cache.digest(submission, interface, chain, limits)
        for submission, interface, chain, limits in (
            (SUBMISSION, INTERFACE, toolchain, LIMITS),
            (replace(SUBMISSION, source=b"x"), INTERFACE, toolchain, LIMITS),
            (replace(SUBMISSION, file="other.cu"), INTERFACE, toolchain, LIMITS),
            (replace(SUBMISSION, headers=(("a.h", b""),)), INTERFACE, toolchain, LIMITS),
            (SUBMISSION, replace(INTERFACE, kernel="other"), toolchain, LIMITS),
            (SUBMISSION, replace(INTERFACE, constants=()), toolchain, LIMITS),
            (SUBMISSION, replace(INTERFACE, include=(("a.h", ""),)), toolchain, LIMITS),
            (SUBMISSION, INTERFACE, replace(toolchain, version="13.0.0"), LIMITS),
            (SUBMISSION, INTERFACE, toolchain, QUICK),
        )
    ]
    assert len(set(keys)) == len(keys)
    assert cache.digest(replace(SUBMISSION, id="bob"), INTERFACE, toolchain, LIMITS) == keys[0]
    assert cache.digest(SUBMISSION, replace(INTERFACE, grid=()), toolchain, LIMITS) == keys[0]


def test_what_other_code_of_ours_built_is_not_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that an older version linked with the toolkit's runtime cannot run on the emulator."""
    toolchain = find_toolchain()
    today = cache.digest(SUBMISSION, INTERFACE, toolchain, LIMITS)
    runtime = tmp_path / "sandbox" / "runtime"
    shutil.copytree(data_root() / "sandbox" / "runtime", runtime)
    monkeypatch.setattr(cache, "data_root", lambda: tmp_path)
    try:
        cache.builder_digest.cache_clear()
        assert cache.digest(SUBMISSION, INTERFACE, toolchain, LIMITS) == today
        (runtime / "calls.cpp").write_text("// another stand-in")
        cache.builder_digest.cache_clear()
        assert cache.digest(SUBMISSION, INTERFACE, toolchain, LIMITS) != today
    finally:
        cache.builder_digest.cache_clear()


def test_the_second_build_runs_nothing(tmp_path: Path) -> None:
    """The same file is compiled once; only its time is another. The first also looks at the headers."""
    sandbox, toolchain = Counting(), find_toolchain()
    first = build(SUBMISSION, INTERFACE, sandbox=sandbox, toolchain=toolchain, cache=tmp_path)
    jobs = sandbox.jobs
    again = build(SUBMISSION, INTERFACE, sandbox=sandbox, toolchain=toolchain, cache=tmp_path)
    assert jobs == sandbox.jobs == 6, (
        "preprocessing, two compilers, ptxas; the headers, plainly and with macros"
    )
    assert replace(again, seconds=first.seconds) == first
    assert [name for name, _ in again.seconds] == ["cache"]


def test_refusals_are_kept_but_time_outs_are_not(tmp_path: Path) -> None:
    """A failure that might not happen another time is not stored."""
    sandbox, toolchain = Counting(), find_toolchain()
    wrong = replace(SUBMISSION, source=b"#error wrong\n")
    endless = replace(SUBMISSION, source=b'#include "/dev/zero"\n')
    for submission, jobs in ((wrong, 1), (wrong, 1), (endless, 2), (endless, 3)):
        built = build(
            submission, INTERFACE, sandbox=sandbox, toolchain=toolchain, cache=tmp_path, limits=QUICK
        )
        assert not built.ok
        assert sandbox.jobs == jobs


def test_a_submission_with_a_problem_is_not_compiled(tmp_path: Path) -> None:
    """The build repeats the reason why nothing gradable was handed in."""
    problem = Finding(FindingKind.COMPILE, "no .cu file")
    sandbox = Counting()
    submission = replace(SUBMISSION, problem=problem)
    built = build(submission, INTERFACE, sandbox=sandbox, toolchain=find_toolchain(), cache=tmp_path)
    assert (built.ok, built.findings, sandbox.jobs) == (False, (problem,), 0)


class Leisurely(Counting):
    """One whose jobs take long enough for others to come."""

    def run(self, job: Job) -> Result:
        """Count the job, wait, and run it."""
        result = super().run(job)
        time.sleep(0.3)
        return result


def test_what_all_need_is_compiled_by_one(tmp_path: Path) -> None:
    """Three that meet an empty cache at once: one compiles an object file of ours, the others wait for it."""
    sandbox = Leisurely()
    tools = Tools(find_toolchain(), sandbox, tmp_path)
    options, files = ("-c", "part.cpp"), (("part.cpp", b"int part;\n"),)
    with ThreadPoolExecutor(3) as pool:
        compiled = list(pool.map(lambda _: own_object(tools, "parts", options, files, "part.o"), range(3)))
    assert sandbox.jobs == 1
    assert len(set(compiled)) == 1
    assert compiled[0].startswith(b"\x7fELF")
