"""Other orders of the parameters of a kernel or a function, in which it may be right.

The order of the names that the file gives its parameters is tried; where the names give no order, every other
order of the sizes, if they are few. An order has to make everything right that is wrong.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, TypeAlias

from grader.base.errors import log_swallowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.model import Parameter

MOST_SIZES = 3
"""Sizes up to which all their orders are tried."""


Order: TypeAlias = tuple[int, ...]
"""Index, for each parameter of the kernel, of its argument among those of the hand-out."""


def right_order(
    parameters: Sequence[Parameter], names: Sequence[str], is_right: Callable[[Order], bool]
) -> Order | None:
    """The first other order that ``is_right``; None where there is none, or where trying one fails."""
    try:
        return next(filter(is_right, orders(parameters, names)), None)
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("running with the parameters in another order")
        return None


def orders(parameters: Sequence[Parameter], names: Sequence[str]) -> Iterator[Order]:
    """The orders to try: that of the names, or of a few sizes every one where the names tell nothing."""
    expected = [parameter.name.casefold() for parameter in parameters]
    student_names = [name.casefold() for name in names]
    if student_names == expected:
        return
    usual = tuple(range(len(parameters)))
    if sorted(student_names) == sorted(expected) and len(set(expected)) == len(expected):
        by_name = tuple(expected.index(name) for name in student_names)
        if all(
            parameters[position].dtype == parameter.dtype
            for position, parameter in zip(by_name, parameters, strict=True)
        ):
            yield by_name
        return
    sizes = [position for position in usual if parameters[position].direction == "value"]
    alike = len({parameters[position].dtype for position in sizes}) == 1
    if not alike or not 1 < len(sizes) <= MOST_SIZES:
        return
    for places in permutations(sizes):
        exchanged = dict(zip(sizes, places, strict=True))
        order = tuple(exchanged.get(position, position) for position in usual)
        if order != usual:
            yield order
