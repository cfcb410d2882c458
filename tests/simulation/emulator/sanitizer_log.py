"""The output of NVIDIA's compute-sanitizer as reports by kernel (Compute Sanitizer user guide, "output").

A record is a headline and indented lines with the places, each after ``=========``; records are separated by
empty ones. Kernels are known by their names, lines by ``file.cu:12``; the same record for another thread is
counted, not kept.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARK = re.compile(r"^={9} ?")
_HEADLINES = {
    "race": re.compile(r"(?P<level>\w+): Race reported between"),
    "hazard": re.compile(r"(?P<level>\w+): Potential (?P<what>\w+) hazard detected"),
    "barrier": re.compile(r"Barrier error detected\. (?P<what>[^.]*)"),
    "invalid": re.compile(r"Invalid (?P<what>__\w+__ \w+)"),
    "uninitialised": re.compile(r"Uninitialized (?P<what>__\w+__ memory read)"),
    "other": re.compile(r"(?P<what>Fatal UVM|Internal Sanitizer Error|Program hit|Error: [A-Z].*)"),
}
_KERNEL = re.compile(r"\b(?:racy|clean)_\w+")
_LINE = re.compile(r"[\w.-]+\.cuh?:(\d+)")
_DEVICE_FRAMES = re.compile(r"Device Frame|Saved host backtrace|Host Frame")


class Report(NamedTuple):
    """A tool's report on a kernel: a kind, in the tool's words, the lines that it names, how often."""

    kernel: str
    kind: str
    what: str
    lines: tuple[int, ...]
    times: int


def reports(log: str) -> tuple[Report, ...]:
    """All reports of a log that name a labelled kernel, in the order in which they came first."""
    counts = Counter(each for record in _records(log.splitlines()) if (each := _read(record)))
    return tuple(Report(*key, count) for key, count in counts.items())


def _records(lines: Iterable[str]) -> Iterator[list[str]]:
    """Each record's lines without the mark; a headline begins one, an empty line ends it."""
    record: list[str] = []
    for line in lines:
        text = _MARK.sub("", line).strip() if _MARK.match(line) else ""
        starts = any(pattern.match(text) for pattern in _HEADLINES.values())
        if record and (starts or not text):
            yield record
            record = []
        if starts or (record and text):
            record.append(text)
    if record:
        yield record


def _read(record: list[str]) -> tuple[str, str, str, tuple[int, ...]] | None:
    frames = next((at for at, line in enumerate(record) if _DEVICE_FRAMES.match(line)), len(record))
    text = " ".join(record[:frames])
    kernel = _KERNEL.search(text) or _KERNEL.search(" ".join(record))
    if not kernel:
        return None
    kind, match = next((kind, match) for kind, each in _HEADLINES.items() if (match := each.match(record[0])))
    words = [word for word in (match.groupdict().get("level"), match.groupdict().get("what")) if word]
    lines = tuple(sorted({int(number) for number in _LINE.findall(text)}))
    return kernel[0], kind, " ".join(words).strip().lower(), lines
