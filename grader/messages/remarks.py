"""What later stages add to a sentence, and words that all sentences are put together with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

REMARKS: Mapping[str, str] = {
    "nothing-depends": "{sentence}; nothing depends on it",
    "when-optimised": "in the optimised program, which is the one that is graded, {sentence}",
    "doubted-race": (
        "{witness} says: {sentence}; it costs nothing, because the emulator saw every access of this launch "
        "and found an order"
    ),
    "doubted-barrier": (
        "{witness} says: {sentence}; it costs nothing, because the emulator saw every thread of this launch "
        "come to its barriers"
    ),
    "kernel-alone": "not judged, for only the kernel is asked for: {sentence}",
    "in-hidden-case": "{sentence} (in a hidden case)",
}
"""Sentences around the finding's own, which is ``{sentence}``."""

WORDS: Mapping[str, str] = {
    "and": " and ",
    "or": " or ",
    "others": "others",
    "on-line": "on line {lines}",
    "on-lines": "on lines {lines}",
}
