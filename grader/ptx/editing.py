"""Functions with instructions put in or taken out; labels stay with the instructions they stood before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from grader.ptx.nodes import Function, Instruction, Module


def edited(function: Function, insert: Mapping[int, Instruction], remove: Collection[int] = ()) -> Function:
    """A function with each of ``insert`` before the instruction of its index, and without ``remove``.

    Who jumps to a label before that instruction executes what was put in, too.
    """
    body: list[Instruction] = []
    place: list[int] = []
    for at, instruction in enumerate(function.body):
        place.append(len(body))
        if at in insert:
            body.append(insert[at])
        if at not in remove:
            body.append(instruction)
    place.append(len(body))
    labels = tuple((label, place[index]) for label, index in function.labels)
    return replace(function, body=tuple(body), labels=labels)


def exchanged(module: Module, function: Function) -> Module:
    """A module whose function of this name is replaced by this one."""
    functions = tuple(
        function if each.defined and each.name == function.name else each for each in module.functions
    )
    return replace(module, functions=functions)
