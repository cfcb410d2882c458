"""Listings: nvdisasm's output for a kernel → instructions with operands, lines and control codes.

The names of instructions are those of NVIDIA's "CUDA binary utilities" (instruction set reference). Each
takes 16 bytes since compute capability 7.0; the upper word holds what the hardware does not check by itself:
the cycles for which the warp must not issue, and the scoreboards, out of six, that the instruction sets and
that it waits for. Its layout is not documented by NVIDIA; it was measured by Jia et al., "Dissecting the
NVIDIA Volta GPU architecture via microbenchmarking" (2018), section 2.1.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from grader.base.errors import GraderError
from grader.base.records import frozen, mutable

if TYPE_CHECKING:
    from collections.abc import Iterator
NO_SCOREBOARD = 7

_LINE = re.compile(r'//## File (?P<places>".*", line \d+.*)')
_PLACE = re.compile(r'"(?P<file>[^"]*)", line (?P<line>\d+)')
_LABEL = re.compile(r"(?P<label>[.\w$]+):\s*$")
_CODE = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?P<text>[^;]*?)\s*;\s*/\* 0x(?P<low>[0-9a-f]{16}) \*/")
_UPPER = re.compile(r"\s+/\* 0x(?P<high>[0-9a-f]{16}) \*/\s*$")
_TEXT = re.compile(
    r"(?:@(?P<not>!?)(?P<guard>U?P[0-9T]+)\s+)?(?P<opcode>[A-Z0-9_a-z.]+)\s*(?P<operands>.*)", re.DOTALL
)
_SECTION = re.compile(r"//-+ \.text\.(?P<name>[\w$]+)\s+-+")
_NUMBER = re.compile(r"-?0x[0-9a-f]+")
_REGISTER = re.compile(r"(?P<file>UR|R|UP|P|B|SB)(?P<index>\d+|Z|T)(?P<suffix>(?:\.\w+)*)")
_CONSTANT = re.compile(r"c\[(?P<bank>[^\]]+)\]\[(?P<offset>[^\]]+)\](?P<suffix>(?:\.\w+)*)")
_ADDRESS = re.compile(r"(?:desc\[[^\]]*\])?\[(?P<inside>[^\]]*)\](?P<suffix>(?:\.\w+)*)")
_LABEL_USE = re.compile(r"`\((?P<label>[^)]*)\)")


class UnknownCodeError(GraderError):
    """Machine code that is not read here; ``opcode`` names it."""

    def __init__(self, opcode: str) -> None:
        """Name the unread opcode."""
        super().__init__(f"machine code that is not read: {opcode}")
        self.opcode = opcode


@frozen
class SassRegister:
    """A register; ``file`` is R, UR (uniform), P or UP (predicates), B or SB. ``index`` -1 is RZ or PT."""

    file: str
    index: int
    negated: bool = False
    inverted: bool = False
    absolute: bool = False
    suffixes: tuple[str, ...] = ()

    def without_signs(self) -> SassRegister:
        """The register as it is read before `-`, `~` and `|…|`."""
        return SassRegister(self.file, self.index)


@frozen
class Integer:
    """An immediate that is printed as an integer."""

    value: int


@frozen
class Real:
    """An immediate that is printed as a decimal."""

    value: float


@frozen
class SassConstant:
    """A word of a constant bank, at an offset and perhaps a register."""

    bank: int
    offset: int
    register: SassRegister | None = None
    negated: bool = False
    inverted: bool = False
    absolute: bool = False
    suffixes: tuple[str, ...] = ()

    def without_signs(self) -> SassConstant:
        """The constant as it is read before `-`, `~` and `|…|`."""
        return SassConstant(self.bank, self.offset, self.register)


@frozen
class SassAddress:
    """The sum of registers, each perhaps scaled by its suffix (`.X4`), and an offset in bytes."""

    registers: tuple[SassRegister, ...]
    offset: int


@frozen
class SassName:
    """A special register, or any other operand printed as a word."""

    text: str


@frozen
class Label:
    """A place in the code, as the index of an instruction."""

    target: int


Operand = SassRegister | Integer | Real | SassConstant | SassAddress | SassName | Label


@frozen
class ControlBits:
    """Waits encoded in an instruction: cycles and scoreboards.

    ``stall`` cycles pass before the warp issues again; ``sets`` is the scoreboard that is free when the
    result is there, ``reads`` the one that is when the operands are read (`NO_SCOREBOARD`: none); ``waits``
    are the scoreboards that must be free before the instruction issues.
    """

    stall: int
    sets: int
    reads: int
    waits: tuple[int, ...]

    @classmethod
    def of(cls, high: int) -> ControlBits:
        """From the upper word of an instruction."""
        mask = high >> 52 & 0x3F
        waits = tuple(number for number in range(6) if mask >> number & 1)
        return cls(high >> 41 & 0xF, high >> 46 & 7, high >> 49 & 7, waits)


@frozen
class SassInstruction:
    """An instruction; ``line`` is that of the source, 0 where none is known."""

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: SassRegister | None
    control: ControlBits
    line: int = 0


@frozen
class Listing:
    """The code of one kernel with the functions that it calls, in the order of the listing."""

    name: str
    instructions: tuple[SassInstruction, ...]


@mutable
class _Raw:
    """An instruction before labels are known."""

    text: str
    low: int
    high: int
    line: int


@mutable
class _Section:
    instructions: list[_Raw] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def read_listing(text: str, entry: str, source: str = "") -> Listing:
    """The kernel ``entry`` in the output of ``nvdisasm -c -ndf -hex -gi``.

    Lines are lines of the file ``source``, also for its calls into headers; of any file where none is named.
    Raises UnknownCodeError where there is no such kernel, or an operand is not read.
    """
    section = _section(text, entry, source)
    return Listing(entry, tuple(_instruction(raw, section.labels) for raw in section.instructions))


def _line_in(places: str, source: str) -> int:
    """The line in a file of a place that was inlined there, perhaps at several; 0 where it is in none."""
    lines = (
        int(entry["line"])
        for entry in _PLACE.finditer(places)
        if not source or entry["file"].rsplit("/", 1)[-1] == source
    )
    return next(lines, 0)


def _section(text: str, entry: str, source: str) -> _Section:
    """The lines of a section: instructions with their lines of source, and where labels are."""
    heading = re.search(rf"//-+ \.text\.{re.escape(entry)}\s+-+", text)
    if heading is None:
        raise UnknownCodeError(entry)
    following = _SECTION.search(text, heading.end())
    section, line, raw = _Section(), 0, None
    for row in text[heading.end() : following.start() if following else len(text)].splitlines():
        if code := _CODE.match(row):
            raw = _Raw(code["text"], int(code["low"], 16), 0, line)
            section.instructions.append(raw)
        elif raw is not None and (upper := _UPPER.match(row)):
            raw.high = int(upper["high"], 16)
        elif places := _LINE.search(row):
            line = _line_in(places["places"], source)
        elif label := _LABEL.match(row):
            section.labels[label["label"]] = len(section.instructions)
    if not section.instructions:
        raise UnknownCodeError(entry)
    return section


def _instruction(raw: _Raw, labels: dict[str, int]) -> SassInstruction:
    match = _TEXT.fullmatch(raw.text)
    if match is None:
        raise UnknownCodeError(raw.text)
    opcode, *modifiers = match["opcode"].split(".")
    guard = _register(match["guard"], inverted=match["not"] == "!") if match["guard"] else None
    # A call or a return prints a register and its base with nothing but a space between them.
    parted = re.sub(r"(?<=[^,\s])\s+`\(", ", `(", match["operands"])
    operands = tuple(_operand(text, labels) for text in _split(parted))
    return SassInstruction(opcode, tuple(modifiers), operands, guard, ControlBits.of(raw.high), raw.line)


def _split(text: str) -> Iterator[str]:
    """The operands, which commas part outside brackets."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character in "[(") - (character in ")]")
        if character == "," and not depth:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def _operand(text: str, labels: dict[str, int]) -> Operand:
    if _NUMBER.fullmatch(text):
        return Integer(int(text, 16))
    label = _LABEL_USE.search(text)
    if label:
        target = labels.get(label["label"])
        return SassName(text) if target is None else Label(target)
    address = _ADDRESS.fullmatch(text)
    if address:
        return _address(address["inside"])
    body, signs = _signs(text)
    register = _register(body, **signs)
    if register is not None:
        return register
    constant = _CONSTANT.fullmatch(body)
    if constant:
        return _constant(constant, signs)
    value = _real(text)
    return SassName(text) if value is None else Real(value)


