"""Runs of host code that gets other results from its device than its kernels have computed.

    device ─what comes back, altered▶ program or function ─▶ what it leaves

What stays as it was does not depend on these results.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen, mutable
from grader.kinds.attempts.words import WORD
from grader.running.device.device import Notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from grader.running.device.requests import CopyOut, Message, Pull

    Bytes = NDArray[np.uint8]

SLIGHTLY, FULLY, WIDELY = (
    np.array(bits, np.uint8) for bits in ([0x3F, 0, 0, 0], [0xFF, 0xFF, 0x7F, 0x80], [0xFF, 0xFF, 0xFF, 0xBF])
)
"""Bits of a word that may change: its last ones, so that a program that checks its results with a tolerance
goes on; all but the exponent of a float; and all but those that make an infinity of 1."""

SIZES = tuple(np.array(bits, np.uint8) for bits in ([0x3F, 0, 0, 0], [0xFF, 0xF, 0, 0], [0xFF, 0xFF, 7, 0]))
"""The last 6, 12 and 19 bits: changes of a float by a millionth up to a few hundredths."""

SIZES_OF_DOUBLES = tuple(
    np.frombuffer(((1 << bits) - 1).to_bytes(2 * WORD, "little"), np.uint8) for bits in (35, 41, 48)
)
"""The same for doubles."""


@frozen(eq=False)
class Alteration:
    """Alteration of the ``bits`` of each word by lot, of which ``number`` makes another one.

    With ``single``, one word alone is altered: the one at this share of all bytes that come back. With
    ``constant``, this word comes back everywhere.
    """

    bits: Bytes
    number: int = 0
    single: float | None = None
    constant: int | None = None

    def altered(self, content: Bytes, start: int, total: int) -> Bytes:
        """The bytes from ``start`` on, of ``total``, as they are altered."""
        if self.constant is not None:
            return np.resize(np.array([self.constant], np.uint32).view(np.uint8), content.size)
        width = self.bits.size
        content, count = content.copy(), content.size // width
        words = content[: count * width].reshape(count, width)
        rng = np.random.default_rng((self.number, start))
        lot = rng.integers(1, 256, words.shape, np.uint8) & self.bits
        lot[:, 0] |= np.where(lot.any(axis=1), 0, 1).astype(np.uint8)
        if self.single is not None:
            lot[np.arange(count) != (int(self.single * total) - start) // width] = 0
        words ^= lot
        return content


@mutable
class Altering(Notes):
    """Alters what comes back: the bytes in the ``masks`` of the requests, and all bytes of later ones."""

    alteration: Alteration
    masks: Sequence[NDArray[np.bool_]]
    _number: int = 0
    _before: int = field(default=0)

    def note(self, message: Message) -> None:
        """Take nothing down."""

    def outgoing(self, message: CopyOut | Pull, rows: Bytes) -> Bytes:  # noqa: ARG002
        """Bytes that the program gets."""
        number, self._number = self._number, self._number + 1
        is_known = number < len(self.masks) and self.masks[number].size == rows.size
        mask = self.masks[number] if is_known else np.ones(rows.size, np.bool_)
        content = rows.reshape(-1).copy()
        own = content[mask]
        content[mask] = self.alteration.altered(own, self._before, sum(map(np.count_nonzero, self.masks)))
        self._before += own.size
        return content.reshape(rows.shape)
