"""Records of a kernel that is timed: its file, its launches, its parameters.

Extents, grids and values are expressions of `grader.base.arithmetic` over the names of a shape.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from grader.base.arithmetic import evaluate, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path("tests/bench/estimate/corpus")

Shape: TypeAlias = "Mapping[str, int]"


@dataclass(frozen=True, slots=True)
class Array:
    """A parameter that points to ``elements`` of a type; ``content`` is a key of `inputs.CONTENTS`."""

    name: str
    type: str
    elements: str
    content: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """A parameter that is a number: an expression of the shape, or a decimal."""

    name: str
    type: str
    value: str


Parameter: TypeAlias = "Array | Scalar"


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel and its launches: a grid for each shape.

    ``file`` is relative to the root of the repository, ``shared`` the bytes of dynamic shared memory that a
    block asks for, and ``naive`` the kernel of the family that the others are compared with. ``output`` names
    the array that is checked, by ``rule``, a key of `references.RULES`.
    """

    name: str
    family: str
    naive: str
    file: str
    entry: str
    block: tuple[int, int, int]
    grid: tuple[str, str, str]
    parameters: tuple[Parameter, ...]
    shapes: tuple[Shape, ...]
    output: str
    rule: str
    shared: int = 0

    def grid_of(self, shape: Shape) -> tuple[int, int, int]:
        """The blocks of the grid in x, y and z."""
        x, y, z = (value_of(text, shape) for text in self.grid)
        return x, y, z


def value_of(text: str, shape: Shape) -> int:
    """The whole number that an expression has for a shape."""
    return evaluate(parse(text), shape)


@dataclass(frozen=True, slots=True)
class Family:
    """The properties that kernels of one task share; ``rows`` are the launches, made by `launch`."""

    name: str
    parameters: tuple[Parameter, ...]
    shapes: tuple[Shape, ...]
    output: str
    rule: str
    rows: tuple[Row, ...]
    folder: Path = FOLDER


@dataclass(frozen=True, slots=True)
class Row:
    """A launch: the first of a family is that of its naive kernel."""

    name: str
    block: tuple[int, int, int]
    grid: tuple[str, str, str]
    file: str = ""
    shared: int = 0
    entry: str = ""
    rule: str = ""


def launch(
    name: str,
    block: tuple[int, ...],
    *grid: str,
    file: str = "",
    shared: int = 0,
    entry: str = "",
    rule: str = "",
) -> Row:
    """A row with blocks and grids of fewer than three dimensions filled up."""
    x, y, z = (*block, 1, 1)[:3]
    across, down, deep = (*grid, "1", "1")[:3]
    return Row(name, (x, y, z), (across, down, deep), file, shared, entry, rule)


def of_file(file: str, *rows: Row) -> tuple[Row, ...]:
    """Launches of kernels that lie in one file, and are named as the launches are by default."""
    return tuple(replace(row, file=file, entry=row.entry or row.name) for row in rows)


def kernels(family: Family) -> tuple[Kernel, ...]:
    """The kernels of a family."""
    naive = family.rows[0].name
    return tuple(
        Kernel(
            name=row.name,
            family=family.name,
            naive=naive,
            file=str(family.folder / f"{row.file or row.name}.cu"),
            entry=row.entry or row.file or row.name,
            block=row.block,
            grid=row.grid,
            parameters=family.parameters,
            shapes=family.shapes,
            output=family.output,
            rule=row.rule or family.rule,
            shared=row.shared,
        )
        for row in family.rows
    )


def floats(name: str, elements: str, content: str = "random") -> Parameter:
    """An array of float32."""
    return Array(name, "float32", elements, content)


def whole(*names: str) -> tuple[Parameter, ...]:
    """Parameters of type int that are extents of the shape."""
    return tuple(Scalar(name, "int32", name) for name in names)
