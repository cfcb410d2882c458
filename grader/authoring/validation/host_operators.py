"""Mutation operators of host code: faults in how it uses the device, by the node of the syntax tree.

What else a host computes is left alone: a program may read arguments and fill arrays in its own way, and a
change there says nothing of what an assignment is about.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from grader.authoring.validation.operators import (
    Change,
    Edit,
    exchanged,
    loop_bound,
    part,
    replaced,
    rounded_down,
    text_of,
)
from grader.base.cpp import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from grader.authoring.validation.operators import Operator

_CALL = re.compile(rb"cuda[A-Z]\w*")
_KINDS = (
    (re.compile(rb"cudaMem(?:cpy|set|Prefetch)\w*"), "copy-removed"),
    (re.compile(rb"cuda\w+(?:Synchronize|WaitEvent)|cudaThreadSynchronize|cudaEventRecord"), "wait-removed"),
    (re.compile(rb"cudaFree\w*|cuda\w+Destroy"), "free-removed"),
    (re.compile(rb"cuda(?:Get|PeekAt)LastError"), "status-ignored"),
)
"""Calls that a statement can be left out for, and the kind of mistake that it is."""

_BYTES = re.compile(
    rb"(?P<second>cuda(?:Malloc(?:Host|Managed|Async)?|HostAlloc))"
    rb"|(?P<third>cudaMem(?:cpy|set)(?:Async)?|cudaMemcpy(?:To|From)Symbol(?:Async)?)"
)
"""Calls by which of their arguments counts bytes."""

_OTHER_WAY = {
    b"cudaMemcpyHostToDevice": b"cudaMemcpyDeviceToHost",
    b"cudaMemcpyDeviceToHost": b"cudaMemcpyHostToDevice",
}
_COPIES = (b"cudaMemcpy", b"cudaMemcpyAsync")
_STREAM_OF_LAUNCH = 3
"""Index of the stream among the arguments within ``<<<`` and ``>>>``."""


def left_out(node: Node) -> Iterator[Change]:
    """A copy, a wait, a release or a look at the status that is missing; a launch that is."""
    calls = [inner for inner in walk(node) if inner.type == "call_expression"]
    if any(_configuration(call) is not None for call in calls):
        yield Change("launch-removed", (Edit(node.start_byte, node.end_byte, b";"),))
    names = [name for call in calls if _CALL.fullmatch(name := _called(call))]
    for pattern, kind in _KINDS:
        if len(names) == 1 and pattern.fullmatch(names[0]):
            yield Change(kind, (Edit(node.start_byte, node.end_byte, b";"),))


def fewer_bytes(node: Node) -> Iterator[Change]:
    """Elements for bytes, and the size of a pointer, where a call of the runtime counts bytes."""
    match, arguments = _BYTES.fullmatch(_called(node)), _arguments(node)
    at = 0 if match is None else 1 if match["second"] else 2
    if at and len(arguments) > at:
        yield replaced("elements-for-bytes", arguments[at], b"(%s) / 4" % text_of(arguments[at]))
        yield replaced("size-of-a-pointer", arguments[at], b"sizeof(void *)")


def turned_round(node: Node) -> Iterator[Change]:
    """A copy in the other direction: by its kind, or with source and destination exchanged."""
    arguments = _arguments(node)
    if _called(node) in _COPIES and len(arguments) > 1:
        yield exchanged("source-and-destination-exchanged", arguments[0], arguments[1])
    if _CALL.fullmatch(_called(node)):
        for argument in arguments:
            if text_of(argument) in _OTHER_WAY:
                yield replaced("direction-changed", argument, _OTHER_WAY[text_of(argument)])


def configured_otherwise(node: Node) -> Iterator[Change]:
    """A launch with the sizes of its grid and its blocks exchanged, or in no stream of its own."""
    configuration = _configuration(node)
    parts = _operands(configuration)
    if len(parts) > 1 and text_of(parts[0]) != text_of(parts[1]):
        yield exchanged("grid-and-block-exchanged", parts[0], parts[1])
    if len(parts) > _STREAM_OF_LAUNCH and text_of(parts[_STREAM_OF_LAUNCH]) != b"0":
        yield replaced("stream-left-out", parts[_STREAM_OF_LAUNCH], b"0")


def arguments_exchanged(node: Node) -> Iterator[Change]:
    """Two arguments of a launch that stand beside each other, in the wrong order."""
    if _configuration(node) is not None:
        for first, second in pairwise(_arguments(node)):
            if text_of(first) != text_of(second):
                yield exchanged("arguments-exchanged", first, second)


def outside_of_stream(node: Node) -> Iterator[Change]:
    """An asynchronous call in the default stream."""
    arguments = _arguments(node)
    if _called(node).endswith(b"Async") and _CALL.fullmatch(_called(node)) and arguments:
        last = arguments[-1]
        if last.type in ("identifier", "subscript_expression") and text_of(last) not in _OTHER_WAY:
            yield replaced("stream-left-out", last, b"0")


def failure_ignored(node: Node) -> Iterator[Change]:
    """A status that says that a call failed, and the program goes on."""
    condition = part(node, "condition")
    if condition is not None and (b"cudaSuccess" in text_of(condition) or b"cudaError" in text_of(condition)):
        yield replaced("status-ignored", condition, b"false")


def bound_of_launches(node: Node) -> Iterator[Change]:
    """A loop around calls of the device that goes one short, or one too far."""
    body = node.child_by_field_name("body")
    if body is not None and any(map(_uses_device, walk(body))):
        yield from loop_bound(node)


def _uses_device(node: Node) -> bool:
    return _configuration(node) is not None or _CALL.fullmatch(_called(node)) is not None


def _called(node: Node) -> bytes:
    return text_of(node.child_by_field_name("function")) if node.type == "call_expression" else b""


def _configuration(node: Node) -> Node | None:
    """``<<<…>>>`` of a launch; None for any other call."""
    return next((child for child in node.children if child.type == "kernel_call_syntax"), None)


def _arguments(node: Node) -> list[Node]:
    return _operands(node.child_by_field_name("arguments"))


def _operands(node: Node | None) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"] if node is not None else []


TABLE: dict[str, tuple[Operator, ...]] = {
    "expression_statement": (left_out,),
    "if_statement": (failure_ignored,),
    "for_statement": (bound_of_launches,),
    "while_statement": (bound_of_launches,),
    "binary_expression": (rounded_down,),
    "call_expression": (
        fewer_bytes,
        turned_round,
        configured_otherwise,
        arguments_exchanged,
        outside_of_stream,
    ),
}


def changes(node: Node) -> Iterator[Change]:
    """Every change to this node of a host function."""
    for operator in TABLE.get(node.type, ()):
        yield from operator(node)
