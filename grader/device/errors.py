"""Error codes of the CUDA runtime that the device gives (CUDA Runtime API, ``cudaError``)."""

from __future__ import annotations

from enum import IntEnum


class CudaError(IntEnum):
    """``cudaError_t``; those that a program can be given here."""

    SUCCESS = 0
    INVALID_VALUE = 1
    MEMORY_ALLOCATION = 2
    INVALID_CONFIGURATION = 9
    INVALID_PITCH_VALUE = 12
    INVALID_SYMBOL = 13
    INVALID_DEVICE_FUNCTION = 98
    INVALID_RESOURCE_HANDLE = 400
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    HARDWARE_STACK_ERROR = 714
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILURE = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
