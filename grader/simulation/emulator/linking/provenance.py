"""Provenance of pointers: the variable that an address stems from, as far as the code determines it.

C does not allow pointer arithmetic from one object into another, however near they lie; a flat memory does
not notice. So each access is traced back, over the whole module and without regard to order, to the variables
and kernel parameters whose address it was computed from. Nothing is claimed where an address, or one that may
take its place, was loaded from memory or made in a way that is not followed.

A register is a sum of the values it was computed from; of several definitions any may hold. The result of a
product, a shift or a load is no address by itself: added to one, it is an index.

`registers_used` gives the registers that a function uses at all, by a simple scan of its code.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.base.records import mutable
from grader.simulation.ptx import Address, Immediate, Register, Symbol, Tuple, Vector
from grader.simulation.ptx.nodes import registers_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.simulation.ptx import Function, Instruction, Module, Operand, Variable

Node: TypeAlias = tuple[str, str]
"""A register or a parameter, in a function."""

_ANY_OF = {
    **dict.fromkeys(("mov", "cvta", "cvt", "neg", "not"), slice(1, None)),
    **dict.fromkeys(("selp", "min", "max"), slice(1, 3)),
    "mad": slice(3, None),
}
"""Instructions whose result is one of these operands, or equivalent to one."""

_SUMS = {"add", "sub", "and", "or", "xor"}

_FRAME = re.compile(r"__local_depot\d+$")
"""Compiler name of the local variables of a function, all in one; it adds where each begins."""

_POINTER = 8
"""Bytes of an address."""

_CACHED_MODULES = 4
"""Modules whose provenance stays in the cache: both builds of a file, and both of the one before."""

_WHOLLY_USED = ("call", "red", "bra", "brx", "bar", "barrier", "wmma", "stmatrix", "cp")
"""Opcodes whose first operand may be read as well: it is not always a destination."""


class Origin(NamedTuple):
    """A variable by its name in the PTX, or a parameter of a kernel.

    ``start`` is where an object of the frame begins within it; -1 for a variable as a whole. ``function`` is
    the function whose frame it is in, empty for a variable that is not in a frame.
    """

    name: str
    function: str = ""
    start: int = -1


Origins: TypeAlias = "frozenset[Origin] | None"
"""The variables that an address may be computed from; None where that is unknown."""


class _Rule(NamedTuple):
    """Rule that makes a definition of ``to`` of nodes: of their ``sum``, else of any one of them.

    ``origins`` are the origins that it has in any case; ``is_partial``: another part of it is unknown. One
    that ``leaves`` a function is unknown if it lies in its frame: the next frame may be one of the same
    function.
    """

    to: Node
    nodes: tuple[Node, ...] = ()
    origins: frozenset[Origin] = frozenset()
    is_partial: bool = False
    sum: bool = False
    leaves: bool = False
    begins: int | None = None
    """Offset of an object of the frame from the start of the node."""


@mutable
class Provenance:
    """The origins of every address in a module."""

    module: Module
    starts: dict[str, set[int]] = field(default_factory=dict)
    """Offsets where the objects of each function's frame begin."""
    _values: dict[Node, Origins] = field(default_factory=dict)
    _variables: dict[str, dict[str, str]] = field(default_factory=dict)
    """The variables that each function sees, with the function whose frame each is in, if any."""
    _registers: dict[str, frozenset[str]] = field(default_factory=dict)
    _functions: dict[str, Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Follow all definitions until nothing changes any more."""
        for function in self.module.functions:
            variables = [variable for variable in function.variables if variable.space != "param"]
            self._variables[function.name] = dict.fromkeys((v.name for v in self.module.variables), "") | {
                v.name: function.name if v.space == "local" else "" for v in variables
            }
            self._registers[function.name] = frozenset(name for name, _ in function.registers)
            if function.defined:
                self._functions[function.name] = function
        rules = [rule for function in self._functions.values() for rule in self._rules(function)]
        rules += [_Rule((f.name, v.name), is_partial=True) for f in self._named() for v in f.parameters]
        changing = True
        while changing:
            changing = False
            for rule in rules:
                changing |= self._follow(rule)

    def of_access(self, function: Function, instruction: Instruction) -> Origins:
        """Origins of the address of an instruction; unknown where it has none, or two."""
        addresses = [operand for operand in instruction.operands if isinstance(operand, Address)]
        if len(addresses) != 1 or "param" in instruction.modifiers:
            return None
        origins, nodes = self._parts(function, addresses[0].base)
        if origins:
            return origins
        return self._values.get(nodes[0]) if nodes else None

    def _follow(self, rule: _Rule) -> bool:
        """Add the origins that a rule gives; true if any is new."""
        old = self._values.get(rule.to, frozenset())
        if old is None:
            return False
        new = self._outcome(rule)
        if new is None or not new <= old:
            self._values[rule.to] = None if new is None else old | new
            return True
        return False

    def _outcome(self, rule: _Rule) -> Origins:
        """The origins as far as they are known; none at all where nothing is known yet."""
        values = [self._values.get(node, frozenset()) for node in rule.nodes]
        origins = rule.origins.union(*(value for value in values if value is not None))
        is_partial = rule.is_partial or None in values
        if rule.leaves and any(origin.function for origin in origins):
            return None
        if rule.begins is not None and origins and all(_is_frame(origin) for origin in origins):
            for origin in origins:
                self.starts.setdefault(origin.function, set()).add(rule.begins)
            return frozenset(origin._replace(start=rule.begins) for origin in origins)
        if rule.sum:
            waiting = any(value is not None and not value for value in values)
            return None if is_partial and not origins and not waiting else origins
        return None if is_partial else origins

    def _parts(self, function: Function, operand: Operand) -> tuple[frozenset[Origin], tuple[Node, ...]]:
        """Known origins of an operand, and the node that holds its others; neither if it is no address."""
        if isinstance(operand, Symbol) and operand.name in self._variables[function.name]:
            return frozenset({Origin(operand.name, self._variables[function.name][operand.name])}), ()
        if isinstance(operand, Register) and operand.name in self._registers[function.name]:
            return frozenset(), ((function.name, operand.name),)
        return frozenset(), ()

    def _rules(self, function: Function) -> Iterator[_Rule]:
        if function.is_entry:
            for formal in function.parameters:
                whole = formal.size == _POINTER
                origins = frozenset({Origin(formal.name)}) if whole else frozenset()
                yield _Rule((function.name, formal.name), origins=origins, is_partial=not whole)
        for instruction in function.body:
            yield from self._of_instruction(function, instruction)

    def _named(self) -> Iterator[Function]:
        """The functions whose address is taken: their callers are not followed."""
        operands = [initial for variable in self.module.variables for initial in variable.initial]
        for function in self._functions.values():
            for instruction in function.body:
                operands += () if instruction.opcode == "call" else instruction.operands  # type: ignore[arg-type]
        names = {operand.name for operand in operands if isinstance(operand, Symbol)}
        yield from (function for name, function in self._functions.items() if name in names)

    def _of_instruction(self, function: Function, ins: Instruction) -> Iterator[_Rule]:
        if ins.opcode == "call":
            yield from self._of_call(function, ins)
            return
        if not ins.operands:
            return
        first = ins.operands[0]
        if ins.opcode == "st" and "param" in ins.modifiers:
            yield self._any_operand(function, _parameter(function, first), ins.operands[1:])
        elif ins.opcode == "ld" and "param" in ins.modifiers and isinstance(first, Register):
            parameter = _parameter(function, ins.operands[1])
            yield _Rule(
                (function.name, first.name), (parameter,) if parameter[1] else (), is_partial=not parameter[1]
            )
        elif isinstance(first, Register) and ins.opcode in _ANY_OF:
            operands = ins.operands[_ANY_OF[ins.opcode]]
            yield self._any_operand(function, (function.name, first.name), operands)
        elif isinstance(first, Register) and ins.opcode in _SUMS:
            yield self._sum(function, first, ins)
        elif not isinstance(first, Address):
            for name in registers_in(first):
                yield _Rule((function.name, name), is_partial=True)

    def _any_operand(self, function: Function, to: Node, operands: tuple[Operand, ...]) -> _Rule:
        """Any one of the operands; unknown where one of them is no address."""
        parts = [self._parts(function, operand) for operand in operands]
        is_partial = not to[1] or any(not origins and not nodes for origins, nodes in parts)
        origins = frozenset().union(*(origins for origins, _ in parts))
        return _Rule(to, tuple(node for _, nodes in parts for node in nodes), origins, is_partial)

    def _sum(self, function: Function, to: Register, ins: Instruction) -> _Rule:
        """Operands added up; where the compiler's ``add.u64`` adds a number to the frame an object begins."""
        rule = self._any_operand(function, (function.name, to.name), ins.operands[1:])
        last = ins.operands[-1]
        begins = ins.opcode == "add" and ins.modifiers == ("u64",) and isinstance(last, Immediate)
        return rule._replace(sum=True, begins=last.value if begins and isinstance(last, Immediate) else None)

    def _of_call(self, function: Function, ins: Instruction) -> Iterator[_Rule]:
        """Arguments become parameters, results become values that the caller reads; frames stay behind."""
        lists = [_names(operand) for operand in ins.operands if isinstance(operand, Tuple)]
        callee = next((o for o in ins.operands if isinstance(o, Symbol)), None)
        called = self._functions.get(callee.name) if callee else None
        returned = lists[0] if isinstance(ins.operands[0], Tuple) and len(ins.operands) > 1 else []
        if called is None:
            for name in returned:
                yield _Rule((function.name, name), is_partial=True)
            return
        passed = lists[1 if returned else 0] if len(lists) > bool(returned) else []
        for formal, actual in zip(called.parameters, passed, strict=False):
            yield _Rule(
                (called.name, formal.name),
                ((function.name, actual),),
                is_partial=_is_part(formal),
                leaves=True,
            )
        for formal, actual in zip(called.results, returned, strict=False):
            yield _Rule(
                (function.name, actual),
                ((called.name, formal.name),),
                is_partial=_is_part(formal),
                leaves=True,
            )


_latest: tuple[Provenance, ...] = ()
"""Provenances of the modules that were asked for last: kernels of one file are linked one by one."""


def provenance_of(module: Module) -> Provenance:
    """Origins of the addresses of a module, cached for modules that are linked one after another."""
    global _latest  # noqa: PLW0603 - a cache: threads that miss it at once do no harm
    cached = next((entry for entry in _latest if entry.module is module), None)
    provenance = cached or Provenance(module)
    _latest = (provenance, *(entry for entry in _latest if entry is not provenance))[:_CACHED_MODULES]
    return provenance


def _parameter(function: Function, operand: Operand) -> Node:
    """The parameter that is stored or loaded as a whole; one without a name where it is a part."""
    whole = isinstance(operand, Address) and isinstance(operand.base, Symbol) and not operand.offset
    name = operand.base.name if whole else ""  # type: ignore[union-attr]
    return function.name, name


def _is_part(formal: Variable) -> bool:
    """True if a parameter is no address, or more than one."""
    return formal.size != _POINTER


def _is_frame(origin: Origin) -> bool:
    return origin.start < 0 and bool(_FRAME.match(origin.name))


def _names(operand: Tuple) -> list[str]:
    return [element.name for element in operand.elements if isinstance(element, Symbol)]


def registers_used(function: Function) -> frozenset[str]:
    """The registers that anything but the value operand of a store to local memory reads, or may read."""
    used: set[str] = set()
    local = _local_addresses(function)
    for instruction in function.body:
        operands = instruction.operands[1:]
        if instruction.opcode == "st":
            operands = instruction.operands[: 1 if _stays_local(instruction, local) else None]
        if instruction.opcode in _WHOLLY_USED:
            operands = instruction.operands
        used.update(name for operand in operands for name in registers_in(operand))
        if instruction.guard is not None:
            used.add(instruction.guard.name)
    return frozenset(used)


def only_copies(load: Instruction, used: frozenset[str]) -> bool:
    """True if an instruction loads into none of the registers that are used."""
    if load.opcode != "ld":
        return False
    loaded = load.operands[0]
    elements = loaded.elements if isinstance(loaded, Vector) else (loaded,)
    return not any(isinstance(element, Register) and element.name in used for element in elements)


def _local_addresses(function: Function) -> frozenset[str]:
    """The registers that hold an address in the frame."""
    registers: set[str] = set()
    for instruction in function.body:
        from_local = instruction.opcode == "cvta" and "local" in instruction.modifiers
        moves = instruction.opcode in ("add", "mov") and bool(registers)
        if not from_local and not moves:
            continue
        names = [name for operand in instruction.operands for name in registers_in(operand)]
        if names and (from_local or registers.intersection(names[1:])):
            registers.add(names[0])
    return frozenset(registers)


def _stays_local(store: Instruction, local: frozenset[str]) -> bool:
    """True if a store goes to local memory, or into a parameter of a call."""
    return bool({"local", "param"} & set(store.modifiers)) or bool(
        local & set(registers_in(store.operands[0]))
    )
