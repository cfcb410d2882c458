"""What ``timing`` of a stored grade must look like, so that reports can rely on it.

It is empty where nothing was timed. Keys that are not named here are kept and passed over.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel


class StoredRatio(BaseModel):
    """How many times as fast: a median, and the ends of its interval."""

    median: float
    low: float
    high: float


class StoredResources(BaseModel):
    """What the kernel takes, per thread (registers) or in bytes."""

    registers: int
    shared_bytes: int
    spill_bytes: int


class StoredTiming(BaseModel):
    """``timing``, where something was timed; see `grader.model.Timing`."""

    baseline: str
    shape: dict[str, int]
    speedup: StoredRatio | None
    control: StoredRatio | None
    solution: StoredRatio | None
    rounds: int
    dropped: int
    milliseconds: dict[str, float]
    first_milliseconds: float
    gflops: dict[str, float]
    roofline_share: float | None
    resources: StoredResources | None
    occupancy: float | None


def _checked(timing: dict[str, Any]) -> dict[str, Any]:
    if timing:
        StoredTiming.model_validate(timing)
    return timing


Timing = Annotated[dict[str, Any], AfterValidator(_checked)]
"""The value as it stood there, once it has been found to be sound."""
