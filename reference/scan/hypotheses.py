"""Hypotheses for scans: sums that begin or end elsewhere, steps of a tile that were taken otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explaining.facts import blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.explaining.facts import Prediction, Reals, WrongOutput


def predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Results of a scan of each row that leaves something out; a vector is one row.

    The expected one may be inclusive or exclusive.
    """
    rows = _rows(output)
    if rows is None:
        return
    inclusive = np.cumsum(rows, axis=1)
    exclusive = inclusive - rows
    wanted, slack = output.wanted.reshape(rows.shape), output.tolerance(output.wanted).reshape(rows.shape)
    if (np.abs(inclusive - wanted) <= slack).all():
        own, others = rows, (("exclusive-scan", exclusive), *_run_on(rows, rows))
    elif (np.abs(exclusive - wanted) <= slack).all():
        own = np.zeros_like(rows)
        others = (("inclusive-scan", inclusive), *_run_on(rows, own))
    else:
        return
    for mistake, predicted in (*others, *_shortened(output, rows, own)):
        yield mistake, predicted.reshape(output.got.shape), None


def _rows(output: WrongOutput) -> Reals | None:
    """The first input of the output's shape, as rows."""
    array = next((a for _, a in output.inputs if a.shape == output.got.shape and a.size > 1), None)
    return None if array is None else np.asarray(array, np.float64).reshape(-1, array.shape[-1])


def _run_on(rows: Reals, own: Reals) -> Iterator[tuple[str, Reals]]:
    """Every row goes on where the one before ended."""
    if len(rows) > 1:
        yield "rows-run-on", np.cumsum(rows).reshape(rows.shape) - (rows - own)


def _shortened(output: WrongOutput, rows: Reals, own: Reals) -> Iterator[tuple[str, Reals]]:
    """Sums that begin elsewhere than at the row's start, or end elsewhere than at the element itself."""
    size = rows.shape[1]
    exclusive = np.cumsum(rows, axis=1) - rows
    yield "scan-backwards", np.cumsum(rows[:, ::-1], axis=1)[:, ::-1] - (rows - own)
    for block in blocks_of(output, size):
        start = np.arange(size) // block * block
        local = exclusive - exclusive[:, start] + own
        before = np.where(start > 0, exclusive[:, start] - exclusive[:, np.maximum(start - block, 0)], 0.0)
        yield "blocks-not-joined", local
        yield "one-block-joined", local + before
        yield "last-step-missing", _window(rows, start, block // 2) - (rows - own)
        yield from ((mistake, steps - (rows - own)) for mistake, steps in _by_steps(rows, block))
    yield "last-step-missing", _window(rows, np.zeros(size, np.intp), _half_below(size)) - (rows - own)


def _half_below(size: int) -> int:
    """The last distance of a loop that doubles it while it is below the size."""
    return 1 << max(0, (size - 1).bit_length() - 1)


def _window(rows: Reals, start: np.ndarray[tuple[int, ...], np.dtype[np.intp]], width: int) -> Reals:
    """The sum of the last ``width`` elements up to each one of its row, none before its start."""
    total = np.cumsum(np.pad(rows, ((0, 0), (1, 0))), axis=1)
    end = np.arange(1, rows.shape[1] + 1)
    summed: Reals = total[:, end] - total[:, np.maximum(end - max(width, 1), start)]
    return summed


def _by_steps(rows: Reals, block: int) -> Iterator[tuple[str, Reals]]:
    """Inclusive scans tile by tile, with other steps inside a tile or something else carried on."""
    size = rows.shape[1]
    padded = np.pad(rows, ((0, 0), (0, -size % block)))
    tiles = padded.reshape(len(rows), -1, block)
    distances = [1 << power for power in range((block - 1).bit_length())]
    last = np.cumsum(tiles, axis=2)[:, :, -1]
    for mistake, local, carried in (
        ("first-of-tile-left-out", _stepped(tiles, distances, first=1), None),
        ("last-step-missing", _stepped(tiles, distances[:-1]), None),
        ("last-step-missing", _stepped(tiles, distances[1:]), None),
        ("steps-read-the-input", tiles + _shifted(tiles, distances[-1]), None),
        ("steps-read-the-input", tiles + _shifted(tiles, 1), None),
        ("steps-read-the-input", tiles, None),
        ("last-input-carried", np.cumsum(tiles, axis=2), tiles[:, :, -1]),
        ("last-input-carried", np.cumsum(tiles, axis=2), np.cumsum(tiles[:, :, -1], axis=1)),
        ("one-block-joined", np.cumsum(tiles, axis=2), last),
    ):
        ends = np.cumsum(local[:, :, -1], axis=1) if carried is None else carried
        before = np.pad(ends, ((0, 0), (1, 0)))[:, :-1, None]
        yield mistake, (local + before).reshape(len(rows), -1)[:, :size]


def _stepped(tiles: Reals, distances: list[int], first: int = 0) -> Reals:
    """Sums after steps of these distances; threads take part from the distance plus ``first`` on."""
    for distance in distances:
        added = _shifted(tiles, distance)
        added[:, :, distance : distance + first] = 0.0
        tiles = tiles + added
    return tiles


def _shifted(tiles: Reals, distance: int) -> Reals:
    """Each tile shifted by a number of places, zeros before it."""
    return np.pad(tiles, ((0, 0), (0, 0), (distance, 0)))[:, :, : tiles.shape[2]]
