"""Sentences on a page: what stands in backticks is code, and chapters of the guide are links."""

from __future__ import annotations

import re

from markupsafe import Markup

GUIDE = "https://docs.nvidia.com/cuda/archive/12.9.1/cuda-c-programming-guide/index.html"
"""The release's own address, whose anchors stay."""

CHAPTERS = frozenset(
    {
        *("Assertion", "Atomic Functions", "Built-in Variables", "Device Memory Accesses"),
        *("Execution Configuration", "Floating-Point Standard", "Kernels", "Memory Fence Functions"),
        *("Shared Memory", "SIMT Architecture", "Synchronization Functions", "Thread Hierarchy"),
        *("Variable Memory Space Specifiers", "Warp Shuffle Functions"),
    }
)
"""Sections of the CUDA C++ Programming Guide by their titles, of which their anchors are made."""

_PIECES = re.compile(r"`([^`]+)`|“([^”]+)”")


def prose(words: str) -> Markup:
    """Write harmless text as markup."""
    written, end = Markup(""), 0
    for match in _PIECES.finditer(words):
        written += words[end : match.start()]
        written += _code(match[1]) if match[1] else _chapter(match[2])
        end = match.end()
    return written + words[end:]


def coded(words: str) -> Markup:
    """Write harmless text as markup that may stand in a link: what stands in backticks is code."""
    pieces = re.split(r"`([^`]+)`", words)
    return Markup("").join(_code(piece) if number % 2 else piece for number, piece in enumerate(pieces))


def _code(words: str) -> Markup:
    return Markup("<code>{}</code>").format(words)


def _chapter(title: str) -> Markup:
    if title not in CHAPTERS:
        return Markup("“{}”").format(title)
    anchor = re.sub(r"[^a-z0-9]+", "-", title.lower())
    return Markup('“<a href="{}#{}">{}</a>”').format(GUIDE, anchor, title)
