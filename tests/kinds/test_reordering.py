"""The orders of parameters that are tried."""

from __future__ import annotations

from grader.kinds.attempts.orders import orders
from tests.bundled import bundled

MATMUL = bundled("tiled-matmul").kernel.parameters
VECTOR = bundled("vector-add").kernel.parameters


def test_the_order_of_the_file_s_names_is_tried_alone() -> None:
    """Large or small letters."""
    assert list(orders(MATMUL, ("A", "B", "C", "m", "n", "k"))) == [(0, 1, 2, 3, 5, 4)]
    assert list(orders(MATMUL, ("B", "A", "C", "M", "K", "N"))) == [(1, 0, 2, 3, 4, 5)]


def test_nothing_is_tried_where_the_names_are_those_of_the_hand_out() -> None:
    """Or where there is no other order of the sizes."""
    assert list(orders(MATMUL, ("A", "B", "C", "M", "K", "N"))) == []
    assert list(orders(VECTOR, ("x", "y", "z", "len"))) == []


def test_every_order_of_a_few_sizes_is_tried_where_names_tell_nothing() -> None:
    """Arrays stay in their places."""
    tried = list(orders(MATMUL, ("a", "b", "c", "rows", "inner", "cols")))
    assert len(tried) == 5
    assert {order[:3] for order in tried} == {(0, 1, 2)}


def test_a_size_is_never_given_to_an_array() -> None:
    """Not even where the names say so."""
    assert list(orders(VECTOR, ("N", "B", "C", "A"))) == []
