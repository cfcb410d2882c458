"""The launches that a tool watched: whose a record is, which line it means, and which element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from grader.gpu.entries import index_of
from grader.gpu.sanitizer_records import number_at, text_at
from grader.nvcc.shown import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from xml.etree.ElementTree import Element

    from grader.gpu.answer import AnsweredCase
    from grader.gpu.request import DeviceCase


@dataclass(frozen=True, slots=True)
class Place:
    """Where an array lay in the device's memory during one launch."""

    array: str
    start: int
    bytes: int
    shape: tuple[int, ...]
    itemsize: int

    def distance(self, address: int) -> int:
        """Bytes from the array to an address; 0 within it."""
        return max(self.start - address, address - (self.start + self.bytes) + 1, 0)

    def index(self, address: int) -> int:
        """The flat element index of an address; negative before the array."""
        return (address - self.start) // self.itemsize


@dataclass(frozen=True, slots=True)
class Scene:
    """The launches that a tool watched: what was asked for, and what the harness says became of it, by name.

    ``source`` is what the student's ``file`` was compiled as: lines of other files mean nothing to a student.
    ``trouble`` is what the harness says of itself where it failed.
    """

    cases: Mapping[str, DeviceCase]
    answered: Mapping[str, AnsweredCase]
    file: str
    source: str
    trouble: str = ""

    def unfinished(self, name: str) -> str:
        """Why nobody can know what a launch would have done; empty where it came to its end."""
        answered = self.answered.get(name)
        if answered is None:
            return "the kernel was not launched" + (self.trouble and f": {harmless(self.trouble)}")
        if answered.state == "done":
            return ""
        said = answered.error or answered.message
        return f"the kernel did not come to its end ({harmless(answered.state + (said and f': {said}'))})"

    def owners(self, functions: Iterable[str]) -> tuple[str, ...]:
        """The cases that a record with these functions belongs to.

        Every case has a kernel of its own name, and a device function is copied for each kernel that calls
        it, as ``$grader_case_3$helper``; so the first name says which launch it was. Only ptxas's own
        helpers (a division's slow path) have no such name: what is seen there belongs to every case that ran.
        """
        for function in functions:
            index = index_of(function.removeprefix("$").partition("$")[0])
            if index is not None and str(index) in self.cases:
                return (str(index),)
        return tuple(name for name in self.cases if name in self.answered)

    def places(self, name: str) -> Iterator[Place]:
        """Where the arrays of a case lay, as the harness says."""
        told = self.answered[name].places if name in self.answered else {}
        for argument in self.cases[name].arguments:
            value = argument.value
            if argument.name in told and isinstance(value, np.ndarray):
                start, _ = told[argument.name]
                yield Place(argument.label, start, value.nbytes, value.shape, value.itemsize)

    def line(self, record: Element, where: str) -> int | None:
        """The line in the student's file."""
        if text_at(record, f"{where}/path").rpartition("/")[2] != self.source:
            return None
        line = number_at(record, f"{where}/line")
        return line if line is not None and line > 0 else None
