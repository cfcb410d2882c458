"""The texts of an assignment of kind ``program``, and their meaning; see `fields`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, PlainValidator, WithJsonSchema

from grader.base.records import frozen
from grader.base.text import suggestion
from grader.grading.assignment.fields import DTYPES, text

FILE_DTYPES = tuple(dtype for dtype in DTYPES if dtype != "bfloat16")
"""Types that an ``.npy`` file has; NumPy's format knows no bfloat16."""

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SECONDS = 60
MOST_EMULATOR_SECONDS = 600
LEAST_MEBIBYTES, MOST_MEBIBYTES = 16, 32768
MOST_ARGUMENTS, MOST_ARGUMENT_BYTES = 64, 4096
MOST_STDIN_BYTES = 64 * 1024
MOST_PATTERN = 1000
MOST_NUMBERS = 64

_FILE = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,2})?"
_WITHIN = re.compile(rf"({_NUMBER})(\s*%)?")


def _whole(low: int, high: int, name: str) -> Callable[[object], int]:
    expected = f"{name} from {low} to {high}"

    def read(value: object) -> int:
        written = text(value, expected)
        if not re.fullmatch(r"[0-9]{1,9}", written) or not low <= int(written) <= high:
            raise ValueError(f"expected {expected}, found `{written[:60]}`")
        return int(written)

    return read


def _raw(value: object, expected: str) -> str:
    """A text as it was written, blanks at its ends included."""
    if value is None:
        raise ValueError(f"expected {expected}, found nothing; put such a text in quotes")
    if not isinstance(value, str):
        return text(value, expected)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("expected characters that UTF-8 has, found half of a surrogate pair") from None
    return value


def _argument(value: object) -> str:
    written = _raw(value, "an argument")
    if "\0" in written or len(written.encode()) > MOST_ARGUMENT_BYTES:
        raise ValueError(f"expected an argument of at most {MOST_ARGUMENT_BYTES} bytes without NUL")
    return written


def _stdin(value: object) -> str:
    written = _raw(value, "a text for standard input")
    if len(written.encode()) > MOST_STDIN_BYTES:
        raise ValueError(f"expected at most {MOST_STDIN_BYTES // 1024} KiB of standard input")
    return written


def _file(value: object) -> str:
    written = text(value, "the name of a file")
    if not re.fullmatch(_FILE, written):
        raise ValueError(f"expected the name of a file in the program's folder, found `{written[:60]}`")
    return written


def _array_file(value: object) -> str:
    written = _file(value)
    if not written.endswith(".npy"):
        raise ValueError(f"expected the name of an .npy file, found `{written}`")
    return written


def _random_file(value: object) -> str:
    written = _file(value)
    if not written.endswith((".raw", ".npy")):
        raise ValueError(f"expected the name of a .raw or .npy file, found `{written}`")
    return written


def _lines(value: object) -> str:
    written = _raw(value, "the lines that are to be printed")
    if not written.strip():
        raise ValueError("expected at least one line, found an empty text")
    return written


def _after(value: object) -> str:
    written = _raw(value, "the text before the number")
    if not written.strip() or "\n" in written.strip("\n"):
        raise ValueError("expected a text on one line to look for")
    return written


