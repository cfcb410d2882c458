"""Messages: whatever bytes a program sends, they end as a record or as a refusal."""

from __future__ import annotations

import re
import socket
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.base.data_files import data_root
from grader.running.device import protocol, requests
from grader.running.device.device import Device
from grader.running.device.errors import ERRORS_OF_CALLS
from grader.running.device.memory import DeviceMemory
from grader.running.device.protocol import ANSWER, MAY_BE_POSTED, POSTED, REQUEST, ProtocolError
from grader.running.device.requests import OPERATIONS, Hello
from grader.running.device.service import Session
from tests.running.device.hosts import NoLaunches

_HELLO = protocol.write(Hello(protocol.VERSION, 0))


def _served(*messages: bytes) -> str:
    """Return why a session with a program that sends these bytes, and then closes its end, was cut off."""
    ours, theirs = socket.socketpair()
    device = Device(DeviceMemory(1 << 20), NoLaunches())
    theirs.settimeout(0.01)
    with theirs:
        theirs.sendall(b"".join(messages))
        theirs.shutdown(socket.SHUT_WR)
        cut = Session(device, ours, time.monotonic() + 10).run()
    device.memory.close()
    return cut


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_refused_or_served(content: bytes) -> None:
    """After a proper greeting, and in place of one."""
    assert isinstance(_served(content), str)
    assert isinstance(_served(_HELLO, content), str)


@settings(max_examples=500, deadline=None)
@given(st.integers(1, len(OPERATIONS)), st.binary(max_size=120), st.integers(0, 2**64 - 1))
def test_any_numbers_in_any_message_are_refused_or_served(
    operation: int, payload: bytes, caller: int
) -> None:
    """Heads that fit their payloads, so that every call is reached."""
    assert isinstance(_served(_HELLO, REQUEST.pack(operation, len(payload), caller) + payload), str)


@pytest.mark.parametrize("kind", OPERATIONS)
def test_a_message_of_the_right_size_is_read_and_one_of_another_is_not(kind: type[requests.Message]) -> None:
    """One byte less or more is no message, but for kernels' parameters, whose size the kernel defines."""
    numbers = kind.LAYOUT.rstrip("tbc")
    last = {"t": "name", "b": b"bytes", "c": (1, 2)}.get(kind.LAYOUT[len(numbers) :])
    values = [*range(len(numbers)), *([] if last is None else [last])]
    message = kind(*values)
    head, payload = protocol.write(message)[: REQUEST.size], protocol.write(message)[REQUEST.size :]
    assert protocol.read_head(head)[:3] == (kind, len(payload), 0)
    assert protocol.read(kind, payload) == message
    wrong = [payload[:-1]] if payload else []
    for other in [*wrong, payload + b"\0"]:
        if not kind.LAYOUT.endswith("b") or len(other) < len(payload) - len(b"bytes"):
            with pytest.raises(ProtocolError):
                protocol.read(kind, other)


def test_a_program_introduces_itself_first_and_once() -> None:
    """Whoever speaks before or again is no runtime of ours."""
    info = protocol.write(requests.MemoryInfo())
    assert "introduces itself" in _served(info)
    assert "introduces itself" in _served(_HELLO, _HELLO)
    assert _served(_HELLO, info) == ""


def _answers(*messages: bytes) -> int:
    """The bytes of all answers to these messages, which come at once."""
    ours, theirs = socket.socketpair()
    device = Device(DeviceMemory(1 << 20), NoLaunches())
    with theirs:
        theirs.sendall(b"".join(messages))
        theirs.shutdown(socket.SHUT_WR)
        assert Session(device, ours, time.monotonic() + 10).run() == ""
        with theirs.makefile("rb") as answers:
            size = len(answers.read())
    device.memory.close()
    return size


def test_what_is_posted_is_not_answered_whatever_becomes_of_it() -> None:
    """A record of an event that is not there comes to nothing: another thread may have destroyed it."""
    posted = [protocol.write(requests.RecordEvent(7, 0), posted=True) for _ in range(3000)]
    asked = protocol.write(requests.RecordEvent(7, 0))
    assert _answers(_HELLO, *posted, asked) == 2 * ANSWER.size


@pytest.mark.parametrize("kind", [kind for kind in OPERATIONS if kind not in MAY_BE_POSTED])
def test_only_what_cannot_fail_is_posted(kind: type[requests.Message]) -> None:
    """A launch or a copy whose code is never asked for would be no call of CUDA's."""
    number = OPERATIONS.index(kind) + 1
    assert _served(_HELLO, REQUEST.pack(number | POSTED, 0, 0)).endswith(f"{kind.__name__} needs an answer")


def test_a_program_that_sends_no_message_is_cut_off_at_its_deadline() -> None:
    """Half a head is all it sends."""
    ours, theirs = socket.socketpair()
    device = Device(DeviceMemory(1 << 20), NoLaunches())
    with theirs:
        theirs.sendall(_HELLO[:7])
        cut = Session(device, ours, time.monotonic() + 0.2).run()
    device.memory.close()
    assert cut == "the program was still running when its time was over"


def test_errors_have_the_words_that_the_stand_in_gives_a_program() -> None:
    """The words that a report quotes are those that `cudaGetErrorString` prints."""
    table = (data_root() / "sandbox/runtime/errors.inc").read_text(encoding="utf-8")
    words = {int(code): text for code, text in re.findall(r'\{(\d+), "\w+", "([^"]*)"\}', table)}
    assert {code: words[code] for code in ERRORS_OF_CALLS} == ERRORS_OF_CALLS
