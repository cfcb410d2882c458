"""A supervisor's answer is read as hostile: only what was asked for, within its limits, whole."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.base.errors import StorageError, ToolMissing
from grader.toolchain.sandbox import Job, Limits, Status, exchange
from grader.toolchain.sandbox.supervisor import HEAD

JOB = Job(("prog",), wanted=("C.npy", "log"), limits=Limits(file_bytes=100, output_bytes=50))
GOOD: dict[str, Any] = {
    "status": "exit",
    "returncode": 0,
    "seconds": 0.5,
    "starved": False,
    "cleared": True,
    "streams": [2, 1],
    "files": [["C.npy", 3]],
}


def answer(head: object, rest: bytes = b"ooeabc") -> bytes:
    """An answer with any head."""
    text = json.dumps(head).encode()
    return HEAD.pack(len(text)) + text + rest


def test_an_honest_answer_is_read() -> None:
    """Status, both streams, and the file, each at its place."""
    result, cleared = exchange.read(answer(GOOD), JOB)
    assert result.outcome.status is Status.EXIT
    assert (result.outcome.stdout, result.outcome.stderr, result.files) == (b"oo", b"e", (("C.npy", b"abc"),))
    assert cleared


@pytest.mark.parametrize(
    "change",
    [
        {"files": [["secret", 3]]},
        {"files": [["C.npy", 3], ["C.npy", 0]]},
        {"files": [["C.npy", 101]]},
        {"files": [["C.npy", -1]]},
        {"files": [["C.npy", 3.0]]},
        {"files": [["C.npy", True]]},
        {"files": {"C.npy": 3}},
        {"files": [[["C.npy"], 3]]},
        {"streams": [51, 0]},
        {"streams": [2]},
        {"streams": "21"},
        {"status": "fine"},
        {"returncode": 10**9},
        {"returncode": "0"},
        {"seconds": float("nan")},
        {"seconds": -1},
        {"seconds": 1e9},
        {"seconds": None},
    ],
    ids=str,
)
def test_an_answer_with_something_wrong_is_none(change: dict[str, Any]) -> None:
    """Nothing of it is believed: the supervisor sends no such answer, so a job has."""
    with pytest.raises(exchange.CutShort):
        exchange.read(answer(GOOD | change), JOB)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\0\0",
        HEAD.pack(2**62),
        HEAD.pack(5) + b"{}",
        answer([]),
        answer("text"),
        answer(GOOD, b"ooeab"),
        answer(GOOD, b"ooeabcd"),
        HEAD.pack(200_000) + b"[" * 100_000 + b"]" * 100_000,
        HEAD.pack(4) + b"\xff\xfe{}",
    ],
    ids=["nothing", "cut", "huge", "short", "list", "text", "less", "more", "deep", "no-text"],
)
def test_what_is_no_answer_is_cut_short(raw: bytes) -> None:
    """Each of these ends as the same exception."""
    with pytest.raises(exchange.CutShort):
        exchange.read(raw, JOB)


@given(st.binary(max_size=200))
def test_no_bytes_do_more_than_be_refused(raw: bytes) -> None:
    """Arbitrary bytes are cut short, and raise no other exception."""
    with pytest.raises(exchange.CutShort):
        exchange.read(raw, JOB)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(
        st.sampled_from([*GOOD, "more"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
        ),
    )
)
def test_no_head_does_more_than_be_refused(change: dict[str, Any]) -> None:
    """A head of the right form with any values is read, or cut short."""
    try:
        result, _ = exchange.read(answer(GOOD | change), JOB)
    except exchange.CutShort:
        return
    assert set(dict(result.files)) <= set(JOB.wanted)


def test_a_missing_program_and_a_full_folder_are_ours() -> None:
    """They happen before the job runs, so it cannot have to do with them."""
    with pytest.raises(ToolMissing, match="`prog` is not in the sandbox"):
        exchange.read(answer({"missing": "prog"}), JOB)
    with pytest.raises(StorageError, match="do not fit"):
        exchange.read(answer({"problem": "No space left on device"}), JOB)


def test_names_that_leave_the_folder_are_refused() -> None:
    """A caller's mistake is found before anything starts."""
    for job in (Job(("x",), (("../y", b""),)), Job(("x",), wanted=("/etc/passwd",))):
        with pytest.raises(ValueError, match="no name for a file"):
            exchange.request(job, "/job", ())


def test_the_supervisor_needs_nothing_but_its_own_text() -> None:
    """Sent as text to a Python without site packages, it runs a job and answers."""
    job = Job(
        ("/bin/sh", "-c", "cat; cat given >made; echo oops >&2; exit 3"),
        (("given", b"12"),),
        ("made", "gone"),
        Limits(memory_bytes=0),
        stdin=b"in",
    )
    command = [sys.executable, *exchange.supervisor_command()]
    request = exchange.request(job, "/tmp", (("PATH", "/usr/bin:/bin"),))  # noqa: S108 - any folder serves
    done = subprocess.run(command, input=request, capture_output=True, check=True)
    result, cleared = exchange.read(done.stdout, job)
    assert (result.outcome.status, result.outcome.returncode) == (Status.EXIT, 3)
    assert (result.outcome.stdout, result.outcome.stderr) == (b"in", b"oops\n")
    assert (result.files, cleared) == ((("made", b"12"),), True)
