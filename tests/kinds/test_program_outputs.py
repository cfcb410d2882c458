"""Arrays that a program wrote: hostile files are findings, and the verdict is computed from the elements."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.base.data_files import data_root
from grader.base.errors import OurError, UsageError
from grader.grading.assignment import expand_cases, reference_folder
from grader.grading.oracle import load_oracle
from grader.kinds.comparing.arrays import compared, verify
from grader.kinds.host_runs.merging import merged
from grader.model import (
    CaseEvidence,
    Comparison,
    Finding,
    FindingKind,
    ProgramRun,
    RubricItem,
    Visibility,
)
from tests.bundled import bundled

ASSIGNMENT = bundled("boundary-safe-lesson")
ORACLE = load_oracle(reference_folder(ASSIGNMENT))
LESSON, WIDTH_49, WIDTH_7 = expand_cases(ASSIGNMENT, 1)


def npy(array: np.ndarray[Any, Any]) -> bytes:
    """An array as a file of NumPy's format."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def right(width: int = 34) -> np.ndarray[Any, Any]:
    """The array that the program should write."""
    return np.full((width, width), 2.0 * width, np.float32)


def wrote(content: bytes | None, **fields: Any) -> ProgramRun:  # noqa: ANN401 - a record's own
    """A run that left a file, or none."""
    files = () if content is None else (("C.npy", content),)
    return replace(ProgramRun("exit", 0, b"Result is correct", files=files), **fields)


def one(content: bytes | None) -> Comparison | Finding:
    """The outcome of the lesson's case: one comparison or one finding."""
    comparisons, findings = compared(ASSIGNMENT, LESSON, wrote(content), ORACLE)
    found: list[Comparison | Finding] = [*comparisons, *findings]
    assert len(found) == 1
    return found[0]


def header(text: str) -> bytes:
    """The start of a file with this header."""
    padded = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded


@pytest.mark.parametrize(("case", "width"), [(LESSON, 34), (WIDTH_49, 49), (WIDTH_7, 7)])
def test_each_case_is_compared_with_its_own_shape(case: Any, width: int) -> None:  # noqa: ANN401 - a `Case`
    """The item of a case defines what its array should be."""
    comparisons, findings = compared(ASSIGNMENT, case, wrote(npy(right(width))), ORACLE)
    assert findings == ()
    assert [(found.array, found.wrong, found.total) for found in comparisons] == [("C", 0, width * width)]


def test_a_single_wrong_element_is_found() -> None:
    """It is found whatever the program prints."""
    array = right()
    array[33, 33] = np.nextafter(np.float32(68), np.float32(69))
    found = one(npy(array))
    assert isinstance(found, Comparison)
    assert (found.wrong, found.first and found.first.index) == (1, (33, 33))


def test_a_wrong_array_of_a_visible_case_has_a_heat_map() -> None:
    """As an output of a kernel has; one of a hidden case tells no student where it is wrong."""
    array = right()
    array[:17] = 0
    found = one(npy(array))
    assert isinstance(found, Comparison)
    assert found.heat is not None
    assert found.heat.rows == ("3" * 34,) * 17 + ("." * 34,) * 17
    hidden = replace(LESSON, visibility=Visibility.HIDDEN)
    (comparison,), _ = compared(ASSIGNMENT, hidden, wrote(npy(array)), ORACLE)
    assert comparison.heat is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_never_passes(value: float) -> None:
    """One element or all of them."""
    array = right()
    array[0, 0] = value
    for each in (array, np.full_like(array, value)):
        found = one(npy(each))
        assert isinstance(found, Comparison)
        assert (found.wrong > 0, found.max_error) == (True, np.inf)


