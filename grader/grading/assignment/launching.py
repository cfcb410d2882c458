"""Check that an assignment's shapes give every name a value, and launches that a device would accept."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

from grader.base.arithmetic import ArithmeticProblem, Expression, Name, evaluate, names, number_for
from grader.base.records import frozen
from grader.base.text import suggestion
from grader.grading.assignment.document import Flaw, KeyPath
from grader.grading.assignment.structure import FixedCase, FunctionPart, KernelPart, RandomCases
from grader.model import MOST_IN_BLOCK, MOST_IN_GRID, MOST_THREADS
from grader.model.messages import clause

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.grading.assignment.draft import Draft
    from grader.grading.assignment.fields import ParameterDeclaration

Span: TypeAlias = tuple[int, int]
CalledPart: TypeAlias = KernelPart | FunctionPart
"""Part of a file whose submission takes arrays and numbers as arguments."""

MAX_ELEMENTS = 2**28
"""Elements of one array: a gigabyte of float32, far more than any backend should be asked to compare."""


@frozen
class _Shape:
    """A shape of the file: where it is and, for each dimension, the lowest and highest value."""

    path: KeyPath
    spans: Mapping[str, Span]


def launch_flaws(draft: Draft) -> Iterator[Flaw]:
    """Names without a value, dimensions that are missing or unknown, launches and arrays out of bounds."""
    submission = draft.submission
    if not isinstance(submission, CalledPart):
        return
    yield from _parameters(submission)
    shapes = list(_shapes(draft))
    if isinstance(submission, FunctionPart):
        yield from _only_of_kernels(draft, submission)
    else:
        yield from _constants(submission)
        yield from _symbols(submission, timed=draft.timing is not None)
        yield from _sized(draft, submission, shapes)
    if not shapes:
        return
    wrong = [*_unknown_names(submission, shapes), *_dimensions(submission, shapes)]
    yield from wrong
    if not wrong:
        yield from _launches(submission, shapes)


def _shapes(draft: Draft) -> Iterator[_Shape]:
    for index, case in enumerate(draft.cases):
        if isinstance(case, FixedCase | RandomCases):
            spans = {n: (v, v) for n, v in case.shape.items()} if isinstance(case, FixedCase) else case.shape
            yield _Shape(("cases", index, "shape"), spans)
    if draft.timing:
        yield _Shape(("timing", "shape"), {n: (v, v) for n, v in draft.timing.shape.items()})


def _only_of_kernels(draft: Draft, submission: FunctionPart) -> Iterator[Flaw]:
    """Keys that only the launch of a kernel can have."""
    for name, declared in submission.parameters.items():
        if declared.fields:
            message = "expected an array or a number; structs are for submissions of kind `kernel`"
            yield Flaw(("submission", "parameters", name), message)
    for index, case in enumerate(draft.cases):
        if isinstance(case, FixedCase | RandomCases):
            for key in ("offset", "kernel"):
                if getattr(case, key):
                    message = f"`{key}` is for submissions of kind `kernel`"
                    yield Flaw(("cases", index, key), message, at_key=True)


def _expressions(submission: CalledPart) -> Iterator[tuple[KeyPath, Expression]]:
    for path, _, expression in _scalars(submission):
        yield path, expression
    yield from _whole_numbers(submission)


def _declared(submission: CalledPart) -> Iterator[tuple[KeyPath, str, ParameterDeclaration]]:
    """Position of each scalar and array, and its name: those in structs, not the structs."""
    for key, declarations in (("parameters", submission.parameters), ("symbols", submission.symbols)):
        for name, declared in declarations.items():
            path = ("submission", key, name)
            yield from ((path, field, form) for field, form in declared.fields or ((name, declared),))


def _scalars(submission: CalledPart) -> Iterator[tuple[KeyPath, str, Expression]]:
    """Position of each scalar, its type, and its value."""
    for path, name, declared in _declared(submission):
        if declared.direction == "value":
            yield path, declared.dtype, declared.value or Name(name)


def _whole_numbers(submission: CalledPart) -> Iterator[tuple[KeyPath, Expression]]:
    """The expressions that must have whole values whatever they are used for."""
    for path, _, declared in _declared(submission):
        for extent in declared.extents:
            yield path, extent
    launch = submission.launch
    if launch is None:
        return
    for key, expressions in (("block", launch.block), ("grid", launch.grid)):
        for index, expression in enumerate(expressions):
            yield ("submission", "launch", key, index), expression
    if launch.shared is not None:
        yield ("submission", "launch", "shared"), launch.shared


def _parameters(submission: CalledPart) -> Iterator[Flaw]:
    if all(declared.direction in ("in", "value") for _, _, declared in _declared(submission)):
        yield Flaw(("submission", "parameters"), "expected at least one `out` or `inout` array to look at")


def _symbols(submission: KernelPart, *, timed: bool) -> Iterator[Flaw]:
    for name, declared in submission.symbols.items():
        path = ("submission", "symbols", name)
        if declared.fields:
            yield Flaw(path, "expected an array or a number; structs in variables are not supported")
        if name in submission.parameters:
            yield Flaw(path, f"expected a name of its own; `{name}` is a parameter already", at_key=True)
    if submission.symbols and timed:
        yield Flaw(("timing",), "launches are not timed where variables of the file are filled", at_key=True)


def _constants(submission: KernelPart) -> Iterator[Flaw]:
    uses = dict.fromkeys(submission.constants, "a constant")
    for name, constant in submission.constants.items():
        constraint = constant.record(name).wanted_instead_of(constant.default)
        if constraint:
            path_of_default = ("submission", "constants", name, "default")
            words = clause(constraint)
            yield Flaw(
                path_of_default, f"expected {words}, as the constant says of itself, found {constant.default}"
            )
        for index, alias in enumerate(constant.aliases):
            if alias in uses:
                path = ("submission", "constants", name, "aliases", index)
                yield Flaw(path, f"expected a name of its own; `{alias}` is {uses[alias]} already")
            uses[alias] = f"an alias of `{name}`"


def _sized(draft: Draft, submission: KernelPart, shapes: list[_Shape]) -> Iterator[Flaw]:
    """Sizes that are no dimension, that a constant is called like, or that would have to be timed."""
    constants = submission.constants.items()
    constant_names = {spelling for name, constant in constants for spelling in (name, *constant.aliases)}
    for name, spellings in submission.sizes.items():
        path = ("submission", "sizes", name)
        if shapes and not all(name in shape.spans for shape in shapes):
            yield Flaw(path, f"expected a dimension of every case; `{name}` is none", at_key=True)
        for doubled in sorted(constant_names & {name, *spellings}):
            yield Flaw(path, f"expected names of its own; `{doubled}` is a constant's already", at_key=True)
    if submission.sizes and draft.timing:
        yield Flaw(("timing",), "expected no `timing` beside `sizes`: a file of another size is another file")


def _unknown_names(submission: CalledPart, shapes: list[_Shape]) -> Iterator[Flaw]:
    valued = dict.fromkeys(name for shape in shapes for name in shape.spans) | dict.fromkeys(
        submission.constants
    )
    for path, expression in _expressions(submission):
        for name in sorted(names(expression) - valued.keys()):
            yield Flaw(
                path,
                f"`{name}` is neither a dimension of the cases nor a constant; {suggestion(name, valued)}",
            )


def _dimensions(submission: CalledPart, shapes: list[_Shape]) -> Iterator[Flaw]:
    used = {name for _, expression in _expressions(submission) for name in names(expression)}
    spanned = dict.fromkeys(name for shape in shapes for name in shape.spans)
    # A dimension that no expression uses may be meant for the oracle; then every case gives it.
    common = set(spanned).intersection(*(shape.spans for shape in shapes))
    dimensions = [name for name in spanned if name in used | common and name not in submission.constants]
    for shape in shapes:
        for name in shape.spans:
            if name in submission.constants:
                yield Flaw(
                    (*shape.path, name), f"`{name}` is a constant; expected only dimensions", at_key=True
                )
            elif name not in dimensions:
                message = f"unknown dimension `{name}`; {suggestion(name, dimensions)}"
                yield Flaw((*shape.path, name), message, at_key=True)
        missing = [f"`{name}`" for name in dimensions if name not in shape.spans]
        if missing:
            yield Flaw(shape.path, f"expected a value for every dimension; missing: {', '.join(missing)}")


def _launches(submission: CalledPart, shapes: list[_Shape]) -> Iterator[Flaw]:
    """Problems of each shape; a problem of all of several is reported once, for the submission."""
    problems = [_problems(submission, shape) for shape in shapes]
    common = set.intersection(*map(set, problems)) if len(shapes) > 1 else set()
    for problem in (problem for problem in problems[0] if problem in common):
        yield Flaw(("submission",), f"in every shape {problem}")
    for shape, of_shape in zip(shapes, problems, strict=True):
        own = (problem for problem in of_shape if problem not in common)
        yield from (Flaw(shape.path, f"in this shape {problem}") for problem in own)


def _problems(submission: CalledPart, shape: _Shape) -> list[str]:
    """Problems of a shape: both ends of the ranges are tried, with the constants' defaults."""
    constants = {name: constant.default for name, constant in submission.constants.items()}
    ends = [{name: span[end] for name, span in shape.spans.items()} for end in (0, 1)]
    problems: dict[str, None] = {}
    for values in ends[:1] if ends[0] == ends[1] else ends:
        problems |= dict.fromkeys(_launch(submission, constants | values))
    return list(problems)


