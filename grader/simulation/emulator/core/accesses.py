"""Lowering of loads and stores, also of parameters (PTX ISA sections 9.7.9.8 and 9.7.9.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.emulator.core.forms import WIDTH
from grader.simulation.emulator.core.library import NONE
from grader.simulation.emulator.core.lowering import NotLoweredError, ParameterPieces, copy_of, read_type
from grader.simulation.emulator.core.operations import ADDRESS_64
from grader.simulation.ptx import Address, Immediate, Register, Symbol, Vector
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from grader.simulation.emulator.core.lowering import Lowering
    from grader.simulation.ptx import Instruction
    from grader.simulation.ptx.nodes import Operand

_SPACES = {"": 0, "global": 1, "const": 1, "shared": 2, "local": 3}
_WIDE, _SIGNED, _NARROW_16, _STRONG, _COPYING = 2, 4, 8, 32, 64
_PLAIN = {"nc", "weak", "ca", "cg", "cs", "lu", "wb", "wt", "v2", "v4", "cta"} | {
    *(
        f"L1::{word}"
        for word in ("evict_last", "no_allocate", "evict_first", "evict_normal", "evict_unchanged")
    ),
    *(f"L2::{word}" for word in ("64B", "128B", "256B")),
}
"""Modifiers of loads and stores that neither order nor change anything."""

_ORDERING = {"volatile", "relaxed", "acquire", "release", "acq_rel", "gpu", "sys"}
"""Modifiers that order accesses: here that makes none, and where one is needed the launch is not clean."""


def load(low: Lowering, ins: Instruction) -> None:
    """`ld`: from memory, or from a parameter."""
    destination, address = ins.operands
    kind, space = _access_form(ins)
    elements = destination.elements if isinstance(destination, Vector) else (destination,)
    if space == "param" and isinstance(address, Address) and isinstance(address.base, Symbol):
        _load_parameter(low, elements, address.base.name, address.base.offset + address.offset, kind)
        return
    flags, width = _extension(low, elements, kind)
    flags |= _STRONG if _ORDERING.intersection(ins.modifiers) else 0
    flags |= _COPYING if low.may_copy_unset(ins) else 0
    registers = tuple(low.destination(element, width) for element in elements)
    _access(low, "load", ins, (kind, space), address, registers, flags)


def _extension(low: Lowering, elements: tuple[Operand, ...], kind: str) -> tuple[int, int]:
    """Extension of a loaded element to its register, and the width of that."""
    own = {low.frame.registers[e.name][1] for e in elements if isinstance(e, Register)} or {TYPE_BYTES[kind]}
    if len(own) > 1:
        raise NotLoweredError(low.name())
    (width,) = own
    if width < TYPE_BYTES[kind]:
        raise NotLoweredError(low.name())
    signed = kind[0] == "s" and TYPE_BYTES[kind] < width
    flags = (_WIDE if width == 8 else 0) | (_SIGNED if signed else 0)  # noqa: PLR2004 - bytes
    return flags | (_NARROW_16 if width == 2 else 0), width  # noqa: PLR2004 - bytes


def _access_form(ins: Instruction) -> tuple[str, str]:
    """The type and the state space of an access."""
    *words, kind = ins.modifiers
    spaces = [word.split("::")[0] for word in words if word.split("::")[0] in (*_SPACES, "param")]
    others = {word for word in words if word.split("::")[0] not in (*_SPACES, "param")}
    if not others <= _PLAIN | _ORDERING or len(spaces) > 1 or kind not in (*WIDTH, "f16") or kind == "pred":
        raise NotLoweredError(ins.name)
    return kind, spaces[0] if spaces else ""


def _load_parameter(low: Lowering, elements: tuple[Operand, ...], name: str, offset: int, kind: str) -> None:
    size = TYPE_BYTES[kind]
    for position, element in enumerate(elements):
        at = offset + position * size
        if isinstance(element, Symbol):
            continue
        if not isinstance(element, Register) or element.name not in low.frame.registers:
            raise NotLoweredError(low.name())
        register, own = low.frame.registers[element.name]
        if low.frame.depth == 0 and name not in low.frame.parameters:
            width = max(own, 4)
            value = low.launch_constant(width, parameter=name, at=at, kind=f"{kind}:{own}")
            low.emit(copy_of(8 * width), dst=register, reads=(value,))
            continue
        piece = low.frame.parameters.get(name, ParameterPieces()).at.get(at)
        if piece is None or piece[0] != size or (size < own and size < 4):  # noqa: PLR2004 - bytes
            raise NotLoweredError(f"{low.name()} of a part")
        low.emit(copy_of(8 * size), dst=low.destination(element, size), reads=(piece[1],))


def store(low: Lowering, ins: Instruction) -> None:
    """`st`: to memory, or to a parameter of a function that is about to be called."""
    address, source = ins.operands
    kind, space = _access_form(ins)
    elements = source.elements if isinstance(source, Vector) else (source,)
    if space == "param":
        _store_parameter(low, elements, address, kind)
        return
    values = [_value_to_store(low, element, kind) for element in elements]
    wide = TYPE_BYTES[kind] == 8  # noqa: PLR2004 - bytes
    _access(low, "store", ins, (kind, space), address, tuple(values), _WIDE if wide else 0)


def _value_to_store(low: Lowering, element: Operand, kind: str) -> int:
    """The value that a store takes: all of a register, or a number of the type."""
    if isinstance(element, Immediate):
        return low.read(element, "b16" if kind == "f16" else kind)
    return low.read(element, read_type(kind))


def _store_parameter(low: Lowering, elements: tuple[Operand, ...], address: Operand, kind: str) -> None:
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        raise NotLoweredError(low.name())
    size, offset = TYPE_BYTES[kind], address.base.offset + address.offset
    pieces = low.frame.parameters.setdefault(address.base.name, ParameterPieces())
    for position, element in enumerate(elements):
        at = offset + position * size
        if pieces.at.get(at, (size, 0))[0] != size:
            raise NotLoweredError(f"{low.name()} of a part")
        if at not in pieces.at:
            pieces.at[at] = size, low.register(f"b{max(32, 8 * size)}")
        value = _value_to_store(low, element, kind)
        low.emit(copy_of(8 * size), dst=pieces.at[at][1], reads=(value,))


_UPDATES = (
    *("add", "and", "or", "xor", "min.u", "max.u", "min.s", "max.s", "exch", "cas", "inc", "dec", "add.f"),
)
"""Atomic operations in the order of the core; those of `min`, `max` and floats by their types."""

_TYPED = {"min": "su", "max": "su", "add": "f"}
"""Operations that are others for numbers of these kinds."""


def update(low: Lowering, ins: Instruction) -> None:
    """`atom` and `red` of 32 or 64 bits; lanes take turns, the lowest first."""
    *words, name, kind = ins.modifiers
    spaces = [word.split("::")[0] for word in words if word.split("::")[0] in ("global", "shared")]
    scopes = {word for word in words if word.split("::")[0] not in ("global", "shared")}
    allowed = _ORDERING | ({"cta"} if spaces == ["shared"] else set())
    operation = f"{name}.{kind[0]}" if kind[0] in _TYPED.get(name, "") else name
    if operation not in _UPDATES or kind not in _UPDATE_TYPES or not scopes <= allowed or len(spaces) > 1:
        raise NotLoweredError(ins.name)
    result, address, *values = ins.operands if ins.opcode == "atom" else (Symbol("_"), *ins.operands)
    space = spaces[0] if spaces else ""
    numbers = tuple(low.read(value, kind) for value in values)
    _access(low, "update", ins, (kind, space), address, numbers[:1], _WIDE if TYPE_BYTES[kind] == 8 else 0)  # noqa: PLR2004
    op = low.ops[-1]
    op.reads, op.more_read, op.more = (op.reads[0], *numbers), (), (_UPDATES.index(operation), NONE, NONE)
    op.dst = low.destination(result, TYPE_BYTES[kind])


_UPDATE_TYPES = {f"{kind}{bits}" for kind in "usbf" for bits in (32, 64)}


def _access(
    low: Lowering,
    name: str,
    ins: Instruction,
    form: tuple[str, str],
    address: Operand,
    registers: tuple[int, ...],
    flags: int,
) -> None:
    kind, space = form
    if not isinstance(address, Address) or len(registers) not in (1, 2, 4):
        raise NotLoweredError(ins.name)
    if isinstance(address.base, Register):
        own = low.own_width(address.base)
        base, imm = low.read(address.base, "s64" if own == 8 else "s32"), address.offset  # noqa: PLR2004
        flags |= ADDRESS_64 if own == 8 else 0  # noqa: PLR2004 - bytes
    else:
        symbol = address.base
        number = symbol.value if isinstance(symbol, Immediate) else low.address_of(symbol)
        base = low.constant((number + address.offset).to_bytes(8, "little", signed=True))
        imm, flags = 0, flags | ADDRESS_64
    program = low.program
    program.sites.append(ins)
    origins = program.provenance().of_access(low.frame.function, ins)
    program.origins.append((origins, low.frame.local_offsets))
    low.local_starts.append(low.frame.local)
    first, *others = registers
    second, third, fourth = (*others, NONE, NONE, NONE)[:3]
    written, read = (registers, ()) if name == "load" else ((), registers)
    low.emit(
        name,
        dst=first,
        reads=(base,),
        more=(second, third, fourth),
        more_written=tuple(r for r in written[1:] if r != NONE),
        more_read=read,
        space=_SPACES["" if space == "param" else space],
        target=len(program.sites) - 1,
        imm=imm,
        size=TYPE_BYTES[kind],
        count=len(registers),
        flags=flags,
    )
