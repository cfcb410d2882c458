"""Mutation operators: faults in one place of a kernel, by the node of the syntax tree.

Each gives the changes to one node; `TABLE` says which look at which. A change that does not compile, or that
the compiler undoes, is sorted out later and costs nothing but a compilation.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from grader.base.cpp import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    Operator = Callable[[Node], "Iterator[Change]"]


class Edit(NamedTuple):
    """Bytes from ``start`` up to ``end`` become ``text``."""

    start: int
    end: int
    text: bytes


class Change(NamedTuple):
    """One change, possibly in two places; ``coarse`` where it needs the prelude."""

    kind: str
    edits: tuple[Edit, ...]
    coarse: bool = False


def replaced(kind: str, node: Node, text: bytes, *, coarse: bool = False) -> Change:
    """A node's text becomes another."""
    return Change(kind, (Edit(node.start_byte, node.end_byte, text),), coarse)


def exchanged(kind: str, first: Node, second: Node) -> Change:
    """Two nodes change places; ``first`` comes before ``second``."""
    forward = Edit(first.start_byte, first.end_byte, text_of(second))
    back = Edit(second.start_byte, second.end_byte, text_of(first))
    return Change(kind, (forward, back))


def applied(source: bytes, edits: tuple[Edit, ...]) -> bytes:
    """A text with edits that do not overlap."""
    for edit in sorted(edits, reverse=True):
        source = source[: edit.start] + edit.text + source[edit.end :]
    return source


def text_of(node: Node | None) -> bytes:
    """A node's text; empty for none."""
    return (node.text or b"") if node is not None else b""


def part(node: Node, name: str) -> Node | None:
    """A node's field, without the parentheses around it."""
    field = node.child_by_field_name(name)
    while field is not None and field.type in ("parenthesized_expression", "condition_clause"):
        inner = [child for child in field.named_children if child.type != "comment"]
        field = inner[0] if len(inner) == 1 else None
    return field


_JUMPS = ("return_statement", "continue_statement", "break_statement")
_LIMITS = (b"<", b"<=", b">", b">=", b"!=")
_BARRIERS = (b"__syncthreads", b"__syncwarp", b"sync", b"__threadfence", b"arrive_and_wait")


def guard_dropped(node: Node) -> Iterator[Change]:
    """`if (condition)` always; one that leaves (`if (outside) return;`) never."""
    condition, body = part(node, "condition"), node.child_by_field_name("consequence")
    if condition is None or body is None or b"constexpr" in text_of(node).split(b"(")[0]:
        return
    inner = [child for child in body.named_children if child.type != "comment"]
    leaves = body.type in _JUMPS or (
        body.type == "compound_statement" and len(inner) == 1 and inner[0].type in _JUMPS
    )
    yield replaced("guard-dropped", condition, b"false" if leaves else b"true")


def loop_bound(node: Node) -> Iterator[Change]:
    """A loop that goes one short, or one too far."""
    condition = part(node, "condition")
    for comparison in _comparisons(condition):
        limit = comparison.child_by_field_name("right")
        if limit is not None:
            bound = text_of(limit)
            yield replaced("loop-bound-lower", limit, b"(%s) - 1" % bound)
            yield replaced("loop-bound-higher", limit, b"(%s) + 1" % bound)


def _comparisons(condition: Node | None) -> Iterator[Node]:
    for node in walk(condition) if condition is not None else ():
        if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in _LIMITS:
            yield node


def removed(node: Node) -> Iterator[Change]:
    """A statement left out: an assignment, a call, a barrier."""
    if node.parent is not None and node.parent.type == "for_statement":
        return
    inner = node.named_children[0] if node.named_children else None
    if inner is None:
        return
    name = text_of(inner.child_by_field_name("function")).rsplit(b".", 1)[-1].rsplit(b"::", 1)[-1]
    is_barrier = inner.type == "call_expression" and name.startswith(_BARRIERS)
    kind = "barrier-removed" if is_barrier else "statement-removed"
    yield Change(kind, (Edit(node.start_byte, node.end_byte, b";"),))