def _launch(submission: CalledPart, values: Mapping[str, int]) -> Iterator[str]:
    block, grid = [1], [1]
    try:
        if submission.launch is not None:
            block = [evaluate(expression, values) for expression in submission.launch.block]
            grid = [evaluate(expression, values) for expression in submission.launch.grid]
        for _, expression in _whole_numbers(submission):
            evaluate(expression, values)
        for _, dtype, expression in _scalars(submission):
            number_for(dtype, expression, values)
        yield from _sizes(submission, values)
    except ArithmeticProblem as problem:
        yield str(problem)
        return
    if not _within(block, MOST_IN_BLOCK) or prod(block) > MOST_THREADS:
        limits = f"at most {MOST_THREADS} threads, {' × '.join(map(str, MOST_IN_BLOCK))}"
        yield f"a block would be {_times(block)}; expected {limits} and nothing below 1"
    if not _within(grid, MOST_IN_GRID):
        limits = f"at most {' × '.join(map(str, MOST_IN_GRID))}"
        yield f"the grid would be {_times(grid)}; expected {limits} and nothing below 1"


def _sizes(submission: CalledPart, values: Mapping[str, int]) -> Iterator[str]:
    for _, name, declared in _declared(submission):
        extents = [evaluate(extent, values) for extent in declared.extents]
        if min(extents, default=1) < 1 or prod(extents) > MAX_ELEMENTS:
            limits = f"at most {MAX_ELEMENTS} elements and no extent below 1"
            yield f"`{name}` would be {_times(extents)}; expected {limits}"
    shared = submission.launch.shared if submission.launch is not None else None
    if shared is not None and evaluate(shared, values) < 0:
        yield f"`shared` would be {evaluate(shared, values)}; expected a number of bytes"


def _within(sizes: list[int], limits: tuple[int, ...]) -> bool:
    return all(1 <= size <= limit for size, limit in zip(sizes, limits, strict=False))


def _times(sizes: list[int]) -> str:
    return " × ".join(map(str, sizes))
