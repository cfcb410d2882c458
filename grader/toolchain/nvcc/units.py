"""Further sources of a program: the choice of these files, and what they may not ask of each other.

Each is compiled under the neutral name that the first file has, too, and then goes by a label. What the
first file includes is a header, under any name. `with_names_of` gives the builds of one source the
same names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from grader.base.cpp import included_names
from grader.base.errors import NotDoneHereError
from grader.toolchain.nvcc.signature import read_name
from grader.toolchain.nvcc.source import SOURCE_NAME, harmless

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import FunctionInterface, Named, ProgramInterface, Submission
    from grader.toolchain.nvcc.diagnostics import Message

_NESTED_LAUNCH = "requires separate compilation mode"
"""Message of nvcc for a launch in device code."""

DEVICE_ENDING, HOST_LANGUAGES = ".cu", {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}

_DECLARED = re.compile(r"^\.extern \.func.*?(?P<name>[A-Za-z_$][\w$]*)\s*\(?$", re.MULTILINE)
"""A function in PTX that is declared and has no body (PTX ISA section 10.1.1)."""

_BUILT_IN = {"vprintf", "malloc", "free", "__assertfail"}
_OWN_NUMBER = re.compile(rf"(?<=_)[0-9a-f]{{8}}(?=_\d+_{re.sub('[^0-9A-Za-z]', '_', SOURCE_NAME)}_)")
"""The number that a file gets in a build, as it stands in names: ``_INTERNAL_7d8334d6_17_student_…``."""

_STATIC = re.compile(r"extern declaration of the entity (?P<name>\w+) is treated as a static definition")


class Unit(NamedTuple):
    """A further source: its file, what it is called in debug information, and its language for nvcc."""

    file: str
    label: str
    language: str

    @property
    def is_host(self) -> bool:
        """True if it has no device code, and is linked only where something asks for what it defines."""
        return self.language != "cu"


def units_of(submission: Submission, interface: ProgramInterface | FunctionInterface) -> tuple[Unit, ...]:
    """The further sources of a program, in the order of their names; none of a function."""
    if not interface.links_files:
        return ()
    texts = (submission.source, *dict(submission.headers).values())
    included = included_names(text.decode(errors="replace") for text in texts)
    languages = {DEVICE_ENDING: "cu", **HOST_LANGUAGES}
    names = sorted(
        name
        for name, _ in submission.headers
        if "/" not in name and name not in included and name not in dict(interface.include)
    )
    endings = ((name, name[name.rfind(".") :].lower()) for name in names)
    units = [(name, languages[ending]) for name, ending in endings if ending in languages]
    return tuple(Unit(name, label_of(number), language) for number, (name, language) in enumerate(units, 1))


def label_of(number: int) -> str:
    """Label of the further source of this number, from 1, where the first one has `SOURCE_NAME`."""
    return f"student_source_{number}.cu"


def sources_of(unit: Unit, sources: Named[bytes]) -> Named[bytes]:
    """The files with a further source in the place of the first one."""
    files = dict(sources)
    return tuple({**files, SOURCE_NAME: files[unit.file]}.items())


def require_whole(file: str, text: str, ptx: str, messages: Iterable[Message]) -> None:
    """Raise OurError for device code that another file is to complete, as ``nvcc -rdc=true`` allows it."""
    for message in messages:
        match = _STATIC.search(message.text)
        if match:
            raise _across_files(match["name"], file, message.line)
    for match in _DECLARED.finditer(ptx):
        if match["name"] not in _BUILT_IN:
            name = read_name(match["name"]).name
            lines = (
                n for n, line in enumerate(text.split("\n"), 1) if re.search(rf"\b{re.escape(name)}\b", line)
            )
            raise _across_files(name, file, next(lines, None))


def require_no_nested_launch(file: str, messages: Iterable[Message]) -> None:
    """Raise NotDoneHereError where nothing is wrong but that a kernel launches kernels (-rdc=true)."""
    errors = [message for message in messages if message.error]
    if errors and all(_NESTED_LAUNCH in message.text for message in errors):
        where = f"{harmless(file)}, line {errors[0].line}"
        raise NotDoneHereError(
            f"not supported here: a kernel that launches a kernel (dynamic parallelism): {where}"
        )


def _across_files(name: str, file: str, line: int | None) -> NotDoneHereError:
    where = f"{harmless(file)}, line {line}" if line else harmless(file)
    return NotDoneHereError(
        f"not supported here: device code across files (nvcc -rdc=true): `{name}` of {where} is to come from "
        "another file"
    )


def with_names_of(ptx: str, other: str) -> str:
    """Another build of a file with the names of the first for what the file keeps to itself.

    nvcc puts a number into the names of static functions and of what is in unnamed namespaces, and makes it
    anew for each build; but what launches leave in device memory is used by the launches of both.
    """
    numbers = set(_OWN_NUMBER.findall(ptx))
    return _OWN_NUMBER.sub(numbers.pop(), other) if len(numbers) == 1 else other
