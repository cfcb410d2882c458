"""Numbers at named places of a text: the first one after some words, or the second, and so on.

A number is what C prints with `%d`, `%f`, `%e` or `%g`: digits with a point and an exponent if need be, and a
sign where nothing it could belong to stands before it (`0-1` are two numbers). What follows it does not
matter: `2.00x` is 2. There are no separators of thousands: `1,024` is 1. `inf` and `nan` are read as numbers
that are never right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, islice
from typing import TYPE_CHECKING

from grader.checks.printed import harmless, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import ExpectedNumber

NUMBER = re.compile(
    r"""(?:(?<![\w.)\]}])[-+])?                    # a sign, unless it stands between two things
        (?: (?:[0-9]+(?:\.[0-9]*)? | \.[0-9]+)     # 12, 12., 12.5 and .5
            (?:[eE][-+]?[0-9]+)?
          | (?<!\w)(?:inf(?:inity)?|nan)(?!\w) )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)

LONGEST = 400
"""Characters of a number that is read; and the largest power of ten: no type of C holds more."""

SHOWN = 30
"""Characters of a number that are shown."""

MOST_LISTED = 6
"""Numbers that are named where the words before them are not there."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is at a place: ``found`` says whether the words before it are there; ``text`` is the number."""

    found: bool
    text: str = ""
    right: bool = False


def read(text: str, wanted: ExpectedNumber) -> Reading:
    """Look up one number and judge it."""
    start = text.find(wanted.after)
    if start < 0:
        return Reading(found=False)
    numbers = NUMBER.finditer(text, start + len(wanted.after))
    match = next(islice(numbers, wanted.nth - 1, None), None)
    if match is None:
        return Reading(found=True)
    return Reading(found=True, text=match.group(), right=is_right(value(match.group()), wanted))


def value(text: str) -> Fraction | None:
    """The number that a text of the form `NUMBER` means; None for `inf`, `nan` and what is absurdly large."""
    mantissa, _, exponent = text.lower().partition("e")
    if "n" in mantissa or len(text) > LONGEST or abs(int(exponent or 0)) > LONGEST:
        return None
    return Fraction(mantissa.removesuffix(".")) * Fraction(10) ** int(exponent or 0)


def is_right(number: Fraction | None, wanted: ExpectedNumber) -> bool:
    """Whether a number is as near as it must be."""
    margin = wanted.within * abs(wanted.value) if wanted.relative else wanted.within
    return number is not None and abs(number - wanted.value) <= margin


def sentences(wrong: Sequence[tuple[Reading, ExpectedNumber]], of: str) -> list[str]:
    """What is at each place and what should be there; words that are not there at all are told once."""
    told = []
    for after, group in groupby(wrong, key=lambda pair: pair[1].after):
        pairs = list(group)
        if pairs[0][0].found:
            told += [_sentence(reading, wanted, of) for reading, wanted in pairs]
        else:
            numbers = [f"{plain(wanted.value)}{_margin(wanted)}" for _, wanted in pairs[:MOST_LISTED]]
            listed = ", ".join([*numbers, *(["…"] if pairs[MOST_LISTED:] else [])])
            told.append(f"{does_not(of)} {quoted(after.strip())}; expected {listed} after it")
    return told


def _sentence(reading: Reading, wanted: ExpectedNumber, of: str) -> str:
    """After `Speed:` your program prints 3; expected 2."""
    expected = f"{plain(wanted.value)}{_margin(wanted)}"
    place = quoted(wanted.after.strip())
    which = f" {wanted.nth}" if wanted.nth > 1 else ""
    if not reading.text:
        return f"after {place} {verb(of)} no number{which}; expected {expected}"
    shown = harmless(reading.text, SHOWN) + (f" as number{which}" if which else "")
    return f"after {place} {verb(of)} {shown}; expected {expected}"


def verb(of: str) -> str:
    """Who says what stands there."""
    known = {"stdout": "your program prints", "stderr": "your program prints to standard error"}
    return known.get(of) or f"the file {quoted(of)} has"


def does_not(of: str) -> str:
    """The same in the negative."""
    known = {"stdout": "your program does not print", "stderr": "standard error does not have"}
    return known.get(of) or f"the file {quoted(of)} does not have"


def plain(number: Fraction) -> str:
    """A number as people write it: `128`, `0.25`, `1e-09`."""
    if number.denominator == 1 and abs(number) < 10**15:
        return str(number.numerator)
    return f"{float(number):.12g}"


def _margin(wanted: ExpectedNumber) -> str:
    if not wanted.within:
        return ""
    margin = f"{plain(100 * wanted.within)} %" if wanted.relative else plain(wanted.within)
    return f" (at most {margin} off)"