def initial_value_missing(node: Node) -> Iterator[Change]:
    """A variable that starts from a number starts from nothing: `float sum;`."""
    if b"const" in text_of(node).split(b"=")[0]:
        return
    for declarator in node.named_children:
        name, value = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value")
        if declarator.type == "init_declarator" and name is not None and _is_plain(value):
            yield Change("initial-value-missing", (Edit(name.end_byte, declarator.end_byte, b""),))


def _is_plain(value: Node | None) -> bool:
    return value is not None and value.type in ("number_literal", "unary_expression", "initializer_list")


def array_one_short(node: Node) -> Iterator[Change]:
    """An array with one element less in one dimension."""
    size = node.child_by_field_name("size")
    if size is not None:
        yield replaced("array-one-short", size, b"(%s) - 1" % text_of(size))


PRELUDE = b"""\
static __device__ __forceinline__ float graderCoarse(float v) { \
return __int_as_float((__float_as_int(v) + 0x1000) & 0xffffe000); }
template <class T> static __device__ __forceinline__ T graderCoarse(T v) { return v; }
"""
"""Rounds a float to eleven significant bits, as half precision and TF32 have them; leaves all else alone."""

_MOVED = {
    b"<": b"<=",
    b"<=": b"<",
    b">": b">=",
    b">=": b">",
    b"==": b"!=",
    b"!=": b"==",
}
_CHANGED = {
    b"+": b"-",
    b"-": b"+",
    b"*": b"+",
    b"/": b"*",
    b"%": b"/",
    b"<<": b">>",
    b">>": b"<<",
    b"&": b"|",
    b"|": b"&",
    b"^": b"|",
}
_EXCHANGED = {
    b"min": b"max",
    b"max": b"min",
    b"fminf": b"fmaxf",
    b"fmaxf": b"fminf",
    b"__shfl_down_sync": b"__shfl_up_sync",
    b"__shfl_up_sync": b"__shfl_down_sync",
    b"atomicMin": b"atomicMax",
    b"atomicMax": b"atomicMin",
    b"atomicAdd": b"atomicSub",
}
_PLAIN = {
    b"atomicAdd": b"graderOld + (%s)",
    b"atomicSub": b"graderOld - (%s)",
    b"atomicMin": b"min(graderOld, (%s))",
    b"atomicMax": b"max(graderOld, (%s))",
    b"atomicAnd": b"graderOld & (%s)",
    b"atomicOr": b"graderOld | (%s)",
    b"atomicXor": b"graderOld ^ (%s)",
    b"atomicExch": b"(%s)",
}
_WHOLE = re.compile(rb"(\d+)([uUlL]*)")
_FLOAT = re.compile(rb"(?i)\d*\.\d*(e[-+]?\d+)?f?|\d+e[-+]?\d+f?")
_WHOLE_TYPE = re.compile(rb"\b(int|unsigned|long|short|bool|char|size_t|u?int\d+_t)\b")
_AXES = {b"x": b"y", b"y": b"x", b"z": b"x"}
_INDICES = (b"threadIdx", b"blockIdx", b"blockDim", b"gridDim")
_STORED = ("subscript_expression", "pointer_expression")


def choice_always_first(node: Node) -> Iterator[Change]:
    """`condition ? a : b` is always `a`."""
    condition = node.child_by_field_name("condition")
    if condition is not None:
        yield replaced("guard-dropped", condition, b"true")


def part_dropped(node: Node) -> Iterator[Change]:
    """One operand of `&&` or `||` left out."""
    if _operator(node) in (b"&&", b"||"):
        left, right = _sides(node)
        yield replaced("condition-part-dropped", node, right)
        yield replaced("condition-part-dropped", node, left)


