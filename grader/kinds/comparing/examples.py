"""The numbers of a small run, to be shown to its student: inputs, and outputs beside what was expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.precision import numbers
from grader.model import ExampleArray
from grader.model.compare import data_of, states, untouched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.model import Argument

    Reals = NDArray[Any]

MOST_NUMBERS = 256
"""Elements of an array up to which its numbers are shown."""


def example_of(
    launched: tuple[Argument, ...], read: dict[str, Reals], outputs: list[tuple[str, Reals, Reals, Reals]]
) -> tuple[ExampleArray, ...]:
    """The inputs and outputs of a run that are small, under the student's own names."""
    arguments = {argument.name: argument for argument in launched}
    arrays = [
        ExampleArray(arguments[name].label, array.shape, _floats(array))
        for name, array in read.items()
        if array.size <= MOST_NUMBERS
    ]
    for name, output, expected, bound in outputs:
        if output.size <= MOST_NUMBERS:
            before = np.asarray(arguments[name].value)
            picture = states(output, expected, bound, poison=untouched(output, before))
            values = numbers(output)
            label = arguments[name].label
            arrays.append(
                ExampleArray(label, output.shape, _floats(values), _floats(data_of(expected)), picture)
            )
    return tuple(arrays)


def _floats(array: Reals) -> tuple[float, ...]:
    return tuple(float(value) for value in array.flat)
