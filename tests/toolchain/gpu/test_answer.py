"""Reading what came out of the sandbox: what is not exactly as it must be is our error, in words."""

from __future__ import annotations

import gc
import io
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from grader.base.errors import OurError
from grader.toolchain.gpu.answer import read_answer, read_array
from grader.toolchain.gpu.request import npy
from grader.toolchain.sandbox import Outcome, Result, Status

CASE = {"name": "0", "state": "done", "seconds": 0.001, "outputs": {"C": "out/0-C.npy"}}
LIKE = np.zeros((3, 5), np.float32)


def _answer(**changes: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps({"format": 1, "cases": [CASE], **changes}).encode()


def _result(content: bytes | None) -> Result:
    files = () if content is None else (("out/0-C.npy", content),)
    return Result(Outcome(Status.EXIT, 0, b"", b"", 0.1), files)


def test_a_sound_answer_is_read() -> None:
    """With what it leaves out at its default."""
    answer = read_answer(_answer())
    assert (answer.cases[0].state, answer.health, answer.timing) == ("done", "ok", None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "left no answer"),
        (b"", "cannot be read"),
        (b"{", "cannot be read"),
        (b'{"format": 1} {}', "cannot be read"),
        (b'{"format": 1, "format": 1}', "twice"),
        (b'{"format": 2}', "format"),
        (b"[]", "not of the form"),
        (b'{"format": 1, "health": 3}', "health"),
        (b'{"format": 1, "more": 3}', "more"),
        (b'{"format": 1, "seconds": {"run": NaN}}', "NaN"),
        (b'{"format": 1, "seconds": {"run": 1e999}}', "seconds.run"),
        (b'{"format": 1, "seconds": {"run": -1}}', "seconds.run"),
        (b"[" * 100_000 + b"]" * 100_000, "nested"),
        (b'{"format": 1, "health": "\xff"}', "cannot be read"),
        (b" " * (32 * 2**20 + 1), "bytes"),
        (_answer(cases=[{**CASE, "state": "passed"}]), "cases.0.state"),
        (_answer(cases=[{**CASE, "name": "x" * 2000}]), "cases.0.name"),
        (_answer(cases=[{**CASE, "places": {"A": [1, 2, 3]}}]), "cases.0.places.A"),
        (_answer(cases=[{**CASE, "outside": [{"array": "C", "element": 2**70, "count": 1}]}]), "element"),
    ],
)
def test_anything_else_is_our_error(content: bytes | None, message: str) -> None:
    """The message names what is wrong, and repeats none of it at length."""
    with pytest.raises(OurError, match=message) as caught:
        read_answer(content)
    assert len(str(caught.value)) < 600


def test_an_array_comes_back_as_it_was() -> None:
    """Bit for bit, NaN payloads included."""
    sent = np.arange(15, dtype=np.float32).reshape(3, 5)
    sent.view(np.uint32)[1, 1] = 0x7FD15EA5
    assert read_array(_result(npy(sent)), "out/0-C.npy", LIKE).tobytes() == sent.tobytes()


def _saved(array: np.ndarray[Any, Any], *, pickled: bool = False) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=pickled)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x02\x00" + bytes(100),
        b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535,
        _saved(np.zeros((3, 4), np.float32)),
        _saved(np.zeros((15,), np.float32)),
        _saved(np.zeros((3, 5), np.float64)),
        _saved(np.zeros((3, 5), np.dtype(">f4"))),
        _saved(np.asfortranarray(np.zeros((3, 5), np.float32))),
        _saved(np.array([[{}] * 5] * 3, object), pickled=True),
        npy(LIKE) + b"x",
        npy(LIKE)[:-1],
        b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (-3, -5), }      \n"
        + bytes(60),
        b"\x93NUMPY\x01\x00\x26\x00{'descr': __import__('os').getcwd(), }\n" + bytes(60),
    ],
)
def test_an_array_that_is_not_what_was_asked_for_is_our_error(content: bytes | None) -> None:
    """Another shape, type, order or length, objects, or no array at all."""
    with pytest.raises(OurError, match=r"out/0-C\.npy"):
        read_array(_result(content), "out/0-C.npy", LIKE)


def test_arrays_are_read_by_several_threads_at_once() -> None:
    """Python 3.11 ends a parse with a SystemError where another thread, at another depth, comes between."""
    content = npy(LIKE)

    def read(depth: int) -> None:
        if depth:
            read(depth - 1)
        else:
            for _ in range(500):
                read_array(_result(content), "out/0-C.npy", LIKE)

    def give_way(*_: object) -> None:
        time.sleep(0)

    threshold = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(20)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(read, range(4)))
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(give_way)
