"""Arrays of a program's cases: those that are drawn, as files that it reads, and what it wrote, compared.

A ``.raw`` file is a line with the extents, then the rows, a line each (libwb, "wbImport"); an array of one
dimension has an element on each line. Numbers are written so that they are read as they are.

What a program wrote is compared with the oracle; its own word about it counts nothing. The files come out of
a sandbox in which a student's program ran, and are read as hostile: NumPy's format, version 1.0, exactly the
bytes that the shape takes, no objects, no pickle. Whatever else is in such a file is a finding for the
student, never an error of ours.
"""

from __future__ import annotations

import io
import warnings
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from grader.base.errors import OurError, UsageError, log_swallowed
from grader.base.records import frozen
from grader.explaining import explain_output, load_hypotheses
from grader.explaining.facts import WrongOutput
from grader.grading.checks.array import ArrayCheck, KernelOutputCheck
from grader.grading.checks.program_output import no_file, quoted
from grader.grading.oracle import draw_inputs, expected_of
from grader.kinds.attempts.other_inputs import OutputSource, RightOutput, as_array
from grader.model import Finding, FindingKind, Visibility
from grader.model.compare import all_ones, compare, heat_map
from grader.model.messages import text_of
from grader.toolchain.gpu.answer import array_header

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.grading.oracle import Oracle
    from grader.model import Assignment, Case, Comparison, Named, ProgramRun
    from grader.running.device.watched_launches import WatchedLaunch

    Array = NDArray[Any]


def input_files(case: Case, arrays: Mapping[str, NDArray[Any]]) -> tuple[tuple[str, bytes], ...]:
    """The files of a case by name; raises OurError where the oracle draws no such array."""
    files = []
    for name, array in case.files:
        if array not in arrays:
            drawn = ", ".join(arrays) or "nothing"
            raise OurError(
                f"case {case.id}: `{name}` is to hold `{array}`, and the oracle draws only {drawn}"
            )
        content = np.ascontiguousarray(arrays[array])
        files.append((name, as_raw(content) if name.endswith(".raw") else as_npy(content)))
    return tuple(files)