def comparison_moved(node: Node) -> Iterator[Change]:
    """`<` for `<=`, and the other way round."""
    yield from _other_operator(node, "comparison-moved", _MOVED)


def operator_changed(node: Node) -> Iterator[Change]:
    """`-` for `+`, `+` for `*`."""
    yield from _other_operator(node, "operator-changed", _CHANGED)


def rounded_down(node: Node) -> Iterator[Change]:
    """`(n + size - 1) / size` becomes `n / size`."""
    above = part(node, "left")
    if _operator(node) != b"/" or above is None or above.type != "binary_expression":
        return
    last = above.child_by_field_name("right")
    if _operator(above) in (b"+", b"-") and last is not None and last.type == "number_literal":
        first = above
        while first.type == "binary_expression" and _operator(first) in (b"+", b"-"):
            first = first.child_by_field_name("left") or first.children[0]
        whole = node.child_by_field_name("left")
        if whole is not None:
            yield replaced("division-rounded-down", whole, b"(%s)" % text_of(first))


def accumulation_lost(node: Node) -> Iterator[Change]:
    """`+=` becomes `=`, or `-=`."""
    operator = node.child_by_field_name("operator")
    in_loop_head = node.parent is not None and node.parent.type == "for_statement"
    if operator is None or text_of(operator) == b"=" or in_loop_head:
        return
    yield replaced("accumulation-lost", operator, b"=")
    if text_of(operator) in (b"+=", b"-="):
        yield replaced("operator-changed", operator, b"-=" if text_of(operator) == b"+=" else b"+=")


