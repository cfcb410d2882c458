"""Arrays that a case draws, as the files that a program reads: libwb's text format, or NumPy's.

A ``.raw`` file is a line with the extents, then the rows, a line each (libwb, "wbImport"); an array of one
dimension has an element on each line. Numbers are written so that they are read as they are.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.errors import OurError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.model import Case


def input_files(case: Case, arrays: Mapping[str, NDArray[Any]]) -> tuple[tuple[str, bytes], ...]:
    """The files of a case by name; raises OurError where the oracle draws no such numbers."""
    files = []
    for name, array in case.files:
        if array not in arrays:
            drawn = ", ".join(arrays) or "nothing"
            raise OurError(
                f"case {case.id}: `{name}` is to hold `{array}`, and the oracle draws only {drawn}"
            )
        content = np.ascontiguousarray(arrays[array])
        if content.dtype.kind not in "fiub":
            raise OurError(
                f"case {case.id}: `{name}` is to hold `{array}`, which has {content.dtype} elements; "
                "expected whole or floating-point numbers"
            )
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