def as_raw(array: NDArray[Any]) -> bytes:
    """An array in libwb's format; more than two dimensions are rows of the last one."""
    width = array.shape[-1] if array.ndim > 1 else 1
    rows = array.reshape(array.size // width if width else 0, width)
    lines = [" ".join(map(str, array.shape)), *(" ".join(map(_number, row)) for row in rows)]
    return "".join(f"{line}\n" for line in lines).encode()


def _number(value: Any) -> str:  # noqa: ANN401 - a number of whatever type the array has
    """The shortest text that is read as this number again."""
    if value.dtype.kind == "f":
        return np.format_float_positional(value, trim="-")
    return str(int(value))


def as_npy(array: NDArray[Any]) -> bytes:
    """An array in NumPy's format, version 1.0."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


T = TypeVar("T", ArrayCheck, KernelOutputCheck)

_PADDED_TIMES, _PADDED_MORE = 2, 64
"""Largest extent of a padded array: a multiple of the extent that is asked for, plus a constant."""

_TILES, _MOST_SHAPES = (4, 8, 16, 32), 32
"""Extents of tiles that arrays are padded to, and most shapes that are tried by a launch's numbers."""


def compared(
    assignment: Assignment,
    case: Case,
    run: ProgramRun,
    oracle: Oracle | None,
    watched: Mapping[str, WatchedLaunch] | None = None,
    ran: Collection[str] = (),
) -> tuple[tuple[Comparison, ...], tuple[Finding, ...]]:
    """The comparisons of what a run wrote, and a finding for each file that holds no array to compare.

    So with what launches left in device memory, where they were ``watched``; ``ran`` are the names of all
    kernels that did.

    Both carry the name of the oracle's output: a comparison as ``array``, a finding as ``address``. Nothing
    is compared where the run did not come to its end.

    Raises:
        OurError: there are arrays to compare and no oracle, or the oracle fails.

    """
    if run.ending != "exit":
        return (), ()
    kernels = _looking_at(KernelOutputCheck.in_rubric(assignment.rubric), case)
    files = _files_compared(assignment, case)
    results = [_in_file(assignment, check, case, run, oracle) for check in files]
    if watched is not None:
        results += [
            _in_device_memory(assignment, c, case, watched.get(c.kernel) or _missing_launch(c, ran), oracle)
            for c in kernels
        ]
    comparisons = tuple(result for result in results if not isinstance(result, Finding))
    findings = tuple(replace(result, case=case.id) for result in results if isinstance(result, Finding))
    return comparisons, findings


@frozen(eq=False)
class RightFile:
    """A right array in a file of a run: its ``values``, and the oracle's ``inputs`` of that ``shape``."""

    check: ArrayCheck | KernelOutputCheck
    values: Array
    inputs: Mapping[str, Array]
    shape: Named[int]

    def read(self, run: ProgramRun) -> Array | None:
        """The same array in the file of another run; None where there is none."""
        written = _read(run, str(self.check.of), self.values.dtype, self.values.shape)
        return None if isinstance(written, str) else written


def right_files(
    assignment: Assignment, case: Case, run: ProgramRun, oracle: Oracle | None
) -> Iterator[RightFile]:
    """The right arrays in the files that items look at in a case, a file once; raises OurError."""
    if run.ending != "exit":
        return
    checks = {str(check.of): check for check in _files_compared(assignment, case)}
    for check in checks.values():
        able = _able(check, oracle)
        given = _shape_and_arrays(check, able, case)
        values, bound = _expected(check, able, given, case)
        written = _read(run, str(check.of), np.dtype(check.dtype), values.shape)
        if not isinstance(written, str) and not compare(check.output, written, values, bound).wrong:
            yield RightFile(check, written, given.arrays, given.shape)


def verify(assignment: Assignment, oracle: Oracle | None, cases: Iterable[Case]) -> None:
    """Raise UsageError where the oracle cannot answer an item's question, or make the files of a case.

    Inputs of an item's own must be the same each time: a program does not receive them.
    """
    for case in cases:
        _verify_files(case, oracle)
        for check in _files_compared(assignment, case):
            try:
                _expected(
                    check, _able(check, oracle), _shape_and_arrays(check, _able(check, oracle), case), case
                )
            except OurError as problem:
                raise UsageError(f"rubric item `{check.item.id}`: {problem}") from None
            _require_same_each_time(check, oracle, case)
        for launched in _looking_at(KernelOutputCheck.in_rubric(assignment.rubric), case):
            try:
                given = _shape_and_arrays(launched, _able(launched, oracle), case)
                missing = sorted(set(given.arrays) - set(launched.arguments))
                _expected(launched, _able(launched, oracle), given, case)
            except OurError as problem:
                raise UsageError(f"rubric item `{launched.item.id}`: {problem}") from None
            if missing:
                raise UsageError(
                    f"rubric item `{launched.item.id}`: the oracle needs `{missing[0]}`, none of `arguments`"
                )


def _verify_files(case: Case, oracle: Oracle | None) -> None:
    """Raise UsageError where a case has files that cannot be made."""
    if not case.files:
        return
    if oracle is None:
        raise UsageError(f"case {case.id}: there is no oracle to draw the arrays of its files")
    try:
        input_files(case, draw_inputs(oracle, case))
    except OurError as problem:
        raise UsageError(str(problem)) from None


def _require_same_each_time(check: ArrayCheck | KernelOutputCheck, oracle: Oracle | None, case: Case) -> None:
    """Raise UsageError where the inputs of an item's own depend on chance."""
    if check.shape is None:
        return
    one, other = (_shape_and_arrays(check, _able(check, oracle), case, seed=seed).arrays for seed in (1, 2))
    if any(not np.array_equal(array, other[name]) for name, array in one.items()):
        raise UsageError(
            f"rubric item `{check.item.id}`: inputs of kind `{check.inputs}` depend on chance, and a "
            "program does not get them; expected a kind that is always the same"
        )


def _looking_at(checks: Iterator[T], case: Case) -> list[T]:
    return [check for check in checks if check.item.looks_at(case)]


def _files_compared(assignment: Assignment, case: Case) -> list[ArrayCheck | KernelOutputCheck]:
    """The items that look at a file which the program writes in a case."""
    kernels = _looking_at(KernelOutputCheck.in_rubric(assignment.rubric), case)
    return [
        *_looking_at(ArrayCheck.in_rubric(assignment.rubric), case),
        *(check for check in kernels if check.of is not None),
    ]


def _in_device_memory(
    assignment: Assignment,
    check: KernelOutputCheck,
    case: Case,
    launch: WatchedLaunch | Finding,
    oracle: Oracle | None,
) -> Comparison | Finding:
    """Comparison of a launch's results with what the oracle computes from the launch's inputs.

    Where it is not right for the item's shape, it may be for the same arrays with padding.
    """
    if isinstance(launch, Finding):
        return launch
    able = _able(check, oracle)
    given = _shape_and_arrays(check, able, case)
    result = _of_launch(assignment, check, case, launch, able, given)
    if isinstance(result, RightOutput):
        return _if_computed(result)
    for padded in _padded(check, able, case, given, launch):
        other = _of_launch(assignment, check, case, launch, able, padded, explains=False)
        if isinstance(other, RightOutput):
            return _if_computed(other)
    return result


def _padded(
    check: KernelOutputCheck, oracle: Oracle, case: Case, given: _Given, launch: WatchedLaunch
) -> Iterator[_Given]:
    """Larger shapes that a launch may have been made for, by its numbers or with whole tiles.

    Its arrays have just the bytes for them: in larger ones a launch with wrong sizes could be right, too.
    """
    at = check.arguments.index
    names, sizes = [name for name, _ in given.shape], [int(size) for _, size in given.shape]
    limits = [_PADDED_TIMES * size + _PADDED_MORE for size in sizes]
    numbers = launch.recorded.numbers()
    options = [[n for n in numbers if size <= n <= limit] for size, limit in zip(sizes, limits, strict=True)]
    by_numbers = islice(product(*options), _MOST_SHAPES)
    by_tiles = (tuple(-(-size // tile) * tile for size in sizes) for tile in _TILES)
    for shape in dict.fromkeys((*by_numbers, *by_tiles)):
        if shape == tuple(sizes):
            continue
        named = tuple(zip(names, shape, strict=True))
        with suppress(OurError):  # not every kind is for every shape
            arrays = oracle.inputs(check.inputs or case.inputs, dict(named), np.random.default_rng(0))
            if all(len(launch.pointers.get(at(n), (b"",))[0]) == arrays[n].nbytes for n in arrays):
                yield _Given(named, arrays)


def _of_launch(
    assignment: Assignment,
    check: KernelOutputCheck,
    case: Case,
    launch: WatchedLaunch,
    oracle: Oracle,
    given: _Given,
    *,
    explains: bool = True,
) -> Comparison | Finding | RightOutput:
    """Results of a launch whose arrays have the extents of those ``given``, if they are right, or why not."""
    name = check.compared_as
    inputs: dict[str, Array] = {}
    for argument, example in given.arrays.items():
        before, _ = launch.pointers.get(check.arguments.index(argument), (b"", b""))
        array = as_array(before, example.dtype, example.shape)
        if array is None or not np.isfinite(array).all():
            message = text_of(
                "argument-too-small" if array is None else "argument-no-number",
                number=check.arguments.index(argument) + 1,
                kernel=check.kernel,
                argument=argument,
                bytes=len(before),
                needed=example.nbytes,
                extents=_extents(example.shape),
                type=_type(example.dtype),
            )
            return Finding(FindingKind.WRONG_OUTPUT, message, address=name)
        inputs[argument] = array
    values, bound = _expected(check, oracle, _Given(given.shape, inputs), case)
    _, after = launch.pointers.get(check.arguments.index(check.output), (b"", b""))
    written = as_array(after, np.dtype(check.dtype), values.shape)
    if written is None:
        extents = _extents(values.shape)
        message = text_of("kernel-output-too-small", kernel=check.kernel, extents=extents, type=check.dtype)
        return Finding(FindingKind.WRONG_OUTPUT, message, address=name)
    wrong = WrongOutput(
        name, written, values, bound, all_ones(written), _named(inputs), launch=launch.recorded.launch
    )
    with np.errstate(invalid="ignore"):  # as in `_explained`
        comparison = compare(name, written, values, bound, poison=wrong.unwritten)
    if comparison.wrong and explains:
        comparison = _explained(assignment, case, wrong, oracle)
    if comparison.wrong:
        return replace(comparison, kernel=check.kernel)
    return RightOutput(check, oracle, case, given.shape, inputs, values, bound, launch, comparison)


def _if_computed(right: RightOutput) -> Comparison | Finding:
    """The comparison of a right output, or the finding that the kernel does not compute it."""
    answer = right.answer()
    if answer in (OutputSource.COMPUTES, OutputSource.UNKNOWN):
        is_unproved = answer is OutputSource.UNKNOWN
        return replace(right.comparison, kernel=right.check.kernel, unproved=is_unproved)
    message = text_of(answer, kernel=right.check.kernel, output=right.check.output)
    return Finding(FindingKind.WRONG_OUTPUT, message, hazard=str(answer), address=right.check.compared_as)


def _missing_launch(check: KernelOutputCheck, ran: Collection[str]) -> Finding:
    """Finding that no launch of the kernel came to its end, with the kernels that ran instead of it."""
    others = ", ".join(f"`{name}`" for name in dict.fromkeys(ran))
    message = text_of("no-launch-ended", kernel=check.kernel)
    if others and check.kernel not in ran:
        message = text_of("other-kernels-ran", kernel=check.kernel, names=others)
    return Finding(FindingKind.WRONG_OUTPUT, message, address=check.compared_as)


def _in_file(
    assignment: Assignment,
    check: ArrayCheck | KernelOutputCheck,
    case: Case,
    run: ProgramRun,
    oracle: Oracle | None,
) -> Comparison | Finding:
    output, able = check.output, _able(check, oracle)
    given = _shape_and_arrays(check, able, case)
    values, bound = _expected(check, able, given, case)
    written = _read(run, str(check.of), np.dtype(check.dtype), values.shape)
    if isinstance(written, str):
        return Finding(FindingKind.WRONG_OUTPUT, written, address=output)
    wrong = WrongOutput(output, written, values, bound, all_ones(written), _named(given.arrays))
    return _explained(assignment, case, wrong, able)


def _named(arrays: dict[str, Array]) -> Named[Array]:
    return tuple(arrays.items())


def _explained(assignment: Assignment, case: Case, wrong: WrongOutput, oracle: Oracle) -> Comparison:
    """The comparison of an array, with the mistake that explains it if there is one, and a picture of it."""
    with np.errstate(invalid="ignore"):  # a signalling NaN, which is no number like any other
        comparison = compare(wrong.array, wrong.got, wrong.expected, wrong.bound, poison=wrong.unwritten)
        if comparison.wrong and case.visibility is Visibility.VISIBLE and not np.ma.is_masked(wrong.expected):
            heat = heat_map(wrong.got, wrong.expected, wrong.bound, poison=wrong.unwritten)
            comparison = replace(comparison, heat=heat)
    if not comparison.wrong or not (np.isfinite(wrong.got) | wrong.unwritten).all():
        return comparison
    hypotheses = load_hypotheses(oracle.folder)
    try:
        explanation = explain_output(hypotheses, wrong, assignment.feedback)
    except Exception:  # noqa: BLE001 - a courtesy, and no part of the grade
        log_swallowed("naming the mistake in an output")
        explanation = None
    if explanation is None:
        return comparison
    return replace(
        comparison, mistake=explanation.mistake, explanation=explanation.explanation, hint=explanation.advice
    )


@frozen
class _Given:
    """The shape that an item asks about, and the arrays that the oracle draws for it."""

    shape: Named[int]
    arrays: dict[str, Array]


def _shape_and_arrays(
    check: ArrayCheck | KernelOutputCheck, oracle: Oracle, case: Case, seed: int = 0
) -> _Given:
    """Shape and arrays of the item itself, or else those of the case, which its program reads."""
    if check.shape is None or check.inputs is None:
        return _Given(case.shape, draw_inputs(oracle, case))
    arrays = oracle.inputs(check.inputs, dict(check.shape), np.random.default_rng(seed))
    return _Given(check.shape, arrays)


def _able(check: ArrayCheck | KernelOutputCheck, oracle: Oracle | None) -> Oracle:
    """The oracle, if it can tell what the item asks; raises OurError."""
    if oracle is None:
        raise OurError("there is no oracle to say what the array should hold")
    if check.inputs is not None and check.inputs not in oracle.kinds:
        raise OurError(f"no inputs of kind `{check.inputs}`; the oracle makes {', '.join(oracle.kinds)}")
    return oracle


def _expected(
    check: ArrayCheck | KernelOutputCheck, oracle: Oracle, given: _Given, case: Case
) -> tuple[Array, Array]:
    """The values of the item's output, and how far off each may be."""
    return expected_of(oracle, given.arrays, dict(given.shape), [check.output], case.id)[check.output]


def _read(run: ProgramRun, file: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array | str:
    """The array in a file that the program wrote, or what is wrong with the file."""
    content = dict(run.files).get(file)
    if content is None:
        return no_file(run, file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about old versions of Python
            has, kind, start = array_header(content)
    except Exception:  # noqa: BLE001 - NumPy parses the header as Python, and any of its errors may come out
        return text_of("no-npy", file=quoted(file))
    if kind != dtype:
        return text_of("npy-of-type", file=quoted(file), type=_type(kind), expected=_type(dtype))
    if has != shape:
        return text_of("npy-of-extents", file=quoted(file), extents=_extents(has), expected=_extents(shape))
    expected_bytes, size = dtype.itemsize * int(np.prod(shape, dtype=np.int64)), len(content) - start
    if size != expected_bytes:
        return text_of("npy-of-bytes", file=quoted(file), bytes=size, expected=expected_bytes)
    return np.frombuffer(content, dtype, offset=start).reshape(shape)


def _type(dtype: np.dtype[Any]) -> str:
    """`float32`, and `big-endian float32` where that is the difference."""
    name = dtype.name if dtype.kind in "fiub" else text_of("other-type")
    return name if dtype.isnative else text_of("big-endian", type=name)


def _extents(shape: tuple[int, ...]) -> str:
    """`34 × 34`; harmless, however many numbers and digits a header has."""
    words = " × ".join(str(extent)[:20] for extent in shape[:4])
    return (words or text_of("no-extent")) + (" × …" if len(shape) > 4 else "")  # noqa: PLR2004 - enough to see it
