"""What can be wrong with a kernel in one place: the mutation operators, by the node of the syntax tree.

Each gives the changes to one node; `TABLE` says which look at which. A change that does not compile, or that
the compiler undoes, is sorted out later and costs nothing but a compilation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.validation import expressions, statements
from grader.validation.changes import Change, Edit, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    Operator = Callable[[Node], Iterator[Change]]

PRELUDE = expressions.PRELUDE

TABLE: dict[str, tuple[Operator, ...]] = {
    "if_statement": (statements.guard_dropped,),
    "for_statement": (statements.loop_bound,),
    "while_statement": (statements.loop_bound,),
    "do_statement": (statements.loop_bound,),
    "expression_statement": (statements.removed,),
    "declaration": (statements.initial_value_missing,),
    "init_declarator": (expressions.coarser,),
    "array_declarator": (statements.array_one_short,),
    "conditional_expression": (expressions.choice_always_first,),
    "binary_expression": (
        expressions.part_dropped,
        expressions.comparison_moved,
        expressions.operator_changed,
        expressions.rounded_down,
    ),
    "assignment_expression": (
        expressions.accumulation_lost,
        expressions.zero_stored,
        expressions.coarser,
    ),
    "subscript_expression": (expressions.subscripts_swapped, expressions.index_transposed),
    "field_expression": (expressions.axes_swapped,),
    "number_literal": (expressions.constant_changed,),
    "call_expression": (expressions.atomic_made_plain, expressions.function_exchanged),
}


def changes(node: Node) -> Iterator[Change]:
    """Every change to this node."""
    for operator in TABLE.get(node.type, ()):
        yield from operator(node)


def emptied(body: Node) -> Change:
    """A function that does nothing."""
    return Change("body-empty", (Edit(body.start_byte, body.end_byte, b"{}"),))


__all__ = ["PRELUDE", "TABLE", "changes", "emptied", "replaced"]
