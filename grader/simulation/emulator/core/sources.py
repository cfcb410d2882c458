"""The sources of the core's library, and what they are compiled with; a library has their digest in it.

This file imports nothing of the package: `grader/toolchain/core_library.py` reads it before there is one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parent
SOURCES = FOLDER / "native"
PLAIN, WIDE = FOLDER / "libcore.so", FOLDER / "libcore-wide.so"
"""The library that each processor of the platform executes, and of x86-64 one for those with AVX2."""

OPTIONS = (
    *("-std=c++20", "-O3", "-fPIC", "-fvisibility=hidden"),
    *("-fno-strict-aliasing", "-ffp-contract=off", "-fwrapv"),
)
"""Results are the same bits on every machine: no sum is fused with a product, and signed numbers wrap."""

OF_WIDE = ("-march=x86-64-v3",)


def digest() -> str:
    """The digest of the sources and options, which a library has in it."""
    content = hashlib.sha256(" ".join((*OPTIONS, *OF_WIDE)).encode())
    for file in sorted(SOURCES.iterdir()):
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()
