"""Hypotheses for C = A · B: what each named mistake would have made of these inputs.

A is M x K, B is K x N, C is M x N, all row by row. A mistake is a prediction of C, with a mask of the
elements it can predict where it would read beyond the end of an input.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.explaining.misplaced_values import reached_by_swapped_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from grader.explaining.facts import Mask, Prediction, Reals, WrongOutput

LARGEST = 2**24
"""Products M · K · N up to which the hypotheses are computed: beyond, they would take a second and more."""

MATRIX = 2
"""The axes of a matrix."""


class Operands(NamedTuple):
    """The two inputs in float64, and their names."""

    a: Reals
    b: Reals
    names: tuple[str, str]

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, K, N."""
        return self.a.shape[0], self.a.shape[1], self.b.shape[1]


def operands(output: WrongOutput) -> Operands | None:
    """The first two matrices among the inputs; None where they make no product of the output's shape."""
    matrices = [(name, array) for name, array in output.inputs if array.ndim == MATRIX][:2]
    if len(matrices) != MATRIX or output.got.ndim != MATRIX:
        return None
    (first, a), (second, b) = matrices
    if a.shape[1] != b.shape[0] or output.got.shape != (a.shape[0], b.shape[1]):
        return None
    if a.shape[0] * a.shape[1] * b.shape[1] > LARGEST or not output.got.size:
        return None
    return Operands(np.asarray(a, np.float64), np.asarray(b, np.float64), (first, second))


def predictions(output: WrongOutput) -> Iterator[Prediction]:
    """Every mistake's prediction, the more specific first, each computed only when it is asked for."""
    inputs = operands(output)
    if inputs is None:
        return
    yield from _other_terms(output, inputs)
    yield from _other_strides(inputs)
    yield from _other_order(output, inputs)
    yield from _other_products(inputs)
    yield from _sums_gone_wrong(inputs)
    yield from _rounded(inputs)
    for tile in output.tiles:
        swapped = _thread_indices_swapped(inputs, tile)
        yield "thread-indices-swapped", swapped, None
        yield "thread-indices-swapped", reached_by_swapped_blocks(swapped, tile), None
        yield "tile-transposed", _tile_transposed(inputs.a.T, inputs.b.T, tile).T, None
        yield "tile-transposed", _tile_transposed(inputs.b, inputs.a, tile), None
        yield "tile-transposed", _both_tiles_transposed(inputs, tile), None
        yield from _blocks_stay(inputs, tile)


# --- some of the terms, or too many ------------------------------------------------------------------


