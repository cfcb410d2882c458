"""Lowering of control flow, barriers, and what lanes of a warp do together (PTX ISA 9.7.12 and 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.simulation.emulator.core.library import NONE
from grader.simulation.emulator.core.lowering import Jump, NotLoweredError, ParameterPieces
from grader.simulation.ptx import Immediate, Pair, Register, Symbol, Tuple
from grader.simulation.ptx.facts import NO_LIBRARY

if TYPE_CHECKING:
    from grader.simulation.emulator.core.lowering import Lowering
    from grader.simulation.ptx import Instruction
    from grader.simulation.ptx.nodes import Operand

_SHUFFLES = ("up", "down", "bfly", "idx")


def branch(low: Lowering, ins: Instruction) -> None:
    """`bra`, with or without a predicate."""
    target = ins.operands[0]
    indices = dict(low.frame.function.labels)
    if not isinstance(target, Symbol) or target.name not in indices:
        raise NotLoweredError(ins.name)
    op = low.emit("branch" if ins.guard is not None else "jump")
    low.jumps.append(Jump(op, low.frame, indices[target.name]))


def leave(low: Lowering, ins: Instruction) -> None:
    """`ret` and `exit`: the end of a thread, or of a function that was inlined."""
    if low.frame.depth == 0 or ins.opcode == "exit":
        low.emit("exit")
        return
    op = low.emit("branch" if ins.guard is not None else "jump")
    low.jumps.append(Jump(op, low.frame, len(low.frame.function.body)))


def refuse(low: Lowering, _ins: Instruction) -> None:
    """An instruction that only the other engine executes."""
    low.emit("refuse")


def call(low: Lowering, ins: Instruction) -> None:
    """`call` of a function of the module, which is inlined here."""
    frame = low.frame
    lists = [operand for operand in ins.operands if isinstance(operand, Tuple)]
    names = [operand for operand in ins.operands if isinstance(operand, Symbol)]
    if not names or isinstance(ins.operands[0], Register):
        raise NotLoweredError(ins.name)
    name = names[0].name
    if name in NO_LIBRARY and not low.program.defines(name):
        if name not in ("vprintf", "__assertfail"):
            raise NotLoweredError(f"call {name}")
        low.emit("refuse")
        return
    if ins.guard is not None or not low.program.defines(name):
        raise NotLoweredError(f"call {name}")
    function = low.program.module.function(name)
    has_results = len(ins.operands) > 1 and isinstance(ins.operands[0], Tuple)
    results = _names(lists[0]) if has_results else ()
    passed = _names(lists[-1]) if len(lists) > has_results else ()
    if len(passed) != len(function.parameters) or len(results) != len(function.results):
        raise NotLoweredError(f"call {name}")
    parameters = {
        formal.name: frame.parameters.setdefault(actual, ParameterPieces())
        for formal, actual in zip(function.parameters, passed, strict=True)
    }
    returned = {formal.name: ParameterPieces() for formal in function.results}
    low.emit("jump", target=len(low.ops) + 1)
    low.inline(function, frame.free, frame.depth + 1, parameters | returned, frame.within, low.location(ins))
    for formal, actual in zip(function.results, results, strict=True):
        frame.parameters[actual] = returned[formal.name]


def nothing(low: Lowering, _ins: Instruction) -> None:
    """`prefetch` and the like: no effect on the values that the core computes."""
    low.emit("jump", target=len(low.ops) + 1)


def fence(low: Lowering, ins: Instruction) -> None:
    """`membar` and `fence`: what they order counts as unordered here, and so as a race at most."""
    if set(ins.modifiers) & {"proxy", "mbarrier_init"} or any("::" in word for word in ins.modifiers):
        raise NotLoweredError(ins.name)
    nothing(low, ins)


def barrier(low: Lowering, ins: Instruction) -> None:
    """`bar.sync` of the whole block, and `bar.warp.sync`."""
    if "warp" in ins.modifiers:
        mask = low.read(ins.operands[0], "b32")
        low.emit("warp_sync", more=(mask, NONE, NONE), more_read=(mask,))
        return
    if "red" in ins.modifiers:
        _reducing_barrier(low, ins)
        return
    plain = {"sync", "aligned", "cta"}
    if not set(ins.modifiers) <= plain or len(ins.operands) != 1:
        raise NotLoweredError(ins.name)
    _require_the_whole_block(ins, ins.operands[0])
    low.emit("barrier")


def _reducing_barrier(low: Lowering, ins: Instruction) -> None:
    """`bar.red.popc|and|or d, 0, [!]c`: a barrier of the block that counts votes (section 9.7.13.1)."""
    way = next((word for word in ins.modifiers if word in ("popc", "and", "or")), "")
    if not way or len(ins.operands) != 3:  # noqa: PLR2004 - with a number of threads there are more
        raise NotLoweredError(ins.name)
    to, number, vote = ins.operands
    _require_the_whole_block(ins, number)
    register = low.destination(to, 4 if way == "popc" else 0)
    op = low.emit(f"barrier_{way}", dst=register, reads=(low.read(vote, "pred"),))
    op.weight += 1  # the interpreter executes it once to arrive, and once to count


def _require_the_whole_block(ins: Instruction, number: Operand) -> None:
    """Refuse all barriers but the first of a block, without a condition."""
    if ins.guard is not None or not isinstance(number, Immediate) or number.value != 0:
        raise NotLoweredError(ins.name)


def shuffle(low: Lowering, ins: Instruction) -> None:
    """`shfl.sync`."""
    way = next((word for word in ins.modifiers if word in _SHUFFLES), "")
    if "sync" not in ins.modifiers or not way or ins.modifiers[-1] != "b32" or len(ins.operands) != 5:  # noqa: PLR2004
        raise NotLoweredError(ins.name)
    to, *sources, mask = ins.operands
    register, flag = (to.first, to.second) if isinstance(to, Pair) else (to, Symbol("_"))
    reads = tuple(low.read(source, "b32") for source in sources)
    named, within = low.read(mask, "b32"), low.destination(flag, 0)
    low.emit(
        f"shfl_{way}",
        dst=low.destination(register, 4),
        reads=reads,
        more=(named, within, NONE),
        more_read=(named,),
        more_written=(within,) if within != NONE else (),
    )


def vote(low: Lowering, ins: Instruction) -> None:
    """`vote.sync`."""
    way = next((word for word in ins.modifiers if word in ("all", "any", "uni", "ballot")), "")
    if "sync" not in ins.modifiers or not way:
        raise NotLoweredError(ins.name)
    to, source, mask = ins.operands
    named = low.read(mask, "b32")
    register = low.destination(to, 4 if way == "ballot" else 0)
    low.emit(
        f"vote_{way}",
        dst=register,
        reads=(low.read(source, "pred"),),
        more=(named, NONE, NONE),
        more_read=(named,),
    )


def match(low: Lowering, ins: Instruction) -> None:
    """`match.any|all.sync.b32|b64 d[|p], a, mask` (section 9.7.13.10)."""
    way, kind = ins.modifiers[0], ins.modifiers[-1]
    if way not in ("any", "all") or kind not in ("b32", "b64"):
        raise NotLoweredError(ins.name)
    to, source, mask = ins.operands
    register, flag = (to.first, to.second) if isinstance(to, Pair) else (to, Symbol("_"))
    named, some = low.read(mask, "b32"), low.destination(flag, 0)
    low.emit(
        f"match_{way}_{kind[1:]}",
        dst=low.destination(register, 4),
        reads=(low.read(source, kind),),
        more=(named, some, NONE),
        more_read=(named,),
        more_written=(some,) if some != NONE else (),
    )


_REDUCTIONS = ("add", "and", "or", "xor", "min.u", "max.u", "min.s", "max.s")
"""In the order of `Update` in `native/core.hpp`."""


def reduce(low: Lowering, ins: Instruction) -> None:
    """`redux.sync.op.type d, a, mask`: one value out of those of all lanes (section 9.7.13.12)."""
    _, name, kind = ins.modifiers
    which = f"{name}.{kind[0]}" if name in ("min", "max") else name
    if which not in _REDUCTIONS or kind not in ("u32", "s32", "b32"):
        raise NotLoweredError(ins.name)
    to, source, mask = ins.operands
    named = low.read(mask, "b32")
    low.emit(
        "redux",
        dst=low.destination(to, 4),
        reads=(low.read(source, kind),),
        more=(named, NONE, NONE),
        more_read=(named,),
        imm=_REDUCTIONS.index(which),
    )


def active_mask(low: Lowering, ins: Instruction) -> None:
    """`activemask`."""
    low.emit("active_mask", dst=low.destination(ins.operands[0], 4))


def _names(operands: Tuple) -> tuple[str, ...]:
    return tuple(element.name for element in operands.elements if isinstance(element, Symbol))