PICKLE = (
    header("{'descr': '|O', 'fortran_order': False, 'shape': (34, 34), }") + b"cos\nsystem\n(S'true'\ntR."
)
BAD = {
    "no file": (None, "the program left no file `C.npy`, or one that is too large"),
    "empty": (b"", "`C.npy` is not an .npy file of version 1.0 in C order"),
    "text": (b"68 68 68", "`C.npy` is not an .npy file of version 1.0 in C order"),
    "pickle": (PICKLE, "`C.npy` is not an .npy file of version 1.0 in C order"),
    "objects": (
        header("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (34, 34), }"),
        "`C.npy` is not an .npy file of version 1.0 in C order",
    ),
    "version 2": (
        b"\x93NUMPY\x02\x00" + npy(right())[8:],
        "`C.npy` is not an .npy file of version 1.0 in C order",
    ),
    "code": (header("__import__('os').abort()"), "`C.npy` is not an .npy file of version 1.0 in C order"),
    "brackets": (header("(" * 110), "`C.npy` is not an .npy file of version 1.0 in C order"),
    "quotes": (header("'''"), "`C.npy` is not an .npy file of version 1.0 in C order"),
    "Fortran": (npy(np.asfortranarray(right())), "`C.npy` is not an .npy file of version 1.0 in C order"),
    "doubles": (npy(right().astype(np.float64)), "`C.npy` holds float64; expected float32"),
    "big-endian": (npy(right().astype(">f4")), "`C.npy` holds big-endian float32; expected float32"),
    "texts": (npy(np.array(["a"])), "`C.npy` holds elements of another type; expected float32"),
    "flat": (npy(right().reshape(-1)), "`C.npy` holds an array of 1156; expected 34 × 34"),
    "smaller": (npy(right(33)), "`C.npy` holds an array of 33 × 33; expected 34 × 34"),
    "scalar": (npy(np.array(68, np.float32)), "`C.npy` holds an array of no extent; expected 34 × 34"),
    "negative": (
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (-34, -34), }"),
        "`C.npy` holds an array of -34 × -34; expected 34 × 34",
    ),
    "cut": (npy(right())[:-1], "`C.npy` holds 4,623 bytes of elements after its header; expected 4,624"),
    "longer": (
        npy(right()) + b"\0",
        "`C.npy` holds 4,625 bytes of elements after its header; expected 4,624",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_such_array_is_a_finding(name: str) -> None:
    """With one sentence about it; nothing in it is obeyed, and it is no error of ours."""
    content, message = BAD[name]
    found = one(content)
    assert isinstance(found, Finding)
    assert (found.kind, found.message) == (FindingKind.WRONG_OUTPUT, message)
    assert (found.address, found.case) == ("C", "lesson-34")


@given(st.binary(max_size=200), st.integers(0, 4751))
def test_no_file_makes_the_grader_fail(noise: bytes, place: int) -> None:
    """Any bytes anywhere in a right file: a comparison or a finding, and one sentence that is harmless."""
    good = npy(right())
    found = one(good[:place] + noise + good[place + len(noise) :])
    assert not isinstance(found, Finding) or found.message.isprintable()


def test_a_run_that_was_ended_is_not_compared() -> None:
    """Half a file proves nothing."""
    run = wrote(npy(right()), ending="time")
    assert compared(ASSIGNMENT, LESSON, run, ORACLE) == ((), ())


def test_without_an_oracle_it_is_our_fault() -> None:
    """And never a student's zero."""
    with pytest.raises(OurError, match="there is no oracle to say what the array should hold"):
        compared(ASSIGNMENT, LESSON, wrote(npy(right())), None)


def test_a_mistake_with_a_name_is_reported() -> None:
    """As it is for kernels."""
    found = one(npy(np.zeros((34, 34), np.float32)))
    assert isinstance(found, Comparison)
    assert found.explanation == "every element of `C` is 0"
    assert found.hint


def array_item(**changes: object) -> RubricItem:
    """The item of the lesson's case, with other options."""
    item = next(item for item in ASSIGNMENT.rubric if item.id == "product")
    return replace(item, options=tuple((dict(item.options) | changes).items()))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"output": "D"}, "oracle.py: `expected` gives no `D`; it gives C"),
        ({"inputs": "random"}, "no inputs of kind `random`; the oracle makes ones-and-twos"),
        ({"shape": (("N", 34),)}, "oracle.py:25: the oracle's `inputs` failed: KeyError: 'WIDTH'"),
    ],
)
def test_an_item_that_the_oracle_cannot_answer_is_refused(changes: dict[str, object], problem: str) -> None:
    """The error comes before any submission is graded."""
    with pytest.raises(UsageError, match="rubric item `product`") as caught:
        verify(replace(ASSIGNMENT, rubric=(array_item(**changes),)), ORACLE, [LESSON])
    assert problem in str(caught.value)


def test_inputs_that_depend_on_chance_are_refused() -> None:
    """The program does not get them, so it could not be right."""
    shape = (("M", 3), ("K", 3), ("N", 3))
    matmul = load_oracle(data_root() / "reference" / "matmul")
    verify(replace(ASSIGNMENT, rubric=(array_item(inputs="counting", shape=shape),)), matmul, [LESSON])
    with pytest.raises(UsageError, match="inputs of kind `random` depend on chance"):
        verify(replace(ASSIGNMENT, rubric=(array_item(inputs="random", shape=shape),)), matmul, [LESSON])


def test_the_lesson_itself_can_be_answered() -> None:
    """By its own oracle."""
    verify(ASSIGNMENT, ORACLE, expand_cases(ASSIGNMENT, 1))


def test_what_the_emulator_sees_of_a_program_that_ran_on_a_gpu_is_reported_beside_it() -> None:
    """Hazards, and a kernel's array in device memory; a wrong file is the GPU run's business."""
    on_gpu = CaseEvidence(LESSON, program=wrote(None))
    array = Finding(FindingKind.WRONG_OUTPUT, "no launch", address="matMul.C")
    race, file = Finding(FindingKind.RACE, line=3), Finding(FindingKind.WRONG_OUTPUT, "no file", address="C")
    emulated = CaseEvidence(LESSON, findings=(array, race, file), launches=0)
    both = merged(on_gpu, emulated, frozenset({"matMul.C"}))
    assert (both.findings, both.launches) == ((array, race), 0)
