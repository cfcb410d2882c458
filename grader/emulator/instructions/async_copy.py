"""Copies from global to shared memory that the threads do not wait for (PTX ISA section 9.7.9.25).

`cp.async` with its groups. The source is read when a copy is issued; the bytes are in shared memory once the
thread has waited for the copy, and not before, so that a program without the wait sees what was there.
Of `cp` nothing else is interpreted: bulk and tensor copies are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.emulator.instructions.barrier import arrives_for_copies
from grader.emulator.machine import copies
from grader.emulator.machine.values import scalar, spread
from grader.emulator.memory import access
from grader.emulator.memory.memory import AccessRequest, Target
from grader.ptx import Immediate, Operand, Register

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.emulator.linking.link import Fetch, Link, Step
    from grader.emulator.machine.machine import Machine
    from grader.ptx import Instruction

_SIZES = {"ca": (4, 8, 16), "cg": (16,)}
"""Bytes that a copy may have, by where it is cached."""
_FORM = {"async", "ca", "cg", "shared", "shared::cta", "global"}
_HINTS = {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"}


def cp(ins: Instruction, link: Link) -> Step:
    """`cp.async.*`: the form is said by its other words."""
    words = ins.modifiers
    if words == ("async", "commit_group"):
        return copies.commit
    if words == ("async", "wait_all"):
        return _wait_all
    if words[:3] == ("async", "mbarrier", "arrive"):
        return arrives_for_copies(ins, link)
    if words == ("async", "wait_group"):
        return _wait_group(ins, link)
    return _copy(ins, link)


def _wait_all(m: Machine) -> None:
    copies.commit(m)
    copies.wait(m, 0)


def _wait_group(ins: Instruction, link: Link) -> Step:
    """`cp.async.wait_group N`: all but the latest N groups of the thread are complete."""
    (number,) = ins.operands
    if not isinstance(number, Immediate):
        raise link.unsupported()
    return lambda m: copies.wait(m, number.value)


def _copy(ins: Instruction, link: Link) -> Step:
    """`cp.async.ca|cg.shared.global [dst], [src], size {, src-size | ignore-src} {, cache-policy}`."""
    words = set(ins.modifiers)
    if not words <= _FORM | _HINTS or not {"async", "global"} <= words:
        raise link.unsupported()
    destination, source, number, *more = ins.operands
    if not isinstance(number, Immediate):
        raise link.unsupported()
    size = number.value
    if not any(way in words and size in sizes for way, sizes in _SIZES.items()):
        raise link.unsupported()
    if "L2::cache_hint" in words:
        more = more[:-1]
    amount = _amount(link, more, size)
    to, origin = link.address(destination), link.address(source)
    to_site, from_site = _site(link, destination), _site(link, source)

    def step(m: Machine) -> None:
        read, everyone = amount(m, m.active), m.active
        if read.ndim == 0:
            _issue(m, (to_site, to), (from_site, origin), size, int(read))
            return
        lanes = m.lanes()
        for bytes_read in np.unique(read).tolist():  # seldom more than two: whole, or not at all
            m.active = lanes[read == bytes_read]
            _issue(m, (to_site, to), (from_site, origin), size, bytes_read)
        m.active = everyone

    return step


def _amount(link: Link, operands: list[Operand], size: int) -> Fetch:
    """How many bytes each lane reads; the rest of the copy is zeros."""
    if not operands:
        return lambda _m, _lanes: scalar(np.int64(size))
    (operand,) = operands
    if isinstance(operand, Register) and link.register_type(operand) == "pred":
        ignored = link.fetch(operand, "pred")
        return lambda m, lanes: np.where(ignored(m, lanes), 0, size)[()]
    fetch = link.fetch(operand, "u32")
    return lambda m, lanes: np.minimum(fetch(m, lanes), np.uint32(size))


def _site(link: Link, address: Operand) -> int:
    """A site of its own for each of the two addresses: each has its own bounds."""
    alone = replace(link.instruction, operands=(address,))
    return replace(link, instruction=alone).site()


def _issue(m: Machine, to: tuple[int, Fetch], origin: tuple[int, Fetch], size: int, read: int) -> None:
    """The active lanes begin to copy ``size`` bytes, of which ``read`` come from the source."""
    site, fetch = to
    request = AccessRequest(np.dtype(f"V{size}"), "shared", "write", size)
    destination = access.resolve_checked(m, site, fetch(m, m.active), request)
    content = np.zeros((m.count, size), np.uint8)
    source = None
    if read:
        site, fetch = origin
        request = AccessRequest(np.dtype(f"V{read}"), "global", "read", size)
        source = access.resolve_checked(m, site, fetch(m, m.active), request)
        good = slice(None) if source.good is None else source.good
        content[:, :read] = 0xFF  # what a load from nowhere gives
        content[good, :read] = _bytes(source, int(content[good].shape[0]), read)
    if not _is_anywhere(destination):
        return
    began = m.observer.copied(m, source if source and _is_anywhere(source) else None, destination, size, read)
    copies.begin(m, destination, content if destination.good is None else content[destination.good], began)


def _is_anywhere(target: Target) -> bool:
    """Whether any lane's address is good."""
    return target.lanes is None or bool(len(target.lanes))


def _bytes(source: Target, count: int, size: int) -> NDArray[np.uint8]:
    """What the source holds, for each lane: shape (lanes, bytes)."""
    index = spread(source.index, count)
    return source.region.bytes[index[:, None] + np.arange(size)]


TABLE = {"cp": cp}