def _pattern(value: object) -> str:
    # Loading it takes a while, and few assignments have a pattern.
    import re2  # noqa: PLC0415

    written = _raw(value, "a regular expression")
    if not written or len(written) > MOST_PATTERN:
        raise ValueError(f"expected a regular expression of 1 to {MOST_PATTERN} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(written, options)
    except re2.error as problem:
        reason = problem.args[0].decode(errors="replace") if problem.args else "it does not compile"
        raise ValueError(f"expected a regular expression (RE2 syntax): {reason}") from None
    return written


def _number(value: object) -> Fraction:
    written = text(value, "a number")
    if not re.fullmatch(rf"-?{_NUMBER}", written):
        raise ValueError(f"expected a number like 8, -0.25 or 1e3, found `{written[:60]}`")
    return Fraction(written)


@frozen
class Tolerance:
    """Largest error of a number: absolute, or as a share of what is expected."""

    within: Fraction
    relative: bool


EXACTLY = Tolerance(Fraction(0), relative=False)


def _tolerance(value: object) -> Tolerance:
    expected = "how far the number may be off, like 0.5 or `0.1 %`"
    written = text(value, expected)
    match = _WITHIN.fullmatch(written)
    if not match:
        raise ValueError(f"expected {expected}, found `{written[:60]}`")
    number = Fraction(match.group(1))
    if not match.group(2):
        return Tolerance(number, relative=False)
    if number >= 100:  # noqa: PLR2004 - per cent
        raise ValueError(f"expected less than 100 %, found `{written}`")
    return Tolerance(number / 100, relative=True)


def _dtype(value: object) -> str:
    written = text(value, "a type")
    if written not in FILE_DTYPES:
        raise ValueError(f"unknown type `{written}`; {suggestion(written, FILE_DTYPES)}")
    return written


def _text_schema(description: str) -> WithJsonSchema:
    return WithJsonSchema({"type": ["string", "number", "boolean"], "description": description})


Seconds = Annotated[
    int,
    PlainValidator(_whole(1, MOST_SECONDS, "a whole number of seconds")),
    WithJsonSchema(
        {"type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "description": "wall time of one run"}
    ),
]
EmulatorSeconds = Annotated[
    int,
    PlainValidator(_whole(1, MOST_EMULATOR_SECONDS, "a whole number of seconds")),
    WithJsonSchema(
        {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_EMULATOR_SECONDS,
            "description": "what the launches of one run may take on the emulator",
        }
    ),
]
Mebibytes = Annotated[
    int,
    PlainValidator(_whole(LEAST_MEBIBYTES, MOST_MEBIBYTES, "a whole number of MiB")),
    WithJsonSchema(
        {
            "type": "integer",
            "minimum": LEAST_MEBIBYTES,
            "maximum": MOST_MEBIBYTES,
            "description": "MiB that one run may take",
        }
    ),
]
Status = Annotated[
    int,
    PlainValidator(_whole(0, 255, "an exit status")),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 255}),
]
RunArgument = Annotated[str, PlainValidator(_argument), _text_schema("an argument, as it is written here")]
RunArguments = Annotated[list[RunArgument], Field(max_length=MOST_ARGUMENTS)]
Stdin = Annotated[str, PlainValidator(_stdin), _text_schema("what the program reads from standard input")]
Stream = Annotated[
    str,
    PlainValidator(_file),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{_FILE}$", "description": "stdout, stderr, or a file that it writes"}
    ),
]
DrawnFile = Annotated[
    str,
    PlainValidator(_random_file),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_.-]*\.(raw|npy)$",
            "description": "a file that the program finds: libwb's text format, or .npy",
        }
    ),
]
ArrayFile = Annotated[
    str,
    PlainValidator(_array_file),
    WithJsonSchema(
        {"type": "string", "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_.-]*\.npy$", "description": "an .npy file"}
    ),
]
Lines = Annotated[
    str,
    PlainValidator(_lines),
    _text_schema("compared line by line; blanks at ends of lines and empty lines at the end do not count"),
]
Verbatim = Annotated[
    str,
    PlainValidator(lambda value: _raw(value, "the text that is to be printed")),
    _text_schema("compared character by character"),
]
Pattern = Annotated[
    str,
    PlainValidator(_pattern),
    _text_schema("a regular expression (RE2 syntax) that must match somewhere; ^ and $ match at lines"),
]
After = Annotated[str, PlainValidator(_after), _text_schema("the number is searched for after this text")]
Number = Annotated[Fraction, PlainValidator(_number), WithJsonSchema({"type": "number"})]
Within = Annotated[
    Tolerance,
    PlainValidator(_tolerance),
    WithJsonSchema(
        {
            "type": ["number", "string"],
            "minimum": 0,
            "pattern": rf"^{_NUMBER}\s*%$",
            "description": "how far it may be off: absolute, or relative as in `0.1 %`",
        }
    ),
]
Nth = Annotated[
    int,
    PlainValidator(_whole(1, 99, "a whole number")),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 99, "description": "which number after it"}),
]
Dtype = Annotated[str, PlainValidator(_dtype), WithJsonSchema({"enum": list(FILE_DTYPES)})]
