"""A trace as JSON, for programs and for the page: ``format: grader-trace``, ``format_version: 1``.

Keys: ``assignment{id,title}``, ``file``, ``kernel``, ``case{id,shape{},inputs,seed}``, ``constants{}``,
``launch{grid[3],block[3],shared_bytes}``, ``block[3]``, ``completed``, ``notes[]``, ``source[]`` and

- ``arrays[{name,space,dtype,shape[],direction,window{rows[2],columns[2],cropped},values[]}]``: what the
  block touched; ``values`` of the window before the launch, row by row;
- ``accumulators[{title,name,line}]``;
- ``intervals[{ends,barrier_lines[],steps[],shared[{array,values[]}],sums[{accumulator,values[]}],
  hazards[]}]``;
- a step is ``{line,turn,events[]}``, an event ``{kind,target,threads[],elements[],values[],zero_fill[],
  words[]}``; empty lists are left out, and ``threads`` where it is all threads of the block in their order;
- ``heading`` and ``described`` say the same of it in words, and ``mark{array,index[]}`` is the element that
  came out wrong, where the trace is to show that;
- a hazard is ``{finding,array,elements[],threads[]}``, ``finding`` an index into ``findings[]``, which have
  the keys that they have in grade.json.

Threads count with x fastest, elements in C order. A value is null where nothing was stored yet; what is no
number is ``"nan"``, ``"inf"`` or ``"-inf"``. Other keys may be added within version 1; none will change.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from base64 import b64encode
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.base.text import one_line, source_line
from grader.model.messages import templates_of, text_of
from grader.model.messages.hazards import spell
from grader.model.messages.trace import TRACE_SCRIPT
from grader.reports.pages import hash_of, template
from grader.reports.trace_text import described, notes_of, title_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Finding
    from grader.model.trace import (
        Number,
        TracedArray,
        TracedEvent,
        TracedInterval,
        TracedStep,
        TraceScene,
    )

FORMAT, VERSION = "grader-trace", 1

DATA = "the trace"
"""Placeholder of the trace in an embedded page."""

MOST_PACKED = 160_000
"""Bytes of a trace that is embedded: a report has room for them, and a class for hundreds of these."""

MOST_UNPACKED = 2**24
_GZIP = 31
"""The largest window, in the format of gzip (zlib's manual, inflateInit2)."""

_LINE = 240
"""Characters of a source line that are kept."""


def dump(scene: TraceScene) -> str:
    """The JSON text, one line; every text in it is harmless."""
    return _written(document(scene)) + "\n"


def _written(shown: dict[str, Any]) -> str:
    return json.dumps(shown, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def document(scene: TraceScene) -> dict[str, Any]:
    """The trace as JSON values."""
    trace = scene.trace
    x, y, z = trace.launch.block
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "assignment": {"id": scene.assignment, "title": one_line(scene.title)},
        "file": one_line(scene.file),
        "kernel": one_line(scene.kernel),
        "heading": one_line(_heading(scene)),
        "described": one_line(described(scene), 400),
        "case": {
            "id": scene.case,
            "shape": dict(scene.shape),
            "inputs": scene.inputs,
            "seed": scene.seed,
        },
        "constants": dict(scene.constants),
        **_launched(scene),
        **({"mark": {"array": one_line(scene.mark[0]), "index": list(scene.mark[1])}} if scene.mark else {}),
        "launch": {
            "grid": list(trace.launch.grid),
            "block": list(trace.launch.block),
            "shared_bytes": trace.launch.shared_bytes,
        },
        "block": list(trace.block),
        "completed": trace.completed,
        "notes": [one_line(note, 600) for note in notes_of(trace)],
        "arrays": [_array(record) for record in trace.arrays],
        "accumulators": [
            {
                "title": one_line(title_of(record)),
                "name": one_line(record.name),
                "line": record.line,
            }
            for record in trace.accumulators
        ],
        "intervals": [_interval(record, x * y * z) for record in trace.intervals],
        "findings": [_finding(record) for record in trace.findings],
        "source": [source_line(line, _LINE) for line in scene.source],
    }


def _heading(scene: TraceScene) -> str:
    block = ", ".join(map(str, scene.trace.block))
    return text_of("trace-heading", title=scene.title, kernel=scene.kernel, block=block)


def _launched(scene: TraceScene) -> dict[str, Any]:
    """Number of the launch among those of a program, with its line; empty outside of programs."""
    if scene.launched is None:
        return {}
    number, count, line = scene.launched.number, scene.launched.count, scene.launched.line
    launched = {"number": number, "count": count, "line": line}
    return {"launched": launched, "arguments": [one_line(word) for word in scene.arguments]}


def _array(array: TracedArray) -> dict[str, Any]:
    window = array.window
    return {
        "name": one_line(array.name),
        "space": array.space,
        "dtype": array.dtype,
        "shape": list(array.shape),
        "direction": array.direction,
        "window": {
            "rows": [window.first_row, window.end_row],
            "columns": [window.first_column, window.end_column],
            "cropped": window.cropped,
        },
        "values": _numbers(array.values),
    }


def _interval(interval: TracedInterval, threads: int) -> dict[str, Any]:
    return {
        "ends": interval.ends,
        "barrier_lines": list(interval.barrier_lines),
        "steps": [_step(record, threads) for record in interval.steps],
        "shared": [{"array": array, "values": _numbers(values)} for array, values in interval.shared],
        "sums": [{"accumulator": number, "values": _numbers(values)} for number, values in interval.sums],
        "hazards": [
            {
                "finding": record.finding,
                "array": record.array,
                "elements": list(record.elements),
                "threads": list(record.threads),
            }
            for record in interval.hazards
        ],
    }


def _step(step: TracedStep, threads: int) -> dict[str, Any]:
    return {"line": step.line, "turn": step.turn, "events": [_event(event, threads) for event in step.events]}


def _event(event: TracedEvent, threads: int) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": event.kind, "target": event.target}
    if event.threads != tuple(range(threads)):
        document["threads"] = list(event.threads)
    more = {
        "elements": list(event.elements),
        "values": _numbers(event.values),
        "zero_fill": list(event.zero_fill),
        "words": [one_line(word) for word in event.words],
    }
    return document | {key: value for key, value in more.items() if value}


def _finding(finding: Finding) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for field in fields(finding):
        value = getattr(finding, field.name)
        if isinstance(value, str):
            document[field.name] = one_line(str(value), 1_500)
        elif value is None or isinstance(value, int):
            document[field.name] = value
        elif field.name in ("block", "thread", "other_block", "other_thread"):
            document[field.name] = list(value)
    return document


def _numbers(values: Iterable[Number]) -> list[Any]:
    return [_number(value) for value in values]


def _number(value: Number) -> Any:  # noqa: ANN401 - a JSON value
    """A number with as many digits as distinguish those of float32; whole numbers without a point."""
    if not isinstance(value, float):
        return int(value) if value is not None else None
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    return float(f"{value:.9g}")


_SCRIPTS = ("state.js", "grids.js", "words.js", "page.js")


def render(scene: TraceScene) -> str:
    """Write the page; ``#step=12`` shows the twelfth step of it, ``&thread=5`` the numbers of a thread."""
    shown = document(scene)
    return _page(shown, _harmless(_written(shown)))


def _page(shown: dict[str, Any], data: str) -> str:
    from markupsafe import Markup  # noqa: PLC0415 - only who writes a page needs it

    return template("trace.html.j2").render(
        title=shown["heading"],
        scene=shown["described"],
        file=shown["file"],
        style=Markup(_style()),  # noqa: S704 - ours
        style_hash=hash_of(_style()),
        script=Markup(_script()),  # noqa: S704 - ours
        script_hash=hash_of(_script()),
        texts=Markup(_harmless(json.dumps(templates_of(TRACE_SCRIPT)))),  # noqa: S704 - made harmless
        data=Markup(data),  # noqa: S704 - made harmless
    )


def packed(scene: TraceScene | None) -> bytes:
    """A trace as it is kept beside a grade: its JSON, by gzip; empty where it is too long to be embedded."""
    if scene is None:
        return b""
    kept = gzip.compress(_written(document(scene)).encode("utf-8", "backslashreplace"), mtime=0)
    return kept if len(kept) <= MOST_PACKED else b""


class Embedded(NamedTuple):
    """A trace in another page, whose policy has to allow ``script_hash`` and ``style_hash``.

    ``page`` is the page that plays it, as a text of JSON, with `DATA` where ``data`` belongs: the trace as
    JSON, by gzip and in base64. Both are harmless in an element ``script``.
    """

    case: str
    block: str
    lines: frozenset[tuple[int | None, int | None]]
    """Lines of its findings, with the other line of a race."""
    shows_output: bool
    """True if it is to show how a wrong element comes about."""
    page: str
    data: str
    script_hash: str
    style_hash: str


def embedded(kept: bytes) -> Embedded | None:
    """Embedding of a trace in a report; None where there is none, or what is kept is none of ours."""
    try:
        shown = json.loads(zlib.decompressobj(wbits=_GZIP).decompress(kept, MOST_UNPACKED)) if kept else {}
        x, y, z = map(int, shown["block"])
        data = gzip.compress(_harmless(_written(shown)).encode("utf-8", "backslashreplace"), mtime=0)
        return Embedded(
            one_line(str(shown["case"]["id"])),
            spell((x, y, z)),
            frozenset((finding.get("line"), finding.get("other_line")) for finding in shown["findings"]),
            "mark" in shown,
            _harmless(json.dumps(_page(shown, DATA))),
            b64encode(data).decode(),
            hash_of(_script()),
            hash_of(_style()),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error):
        return None


@cache
def _script() -> str:
    return f'"use strict";\n{"".join(map(_part, _SCRIPTS))}'


@cache
def _style() -> str:
    return _part("style.css")


def _part(name: str) -> str:
    return files(__package__).joinpath("trace_page", name).read_text(encoding="utf-8")


def _harmless(data: str) -> str:
    """JSON in which no character can end the element that it is in (HTML, section 4.12.1.3)."""
    return data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
