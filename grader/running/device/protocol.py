"""Messages of a program to its device: bytes in, checked records out, and nothing else reads them.

A request is a head (operation, bytes of the payload, where the program called the runtime) and a payload of
plain numbers. An answer is a head (error code, bytes), device text, and a payload; data
of copies follow it. Requests that cannot fail, as far as the program's side knows, may be *posted*: a bit in
the operation means that no answer is awaited, and several of them come at once. The program's side is
``sandbox/runtime/wire.hpp``. Every number here is only known to have the right size: what it means is checked
by the code that acts on it.
"""

from __future__ import annotations

import struct
from dataclasses import fields
from typing import NamedTuple

from grader.running.device.requests import OPERATIONS, Fault, Message, RecordEvent, WaitForEvent

VERSION = 3
REQUEST = struct.Struct("<IIQ")
ANSWER = struct.Struct("<iIII")

MOST_BYTES = 1 << 16
"""Bytes that a payload may have: parameters of a kernel (4 KiB) and names fit by far."""

MOST_CALLERS = 16


class ProtocolError(Exception):
    """Error for bytes of a program that are no message; the argument gives the reason."""


WITHOUT_ANSWER = (Fault,)

POSTED = 1 << 31
MAY_BE_POSTED = (RecordEvent, WaitForEvent)
"""Requests that need no answer where the handles exist: these calls wait for nothing, and return nothing."""

_COUNT = struct.Struct("<I")


class Head(NamedTuple):
    """Kind of the request that follows, the bytes of its payload, and the call site of the runtime."""

    kind: type[Message]
    size: int
    caller: int
    wants_answer: bool


def read_head(head: bytes) -> Head:
    """The head of a request; raises ProtocolError."""
    number, size, caller = REQUEST.unpack(head)
    posted, number = number & POSTED, number & ~POSTED
    if not 1 <= number <= len(OPERATIONS):
        raise ProtocolError(f"there is no operation {number}")
    kind = OPERATIONS[number - 1]
    if posted and kind not in MAY_BE_POSTED:
        raise ProtocolError(f"{kind.__name__} needs an answer")
    if size > MOST_BYTES:
        raise ProtocolError(f"a payload of {size} bytes")
    return Head(kind, size, caller, not posted and kind not in WITHOUT_ANSWER)


def _shape(kind: type[Message]) -> tuple[struct.Struct, str]:
    """The plain numbers of a payload, and what comes behind them: text, bytes, callers, or nothing."""
    numbers = kind.LAYOUT.rstrip("tbc")
    return struct.Struct("<" + numbers), kind.LAYOUT[len(numbers) :]


_SHAPES = {kind: _shape(kind) for kind in OPERATIONS}


def read(kind: type[Message], payload: bytes) -> Message:
    """The record in a payload; raises ProtocolError unless it is exactly one."""
    values: list[int | str | bytes | tuple[int, ...]] = []
    numbers, last = _SHAPES[kind]
    if len(payload) < numbers.size:
        raise ProtocolError(f"{kind.__name__} is cut short")
    values += numbers.unpack_from(payload)
    rest = payload[numbers.size :]
    if last == "b":
        values.append(rest)
    elif last:
        values.append(_text(rest) if last == "t" else _callers(rest))
    elif rest:
        raise ProtocolError(f"{kind.__name__} has {len(rest)} bytes too many")
    return kind(*values)  # type: ignore[arg-type]  # the layout beside the fields says which types they are


def _text(rest: bytes) -> str:
    """A text after its length, of one line: it is shown to people."""
    content = _counted(rest, 1)
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError:
        raise ProtocolError("a name that is not ASCII") from None
    if not text.isprintable():
        raise ProtocolError("a name with control characters")
    return text


def _callers(rest: bytes) -> tuple[int, ...]:
    """Addresses after their number."""
    content = _counted(rest, 8)
    if len(content) > 8 * MOST_CALLERS:
        raise ProtocolError("too many callers")
    return struct.unpack(f"<{len(content) // 8}Q", content)


def _counted(rest: bytes, width: int) -> bytes:
    if len(rest) < _COUNT.size:
        raise ProtocolError("a count is missing")
    (count,) = _COUNT.unpack_from(rest)
    content = rest[_COUNT.size :]
    if len(content) != count * width:
        raise ProtocolError(f"{len(content)} bytes where {count} items of {width} are announced")
    return content


def answer(code: int, payload: bytes = b"", printed: bytes = b"", complaints: bytes = b"") -> bytes:
    """An answer as it is sent, with what kernels printed and what assertions said since the last one."""
    return ANSWER.pack(code, len(payload), len(printed), len(complaints)) + printed + complaints + payload


def write(message: Message, caller: int = 0, *, posted: bool = False) -> bytes:
    """A request as the stand-in would send it, without the data that may follow; for tests and attacks."""
    kind = type(message)
    values = [getattr(message, field.name) for field in fields(message)]
    numbers, last = _SHAPES[kind]
    payload = numbers.pack(*values[:-1] if last else values)
    if last == "b":
        payload += values[-1]
    elif last == "t":
        payload += _COUNT.pack(len(values[-1])) + values[-1].encode()
    elif last == "c":
        payload += _COUNT.pack(len(values[-1])) + struct.pack(f"<{len(values[-1])}Q", *values[-1])
    return REQUEST.pack(OPERATIONS.index(kind) + 1 | POSTED * posted, len(payload), caller) + payload