def zero_stored(node: Node) -> Iterator[Change]:
    """An element of an array is set to zero."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    stores = left is not None and left.type in _STORED
    if stores and right is not None and _operator(node) == b"=" and text_of(right) not in (b"0", b"0.0f"):
        yield replaced("zero-stored", right, b"0")


def coarser(node: Node) -> Iterator[Change]:
    """Rounding to eleven significant bits of a value that is kept in a variable or an element."""
    value = node.child_by_field_name("right") or node.child_by_field_name("value")
    left = node.child_by_field_name("left")
    operator = _operator(node) or b"="
    in_loop_head = node.parent is not None and node.parent.type == "for_statement"
    if value is None or value.type in ("number_literal", "initializer_list") or in_loop_head:
        return
    if node.parent is not None and _WHOLE_TYPE.search(text_of(node.parent.child_by_field_name("type"))):
        return
    if operator == b"=":
        yield replaced("coarser-arithmetic", value, b"graderCoarse(%s)" % text_of(value), coarse=True)
    elif operator in (b"+=", b"-=", b"*="):
        parts = (text_of(left), text_of(left), operator[:1], text_of(value))
        yield replaced("coarser-arithmetic", node, b"%s = graderCoarse(%s %s (%s))" % parts, coarse=True)


def axes_swapped(node: Node) -> Iterator[Change]:
    """`threadIdx.y` for `threadIdx.x`."""
    axis = node.child_by_field_name("field")
    if text_of(node.child_by_field_name("argument")) in _INDICES and axis is not None:
        other = _AXES.get(text_of(axis))
        if other:
            yield replaced("axes-swapped", axis, other)


def subscripts_swapped(node: Node) -> Iterator[Change]:
    """`tile[x][y]` for `tile[y][x]`."""
    inner = node.child_by_field_name("argument")
    if inner is not None and inner.type == "subscript_expression":
        first, second = inner.child_by_field_name("indices"), node.child_by_field_name("indices")
        if first is not None and second is not None:
            yield exchanged("subscripts-swapped", first, second)


def index_transposed(node: Node) -> Iterator[Change]:
    """`a[column * n + row]` for `a[row * n + column]`."""
    indices = node.child_by_field_name("indices")
    inner = indices.named_children[0] if indices is not None and indices.named_children else None
    if inner is None or inner.type != "binary_expression" or _operator(inner) != b"+":
        return
    product, rest = part(inner, "left"), inner.child_by_field_name("right")
    if product is not None and rest is not None and _operator(product) == b"*":
        row = product.child_by_field_name("left")
        if row is not None and text_of(row) != text_of(rest):
            yield exchanged("index-transposed", row, rest)


def constant_changed(node: Node) -> Iterator[Change]:
    """A number one higher or one lower; zero in floating point becomes one."""
    if node.parent is not None and node.parent.type == "array_declarator":
        return
    text = text_of(node)
    whole = _WHOLE.fullmatch(text)
    if whole:
        number = int(whole[1])
        yield replaced("constant-changed", node, b"%d%s" % (number + 1, whole[2]))
        if number:
            yield replaced("constant-changed", node, b"%d%s" % (number - 1, whole[2]))
    elif _FLOAT.fullmatch(text):
        suffix = b"f" if text[-1:] in b"fF" else b""
        yield replaced("constant-changed", node, b"(%s + 1.0%s)" % (text, suffix))
    else:
        yield replaced("constant-changed", node, b"(%s - 1)" % text)


def atomic_made_plain(node: Node) -> Iterator[Change]:
    """An atomic operation becomes a load, an operation and a store."""
    plain = _PLAIN.get(_called(node).removesuffix(b"_block").removesuffix(b"_system"))
    arguments = node.child_by_field_name("arguments")
    operands = [child for child in arguments.named_children if child.type != "comment"] if arguments else []
    if plain is not None and len(operands) == 2:  # noqa: PLR2004 - the address and the operand
        value = plain % text_of(operands[1]) if b"%" in plain else plain
        text = b"({ auto* graderAt = (%s); auto graderOld = *graderAt; *graderAt = %s; graderOld; })"
        yield replaced("atomic-made-plain", node, text % (text_of(operands[0]), value))


def function_exchanged(node: Node) -> Iterator[Change]:
    """`max` for `min`, a shuffle in the other direction, `atomicSub` for `atomicAdd`."""
    function = node.child_by_field_name("function")
    other = _EXCHANGED.get(_called(node))
    if other and function is not None:
        yield replaced("function-exchanged", function, other)


def _called(node: Node) -> bytes:
    return text_of(node.child_by_field_name("function"))


def _operator(node: Node) -> bytes:
    return text_of(node.child_by_field_name("operator"))


def _sides(node: Node) -> tuple[bytes, bytes]:
    return text_of(node.child_by_field_name("left")), text_of(node.child_by_field_name("right"))


def _other_operator(node: Node, kind: str, table: dict[bytes, bytes]) -> Iterator[Change]:
    operator = node.child_by_field_name("operator")
    if operator is not None and text_of(operator) in table:
        yield Change(kind, (Edit(operator.start_byte, operator.end_byte, table[text_of(operator)]),))


TABLE: dict[str, tuple[Operator, ...]] = {
    "if_statement": (guard_dropped,),
    "for_statement": (loop_bound,),
    "while_statement": (loop_bound,),
    "do_statement": (loop_bound,),
    "expression_statement": (removed,),
    "declaration": (initial_value_missing,),
    "init_declarator": (coarser,),
    "array_declarator": (array_one_short,),
    "conditional_expression": (choice_always_first,),
    "binary_expression": (
        part_dropped,
        comparison_moved,
        operator_changed,
        rounded_down,
    ),
    "assignment_expression": (
        accumulation_lost,
        zero_stored,
        coarser,
    ),
    "subscript_expression": (subscripts_swapped, index_transposed),
    "field_expression": (axes_swapped,),
    "number_literal": (constant_changed,),
    "call_expression": (atomic_made_plain, function_exchanged),
}


def changes(node: Node) -> Iterator[Change]:
    """Every change to this node."""
    for operator in TABLE.get(node.type, ()):
        yield from operator(node)


def emptied(body: Node) -> Change:
    """A function that does nothing."""
    return Change("body-empty", (Edit(body.start_byte, body.end_byte, b"{}"),))