def _signs(text: str) -> tuple[str, dict[str, bool]]:
    """Signs printed around a register: `-`, `~` or `!` before it, `|…|` around it."""
    negated, inverted = text.startswith("-"), text[:1] in ("~", "!")
    body = text[1:] if negated or inverted else text
    absolute = body.startswith("|")
    if absolute:
        inner, _, rest = body[1:].partition("|")
        body = inner + rest
    return body, {"negated": negated, "inverted": inverted, "absolute": absolute}


def _register(text: str, **signs: bool) -> SassRegister | None:
    match = _REGISTER.fullmatch(text)
    if match is None:
        return None
    index = -1 if match["index"] in "ZT" else int(match["index"])
    suffixes = tuple(suffix for suffix in match["suffix"].split(".") if suffix and suffix != "reuse")
    return SassRegister(match["file"], index, suffixes=suffixes, **signs)


def _constant(match: re.Match[str], signs: dict[str, bool]) -> Operand:
    if not _NUMBER.fullmatch(match["bank"]):
        raise UnknownCodeError(match[0])
    inside = _address(match["offset"])
    register = inside.registers[0] if inside.registers else None
    suffixes = tuple(filter(None, match["suffix"].split(".")))
    return SassConstant(int(match["bank"], 16), inside.offset, register, suffixes=suffixes, **signs)


def _address(inside: str) -> SassAddress:
    registers, offset = [], 0
    for part in re.split(r"\+", inside):
        register = _register(part)
        if _NUMBER.fullmatch(part):
            offset += int(part, 16)
        elif register is not None:
            registers.append(register)
        elif part:
            raise UnknownCodeError(f"[{inside}]")
    return SassAddress(tuple(registers), offset)


def _real(text: str) -> float | None:
    names = {"+INF": "inf", "-INF": "-inf", "+QNAN": "nan", "-QNAN": "nan", "+SNAN": "nan", "-SNAN": "nan"}
    try:
        return float(names.get(text, text))
    except ValueError:
        return None
