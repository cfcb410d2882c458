"""Hypotheses for a transposition: a grid with its axes exchanged, tiles that stay, rows of another length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explaining.misplaced_values import exchanged, reached_by_swapped_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.explaining.facts import Prediction, WrongOutput

NOT_A_MISTAKE = ("block-indices-swapped", "rows-and-columns-swapped")
"""What a transposition has to do on the way."""


def predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Results of a transposition on a grid with its axes exchanged, or where tiles stay in their places."""
    if output.got.ndim == 2 and not output.in_a_line:  # noqa: PLR2004 - rows and columns
        for tile in output.tiles:
            yield "block-indices-swapped", reached_by_swapped_blocks(output.wanted, tile), None
            for width in dict.fromkeys(output.got.shape):
                yield from _rows_of_another_length(output, width)
            taken, known = exchanged(output.wanted, tile)
            yield "tiles-stay", np.where(known, taken, np.nan), None


def _rows_of_another_length(output: WrongOutput, width: int) -> Iterator[Prediction]:
    """A transposition whose input is read with rows of this length, known where that stays inside."""
    for _, array in output.inputs:
        if array.shape == output.got.shape[::-1] and array.shape[1] != width:
            row, column = np.indices(array.shape)
            index = row * width + column
            inside = index < array.size
            taken = np.asarray(array, np.float64).reshape(-1)[np.where(inside, index, 0)]
            yield "a-leading-dimension", taken.T, np.asarray(inside.T)
