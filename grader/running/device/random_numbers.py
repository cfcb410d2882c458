"""cuRAND on the memory of a device: random numbers that a seed decides.

They are not cuRAND's own: each comes of 64 bits of Philox (`numpy.random.Philox`), whose key are the seed and
the kind of generator. A generator of the host draws the same numbers as one of the device. No kernel of the
program's draws them, and none counts as launched for them.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.running.device.copies import DONE, Reply
from grader.running.device.errors import CudaError
from grader.running.device.library_operands import (
    NO_MORE,
    LibraryCall,
    Operand,
    finish,
    is_affordable,
    is_allowed,
    located,
)
from grader.running.device.library_requests import Distribution
from grader.running.device.protocol import ProtocolError
from grader.running.device.streams import Use

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from grader.running.device.device import Device
    from grader.running.device.library_requests import DrawNumbers, DrawOnHost

_BLOCK = 1 << 20
"""Numbers that are made at once."""

MOST_ON_HOST = 1 << 16
"""Numbers of one answer for a generator of the host (``numbers_at_once`` in ``random_numbers.cpp``)."""

LARGEST_MEAN = 400_000
"""Largest mean of numbers by Poisson's law (cuRAND, "curandGeneratePoisson")."""

_MOST_COUNTED = 4000
"""Largest mean up to which they are counted exactly; above they are rounded normal numbers, as cuRAND's."""

_MULTIPLICATIONS = 64
"""Cost of a number in the work that libraries may do: a logarithm, a root and a cosine."""

_WORDS = 4
"""Numbers of 64 bits that Philox makes of one value of its counter."""

_TYPES: dict[tuple[bool, int], np.dtype[Any]] = {
    (True, 4): np.dtype(np.uint32),
    (False, 4): np.dtype(np.float32),
    (False, 8): np.dtype(np.float64),
}
"""Types of numbers, by two keys: True for integers, and their bytes."""


def draw(device: Device, message: DrawNumbers, caller: int) -> Reply:
    """Random numbers in device memory."""
    dtype = _type_of(message)
    call = LibraryCall("cuRAND", "generate", message.stream, caller)
    count = message.count
    output = Operand("outputPtr", message.address, count, 1, count, message.width, Use.WRITES)
    contents = located(device, call, (output,))
    if not isinstance(contents, list):
        return contents
    if not is_affordable(device, call, _MULTIPLICATIONS * message.count, message.count):
        return NO_MORE
    began = time.monotonic()
    numbers = contents[0].view(dtype)[0]
    for start in range(0, message.count, _BLOCK):
        part = numbers[start : start + _BLOCK]
        part[:] = _raw_numbers(message, message.position + start, len(part))
    finish(device, call, (output,), _MULTIPLICATIONS * message.count)
    device.library_seconds += time.monotonic() - began
    return DONE


def draw_on_host(device: Device, message: DrawOnHost, caller: int) -> Reply:
    """Random numbers for the program's own memory."""
    dtype = _type_of(message)
    if message.count > MOST_ON_HOST:
        raise ProtocolError(f"{message.count} random numbers in one answer")
    call = LibraryCall("cuRAND", "generate", message.stream, caller)
    if not is_allowed(device, call):
        return NO_MORE
    if not is_affordable(device, call, _MULTIPLICATIONS * message.count, message.count):
        return NO_MORE
    began = time.monotonic()
    content = _raw_numbers(message, message.position, message.count).astype(dtype).tobytes()
    device.library_seconds += time.monotonic() - began
    return CudaError.SUCCESS, content


def _type_of(message: DrawNumbers) -> np.dtype[Any]:
    """Type in which numbers are stored; raises ProtocolError for what the runtime never asks for."""
    if message.distribution not in set(Distribution) or not message.count:
        raise ProtocolError(f"{message.count} numbers of distribution {message.distribution}")
    are_integers = message.distribution in (Distribution.BITS, Distribution.POISSON)
    dtype = _TYPES.get((are_integers, message.width))
    if dtype is None:
        raise ProtocolError(f"random numbers of {message.width} bytes")
    if message.distribution == Distribution.POISSON and not 0 < message.first <= LARGEST_MEAN:
        raise ProtocolError(f"a mean of {message.first} by Poisson's law")
    return dtype


def _raw_numbers(message: DrawNumbers, position: int, count: int) -> NDArray[Any]:
    """The numbers of a seed from a position on, each of 64 bits of its own."""
    before = position % _WORDS
    key = message.generator << 64 | message.seed
    bits = np.random.Philox(key=key, counter=position // _WORDS).random_raw(before + count)[before:]
    with np.errstate(all="ignore"):
        match Distribution(message.distribution):
            case Distribution.BITS:
                return bits >> np.uint64(32)
            case Distribution.UNIFORM:
                return _uniform(bits, 8 * message.width)
            case Distribution.POISSON:
                return _counted(bits, message.first)
            case Distribution.NORMAL:
                return message.first + message.second * _normal(bits)
            case Distribution.LOG_NORMAL:
                return np.exp(message.first + message.second * _normal(bits))


def _uniform(bits: NDArray[np.uint64], digits: int = 64) -> NDArray[np.float64]:
    """Numbers above 0, up to 1, of the upper ``digits`` of their bits, of which a double takes 53."""
    digits = min(digits, 53)
    return ((bits >> np.uint64(64 - digits)) + np.uint64(1)).astype(float) * 2.0**-digits


def _normal(bits: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Normal numbers by Box and Muller: a distance of the upper 40 bits, an angle of the others."""
    angles = (bits & np.uint64((1 << 24) - 1)).astype(float) * (2 * math.pi / (1 << 24))
    distances: NDArray[np.float64] = np.sqrt(-2 * np.log(_uniform(bits, 40)))
    return distances * np.cos(angles)


def _counted(bits: NDArray[np.uint64], mean: float) -> NDArray[Any]:
    """Integers by Poisson's law: the number of steps of its distribution below a uniform number."""
    if mean > _MOST_COUNTED:
        rounded: NDArray[np.float64] = np.rint(mean + math.sqrt(mean) * _normal(bits))
        return rounded.clip(0)
    counts = np.arange(int(mean + 12 * math.sqrt(mean)) + 32)
    factorials = np.concatenate(([0.0], np.cumsum(np.log(counts[1:]))))
    below = np.cumsum(np.exp(counts * math.log(mean) - mean - factorials))
    steps: NDArray[np.intp] = np.searchsorted(below, _uniform(bits) * below[-1])
    return steps
