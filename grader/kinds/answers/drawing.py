"""The numbers of a student's own: the same for the same seed, student and setting on every machine."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from grader.submission.names import safe

if TYPE_CHECKING:
    from grader.model import DrawnNumber, Setting


def numbers_of(setting: Setting, seed: int, student: str) -> dict[str, int]:
    """The setting's numbers for a student, whose id is that of the submission; case does not count in it."""
    who = safe(student).casefold()
    return {number.name: _drawn(number, seed, who, setting.id) for number in setting.numbers}


def _drawn(number: DrawnNumber, seed: int, student: str, setting: str) -> int:
    hashed = sha256(repr(("question", seed, student, setting, number.name)).encode()).digest()
    place = int.from_bytes(
        hashed, "big"
    )  # 256 bits: no number is likelier than another by anything measurable
    if number.choices:
        return number.choices[place % len(number.choices)]
    return number.low + place % (number.high - number.low + 1)
