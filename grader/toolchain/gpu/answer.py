"""Answer of the harness, read as untrusted input: JSON of a known form, arrays of a known size.

The files come out of a sandbox in which a student's kernel ran. Every number is checked for its type and
range; an array must be exactly the bytes that its launch was given room for. Anything else is our error.
`run_of` makes a `Run` with its findings of the harness's report on a launch.
"""

from __future__ import annotations

import io
import json
import threading
from tokenize import TokenError
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from grader.base.errors import OurError
from grader.model import Clause, Finding, FindingCode, FindingKind, Run
from grader.model.messages import worded
from grader.toolchain.gpu import WITNESS
from grader.toolchain.gpu.request import SECONDS, output_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from grader.model import Named
    from grader.toolchain.gpu.request import DeviceCase
    from grader.toolchain.sandbox import Result

MOST_BYTES = 32 * 2**20
MOST_DEPTH = 12
_HEADER_BYTES = 1024
_header_lock = threading.Lock()
"""NumPy reads a header with Python's own parser, of which two at once may end in a SystemError (3.11)."""

Text: TypeAlias = Annotated[str, StringConstraints(max_length=1000)]
Count: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]
Whole: TypeAlias = Annotated[int, Field(gt=-(2**63), lt=2**64)]
Amount: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class AnswerPart(BaseModel):
    """Part of an answer: nothing is converted, and nothing unknown passes."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class AboutDevice(AnswerPart):
    """The device as the harness saw it."""

    name: Text
    uuid: Text = ""
    compute_capability: list[Count]
    driver: Text = ""
    driver_cuda: Whole | Text = 0
    runtime: Whole | Text = 0
    cupy: Text = ""
    numpy: Text = ""
    multiprocessors: Count = 0
    l2_bytes: Count = 0
    memory_bytes: Count = 0


class WriteOutside(AnswerPart):
    """Elements around an array that a kernel wrote to; ``element`` counts from the array's first."""

    array: Text
    element: Whole
    count: Count


class AnsweredCase(AnswerPart):
    """Outcome of one launch."""

    name: Text
    state: Literal["done", "fault", "timeout", "refused", "lost"]
    error: Text = ""
    message: Text = ""
    seconds: Amount = 0.0
    outputs: dict[Text, Text] = {}
    changed: list[Text] = []
    outside: list[WriteOutside] = []
    places: dict[Text, Annotated[list[Count], Field(min_length=2, max_length=2)]] = {}


class KernelResources(AnswerPart):
    """Resources of a multiprocessor that a loaded kernel takes."""

    registers: Count = 0
    shared_bytes: Count = 0
    local_bytes: Count = 0
    max_threads: Count = 0
    blocks_per_multiprocessor: Count | None = None


class HarnessAnswer(AnswerPart):
    """``result.json``; ``timing`` is read by `grader.toolchain.gpu.timing`."""

    format: Literal[1]
    device: AboutDevice | None = None
    health: Text = "ok"
    cases: list[AnsweredCase] = []
    resources: dict[Text, KernelResources] = {}
    timing: dict[str, Any] | None = None
    seconds: dict[Text, Amount] = {}
    error: Text = ""


def read_answer(content: bytes | None) -> HarnessAnswer:
    """The harness's answer; raises OurError where there is none, or none that can be believed."""
    if content is None:
        raise OurError("the harness on the GPU left no answer")
    try:
        return HarnessAnswer.model_validate(_parsed(content))
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        path = ".".join(map(str, first["loc"]))[:200]
        raise OurError(
            f"the harness's answer is not of the form it must have: {path}: {first['msg']}"
        ) from None
    except (ValueError, RecursionError) as problem:
        raise OurError(f"the harness's answer cannot be read: {problem}"[:300]) from None


def _parsed(content: bytes) -> Any:  # noqa: ANN401 - JSON
    """JSON without what Python adds to it: no NaN, no key twice, no depth without end."""
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has {len(content)} bytes")
    text = content.decode("utf-8")
    if _depth(text) > MOST_DEPTH:
        raise ValueError("it is nested too deeply")
    return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_key_twice)


def _depth(text: str) -> int:
    """Maximal depth of brackets; those inside of texts count too, which only makes us stricter."""
    steps = np.frombuffer(text.encode(), np.uint8)
    opening, closing = ((steps == first) | (steps == second) for first, second in (b"[{", b"]}"))
    return int(np.max(np.cumsum(opening.astype(np.int64) - closing), initial=0))


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key is there twice")
    return record


