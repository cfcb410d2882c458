"""Results of a job under a sanitizer tool, made from captures or from text."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.model import Argument, Launch
from grader.toolchain.gpu.request import ANSWER, DeviceCase
from grader.toolchain.sandbox import Outcome, Result, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

CAPTURES = Path(__file__).with_name("captures")
ADDRESS = 0x7F0000800000
EMPTY = '<?xml version="1.0" encoding="utf-8"?>\n<ComputeSanitizerOutput/>\n'


FEW = 4
"""Records of one place in the code that a capture keeps: a launch of 64 threads leaves 64 that are alike."""

_RECORD_ENDS = re.compile(r"(?<=</record>\n)|(?<=^========= \n)", re.MULTILINE)
_PLACE = re.compile(r"<pc>\w+</pc>|    at \S+")


def shortened(text: str) -> str:
    """The XML or the log of a tool with the first few records of each place; a log's summary counts those."""
    counts: Counter[str] = Counter()
    kept = []
    for piece in _RECORD_ENDS.split(text):
        place = _PLACE.search(piece)
        if place:
            counts[place[0]] += 1
        if not place or counts[place[0]] <= FEW:
            kept.append(piece)
    number = sum(min(count, FEW) for count in counts.values())
    return re.sub(r"(?<=ERROR SUMMARY: )\d+", str(number), "".join(kept))


def document(*records: str) -> str:
    """A complete XML document with these records."""
    body = "".join(records)
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<ComputeSanitizerOutput>\n{body}</ComputeSanitizerOutput>\n'
    )


def access(
    function: str = "grader_case_0", line: int = 3, thread: int = 0, address: int = ADDRESS + 160
) -> str:
    """A record of memcheck's: a write of 4 bytes out of bounds."""
    index = "".join(f"<{axis}>{{}}</{axis}>" for axis in "xyz")
    who = f"<threadIdx>{index.format(thread, 0, 0)}</threadIdx><blockIdx>{index.format(0, 0, 0)}</blockIdx>"
    what = "<space>__global__</space><size>4</size><direction>write</direction><error>out of bounds</error>"
    where = f"<func>{function}</func><path>/build/student_source.cu</path><line>{line}</line>"
    return (
        f"<record><kind>Precise</kind><level>Error</level><who>{who}</who>"
        f"<what>{what}<address>{address:#x}</address></what><where>{where}</where></record>\n"
    )


def log(errors: int, *lines: str) -> str:
    """A log of memcheck's."""
    text = "".join(f"========= {line}\n" for line in lines)
    return f"========= COMPUTE-SANITIZER\n{text}========= ERROR SUMMARY: {errors} errors\n"


def device_cases(count: int = 1, shape: tuple[int, ...] = (40,)) -> tuple[DeviceCase, ...]:
    """JobLaunches of one block with an ``out`` array ``a`` and an ``in`` array ``b``."""
    arrays = (("a", "out"), ("b", "in"))
    arguments = tuple(Argument(name, how, np.zeros(shape, np.float32)) for name, how in arrays)
    return tuple(DeviceCase(index, Launch((1, 1, 1), (64, 1, 1)), arguments) for index in range(count))


def answer(states: Iterable[str] = ("done",), **fields: Any) -> bytes:  # noqa: ANN401 - JSON
    """The harness's answer: cases in these states, their arrays 512 bytes apart."""
    places = {"a": [ADDRESS, 160], "b": [ADDRESS + 512, 160]}
    cases = [{"name": str(at), "state": state, "places": places} for at, state in enumerate(states)]
    return json.dumps({"format": 1, "cases": cases, **fields}).encode()


def left(
    tool: str,
    xml: str | bytes | None = EMPTY,
    log_text: str | None = None,
    *,
    status: int | Status = 0,
    answered: bytes | None = None,
) -> Result:
    """A job's result; by itself, one that found nothing and whose only case was launched."""
    summary = "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
    clean = f"========= COMPUTE-SANITIZER\n========= {summary}\n" if tool == "racecheck" else log(0)
    ended = Outcome(Status.EXIT, status, b"", b"", 1.0) if isinstance(status, int) else None
    outcome = Outcome(status, -9, b"", b"", 1.0) if isinstance(status, Status) else ended
    assert outcome is not None
    content = xml.encode() if isinstance(xml, str) else xml
    written = clean if log_text is None else log_text
    files = {f"{tool}.xml": content, f"{tool}.log": written.encode() or None, ANSWER: answered or answer()}
    return Result(outcome, tuple((name, held) for name, held in files.items() if held is not None))


def capture(name: str, state: str = "done") -> tuple[str, Result]:
    """A capture's tool, and the result that it is part of."""
    xml = (CAPTURES / f"{name}.xml").read_text()
    status = 86 if "<record>" in xml else 0
    tool = name.partition("-")[0]
    log_text = (CAPTURES / f"{name}.log").read_text()
    return tool, left(tool, xml, log_text, status=status, answered=answer((state,)))
