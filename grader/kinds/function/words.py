"""The words that the calling program gets, one for each parameter, and where its arrays lie on the host.

What a word says is described in ``sandbox/headers/grader_function.hpp``, which reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.device.memory import PAGE

if TYPE_CHECKING:
    from grader.model import Argument

_HOST_ARRAYS, _BETWEEN = 0x6000_0000_0000, 1 << 36
"""Where the first array in memory of the host lies, and how far it is to the next."""


def value_word(argument: Argument) -> str:
    """A number, by its bits."""
    return f"number={int.from_bytes(np.asarray(argument.value).tobytes(), 'little'):x}"


def device_word(address: int) -> str:
    """An array that is in device memory already."""
    return f"device={address:x}"


def loaded_word(index: int, size: int) -> str:
    """An array that the calling program copies to device memory: the ``index``-th parameter, in bytes."""
    return f"load={file_of(index)},{size:x}"


def host_word(index: int, size: int) -> str:
    """An array in memory of the host."""
    return f"host={file_of(index)},{size:x},{_HOST_ARRAYS + index * _BETWEEN:x}"


def start_on_host(index: int, size: int) -> int:
    """Where an array in memory of the host starts: it ends with its last page, behind a page of nobody's."""
    return _HOST_ARRAYS + index * _BETWEEN + PAGE + -(-size // PAGE) * PAGE - size


def file_of(index: int) -> str:
    """The file that an array comes from."""
    return f"array-{index}"


def left_file(file: str) -> str:
    """The file in which the calling program leaves what came from a file."""
    return f"{file}.after"