def read_array(result: Result, file: str, like: NDArray[Any]) -> NDArray[Any]:
    """The array in a file that came back; it must have the shape and type of ``like``. Raises OurError."""
    content = result.file(file)
    if content is None:
        raise OurError(f"the harness left no {file}, or one that is too large")
    try:
        shape, dtype, start = array_header(content)
    except (ValueError, SyntaxError, TypeError, EOFError) as problem:
        raise OurError(f"{file} is no array: {problem}"[:200]) from None
    if shape != like.shape or dtype != like.dtype or len(content) - start != like.nbytes:
        raise OurError(
            f"{file} holds {dtype}{list(shape)} where {like.dtype}{list(like.shape)} was asked for"
        )
    return np.frombuffer(content, like.dtype, offset=start).reshape(like.shape)


def array_header(content: bytes) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, type and length of the header of an ``.npy`` file (NumPy's format, version 1.0), C order.

    Raises the errors of NumPy for what is none: ValueError as a rule.
    """
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an unexpected version of the format")
    try:
        with _header_lock:
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=_HEADER_BYTES)
    except TokenError as problem:  # NumPy splits a header that Python does not read into words
        raise ValueError(str(problem)) from None
    if dtype.hasobject or (fortran and len(shape) > 1):
        raise ValueError("objects, or an order that was not asked for")
    return shape, dtype, stream.tell()


def run_of(case: DeviceCase, answered: AnsweredCase | None, result: Result, file: str) -> Run:
    """The run of one case; ``file`` is the student's, for findings. A failure of ours is in its ``error``."""
    if answered is None:
        return Run(completed=False, error="the harness on the GPU did not come to this case")
    if answered.state == "lost":
        return Run(completed=False, error=f"the process on the GPU was lost: {answered.message}")
    stopped = _stopped(answered, file)
    outside = tuple(_written_outside(write, case, file) for write in answered.outside)
    if stopped is not None:
        launched = answered.state != "refused"
        return Run(findings=(*outside, stopped), completed=False, launched=launched, seconds=answered.seconds)
    try:
        outputs = _outputs(case, result)
    except OurError as problem:
        return Run(completed=False, error=str(problem))
    names = {argument.name for argument in case.arguments}
    changed = tuple(name for name in answered.changed if name in names)
    return Run(outputs=outputs, changed_inputs=changed, findings=outside, seconds=answered.seconds)


_STOPS = {
    "timeout": (FindingKind.TIMEOUT, FindingCode.DEVICE_TIMEOUT),
    "refused": (FindingKind.FAULT, FindingCode.LAUNCH_REFUSED),
    "fault": (FindingKind.FAULT, FindingCode.DEVICE_STOPPED),
}
"""States of a launch that did not come to its end."""


def _stopped(answered: AnsweredCase, file: str) -> Finding | None:
    """The finding for a launch that did not come to its end."""
    if answered.state not in _STOPS:
        return None
    kind, code = _STOPS[answered.state]
    reason = f"{answered.message} ({answered.error})" if answered.error else answered.message
    details = (("reason", reason),)
    if kind is FindingKind.TIMEOUT:
        details = (("seconds", f"{SECONDS['case']:.0f}"),)
    return worded(Finding(kind, file=file, witnesses=(WITNESS,), code=code, details=details))


def _written_outside(write: WriteOutside, case: DeviceCase, file: str) -> Finding:
    """Finding for a write to a red zone; it is unknown which line did it."""
    arrays = {a.name: (a.label, a.value.size) for a in case.arguments if isinstance(a.value, np.ndarray)}
    array, size = arrays.get(write.array, ("an array", 0))
    more = (Clause("and-more", (("number", write.count - 1),)),) if write.count > 1 else ()
    finding = Finding(
        FindingKind.OUT_OF_BOUNDS,
        file=file,
        address=f"{array}[{write.element}]",
        count=max(1, write.count),
        witnesses=(WITNESS,),
        code=FindingCode.WRITTEN_AROUND_ARRAY,
        details=(
            ("side", (Clause("before-array" if write.element < 0 else "beyond-array"),)),
            ("elements", size),
            ("index", write.element),
            ("more", more),
        ),
    )
    return worded(finding)


def _outputs(case: DeviceCase, result: Result) -> Named[NDArray[Any]]:
    arrays: Iterable[tuple[str, NDArray[Any]]] = (
        (a.name, a.value)
        for a in case.arguments
        if a.direction in ("out", "inout") and isinstance(a.value, np.ndarray)
    )
    return tuple((name, read_array(result, output_file(case.index, name), like)) for name, like in arrays)