def _other_terms(output: WrongOutput, inputs: Operands) -> Iterator[Prediction]:
    """Sums over part of k, or over more than k."""
    a, b, _ = inputs
    terms = a.shape[1]
    k = np.arange(terms)
    for tile in output.tiles:
        whole, tiles = terms // tile, -(-terms // tile)
        yield from (
            (mistake, a[:, kept] @ b[kept, :], None)
            for mistake, kept in (
                ("last-tile-dropped", k < whole * tile),
                ("last-tile-dropped", k < (tiles - 1) * tile),
                ("first-tile-only", k < tile),
                ("not-accumulated", k >= (tiles - 1) * tile),
                ("inner-loop-short", k % tile != tile - 1),
                ("inner-loop-short", k % tile != 0),
                *(("terms-left-out", k % tile < tile - last) for last in (2, 4, 8) if last < tile),
            )
        )
        for size in (a.shape[0], output.got.shape[1]):
            yield "tile-loop-bound", a[:, : -(-size // tile) * tile] @ b[: -(-size // tile) * tile, :], None
        yield "tile-index-missing", tiles * (a[:, :tile] @ b[:tile, :]), None
        yield "a-tile-stays", a[:, k % tile] @ b, None
        yield "b-tile-stays", a @ b[k % tile, :], None
        padding = -terms % tile
        product = a @ b
        yield "padded-with-ones", product + padding, None
        if whole and padding:
            left = slice(whole * tile - padding, whole * tile)  # what the tile before has left there
            yield "stale-tile", product + a[:, left] @ b[left, :], None
    for size in (a.shape[0], output.got.shape[1]):
        yield "tile-loop-bound", a[:, :size] @ b[:size, :], None
    for several in (2, 4, 8):
        for which in range(several):
            yield "terms-left-out", a[:, k % several != which] @ b[k % several != which, :], None
        whole = terms // several * several
        yield "terms-left-out", a[:, :whole] @ b[:whole, :], None
    for mistake, kept in (
        ("inner-loop-short", k > 0),
        ("inner-loop-short", k < terms - 1),
        ("not-accumulated", k == terms - 1),
    ):
        yield mistake, a[:, kept] @ b[kept, :], None


# --- read from elsewhere -----------------------------------------------------------------------------


def _read(
    matrix: Reals, strides: tuple[int, int], shape: tuple[int, int] | None = None
) -> tuple[Reals, Mask]:
    """A matrix as read with other strides, and where that stays inside the array."""
    rows, columns = shape or matrix.shape
    index = np.add.outer(np.arange(rows) * strides[0], np.arange(columns) * strides[1])
    inside = index < matrix.size
    return matrix.reshape(-1)[np.where(inside, index, 0)], inside


def _product(first: tuple[Reals, Mask], second: tuple[Reals, Mask]) -> tuple[Reals, Mask]:
    """The product of two matrices as read; known where no term lay outside."""
    known = np.logical_and.outer(first[1].all(axis=1), second[1].all(axis=0))
    return first[0] @ second[0], known


def _other_strides(inputs: Operands) -> Iterator[Prediction]:
    """An operand read transposed, or with the width of another matrix."""
    a, b, _ = inputs
    m, k, n = inputs.shape
    right_a, right_b = _read(a, (k, 1)), _read(b, (n, 1))
    for width in dict.fromkeys((m, k, n)):
        yield "a-transposed", *_product(_read(a, (1, width)), right_b)
        yield "b-transposed", *_product(right_a, _read(b, (1, width)))
    yield "both-transposed", *_product(_read(a, (1, m)), _read(b, (1, k)))
    yield "both-transposed", *_product(_read(a, (1, k)), _read(b, (1, n)))
    for width in (n, m):
        yield "a-leading-dimension", *_product(_read(a, (width, 1)), right_b)
    for width in (k, m):
        yield "b-leading-dimension", *_product(right_a, _read(b, (width, 1)))
    for first, second in ((n, k), (n, m), (m, k), (m, m)):
        yield "both-leading-dimensions", *_product(_read(a, (first, 1)), _read(b, (second, 1)))


def _other_order(output: WrongOutput, inputs: Operands) -> Iterator[Prediction]:
    """The kernel's M, K and N given in another order, on the grid of the right one."""
    rows, columns = output.got.shape
    for m, k, n in list(permutations(inputs.shape))[1:]:
        for tile in output.tiles or (1,):
            height, width = min(m, -(-rows // tile) * tile), min(n, -(-columns // tile) * tile)
            values, known = _product(
                _read(inputs.a, (k, 1), (height, k)), _read(inputs.b, (n, 1), (k, width))
            )
            index = np.add.outer(np.arange(height) * n, np.arange(width))
            yield "parameter-order", *_stored(index, values, known, output.got.shape)


def _stored(
    index: NDArray[np.intp], values: Reals, known: Mask, shape: tuple[int, ...]
) -> tuple[Reals, Mask]:
    """An array after stores to distinct places: NaN where nothing was stored, known where that is."""
    size = int(np.prod(shape))
    inside = index < size
    flat, sure = np.full(size, np.nan), np.ones(size, np.bool_)
    flat[index[inside]] = values[inside]
    sure[index[inside]] = known[inside]
    return flat.reshape(shape), sure.reshape(shape)


# --- another operation -------------------------------------------------------------------------------


def _other_products(inputs: Operands) -> Iterator[Prediction]:
    """B · A, and A times B element by element, where the shapes allow it."""
    a, b, _ = inputs
    if a.shape == b.shape and a.shape[0] == a.shape[1]:
        yield "operands-swapped", b @ a, None
        yield "elementwise-product", a * b, None


def _sums_gone_wrong(inputs: Operands) -> Iterator[Prediction]:
    """One operand in the place of both, sums for products, and sums that go on from element to element."""
    a, b, _ = inputs
    m, k, n = inputs.shape
    yield "operand-twice", *_product(_read(a, (k, 1)), _read(a, (n, 1), (k, n)))
    yield "operand-twice", *_product(_read(b, (k, 1), (m, k)), _read(b, (n, 1)))
    if m == k == n:
        yield "operand-twice", a @ a, None
        yield "operand-twice", b @ b, None
    yield "sum-for-product", a.sum(axis=1)[:, None] + b.sum(axis=0)[None, :], None
    for axis in (0, 1):
        yield "sum-not-reset", np.cumsum(a @ b, axis=axis), None


def _rounded(inputs: Operands) -> Iterator[Prediction]:
    """Inputs, products or sums in a smaller type."""
    a, b, _ = inputs
    whole_a, whole_b = np.trunc(a), np.trunc(b)
    for first, second in ((whole_a, whole_b), (whole_a, b), (a, whole_b)):
        yield "integer-inputs", first @ second, None
    yield "integer-inputs", _integer_sum(a, b), None
    for rounded in (_to_half, _to_bfloat):
        yield "half-precision", rounded(a) @ rounded(b), None


def _integer_sum(a: Reals, b: Reals) -> Reals:
    """Values that ``int sum; sum += a * b`` gives, term by term."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        total = np.trunc(total + np.outer(a[:, k], b[k, :]))
    return total


def _to_half(values: Reals) -> Reals:
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float64)


def _to_bfloat(values: Reals) -> Reals:
    """To the nearest number with the upper 16 bits of a float32."""
    bits = values.astype(np.float32).view(np.uint32)
    nearest: NDArray[Any] = (bits + np.uint32(0x8000)) & np.uint32(0xFFFF0000)
    return nearest.view(np.float32).astype(np.float64)


# --- other threads -----------------------------------------------------------------------------------


def _thread_indices_swapped(inputs: Operands, tile: int) -> Reals:
    """Tiles loaded with ``row`` made of ``threadIdx.x`` and ``col`` of ``threadIdx.y``.

    Thread (x, y) then loads into A_tile[y][x] the element of A in row ``by * tile + x`` and column
    ``t * tile + x``: a diagonal, the same for every y. B likewise, so a tile of C holds one number.
    """
    m, _, n = inputs.shape
    on_diagonal_a, on_diagonal_b = _diagonals(inputs.a, tile), _diagonals(inputs.b, tile)
    blocks = np.einsum("atk,tbk->ab", on_diagonal_a, on_diagonal_b)
    predicted: Reals = blocks.repeat(tile, axis=0).repeat(tile, axis=1)[:m, :n]
    return predicted


def _tile_transposed(turned: Reals, other: Reals, tile: int) -> Reals:
    """The product of ``other`` and ``turned``, each tile of the latter turned over where it lies."""
    predicted: Reals = np.pad(other, [(0, 0), (0, -other.shape[1] % tile)]) @ _turned_tiles(turned, tile)
    return predicted[:, : turned.shape[1]]


def _turned_tiles(matrix: Reals, tile: int) -> Reals:
    """A matrix, padded to whole tiles, with each of them turned over where it lies."""
    whole = np.pad(matrix, [(0, -extent % tile) for extent in matrix.shape])
    tiles = whole.reshape(whole.shape[0] // tile, tile, whole.shape[1] // tile, tile)
    exchanged: Reals = tiles.swapaxes(1, 3).reshape(whole.shape)
    return exchanged


def _both_tiles_transposed(inputs: Operands, tile: int) -> Reals:
    """The product of tiles each of which is turned over where it lies."""
    m, _, n = inputs.shape
    turned = [_turned_tiles(matrix, tile) for matrix in (inputs.a, inputs.b)]
    return (turned[0] @ turned[1])[:m, :n]


def _blocks_stay(inputs: Operands, tile: int) -> Iterator[Prediction]:
    """Each block takes the rows, or the columns, that belong to the first one."""
    m, _, n = inputs.shape
    product = inputs.a @ inputs.b
    yield "a-block-stays", product[np.arange(m) % tile, :], None
    yield "b-block-stays", product[:, np.arange(n) % tile], None


def _diagonals(matrix: Reals, tile: int) -> Reals:
    """The diagonal of each tile, padded with zeros: shape (tile rows, tile columns, tile)."""
    padded = np.pad(matrix, [(0, -extent % tile) for extent in matrix.shape])
    tiles = padded.reshape(padded.shape[0] // tile, tile, padded.shape[1] // tile, tile)
    return np.asarray(tiles.diagonal(axis1=1, axis2=3), np.float64)
