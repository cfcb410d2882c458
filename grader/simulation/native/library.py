"""The shared library of native code, for whoever calls its functions.

The library has a plain C interface, so one build serves every Python, and ctypes lets other threads run
meanwhile. It is made when the package is installed (`grader/toolchain/core_library.py`).
"""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache
from pathlib import Path

from grader.base.errors import GraderError
from grader.simulation.native.sources import PLAIN, WIDE, digest


class NoLibraryError(GraderError):
    """There is no library of these sources, and what asks for it does without nothing else."""


@lru_cache(maxsize=1)
def native_library() -> ctypes.CDLL | None:
    """The library for this processor, or that which `GRADER_CORE` names; None where there is none to use."""
    named = os.environ.get("GRADER_CORE")
    if named:
        return _loaded(Path(named))
    plain = _loaded(PLAIN)
    wide = _loaded(WIDE) if plain is not None and plain.core_can_be_wide() else None
    return wide or plain


def required_library() -> ctypes.CDLL:
    """The library; raises NoLibraryError where there is none."""
    loaded = native_library()
    if loaded is None:
        raise NoLibraryError("the native library is not compiled")
    return loaded


def _loaded(path: Path) -> ctypes.CDLL | None:
    """The library of a file; None if it is not of these sources."""
    try:
        loaded = ctypes.CDLL(str(path))
        loaded.core_digest.restype, loaded.core_digest.argtypes = ctypes.c_char_p, []
        is_ours = loaded.core_digest() == digest().encode()
    except (OSError, AttributeError):
        return None
    return loaded if is_ours else None
