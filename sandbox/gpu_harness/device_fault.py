"""The one exception for whatever CUDA says instead of success."""

from __future__ import annotations


class DeviceFault(Exception):  # noqa: N818 - a fault is what a kernel does; an error would be ours
    """The name of CUDA's error, such as ``cudaErrorIllegalAddress``, and its message."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


def description(problem: BaseException) -> tuple[str, str]:
    """The name of any exception, and what it says."""
    if isinstance(problem, DeviceFault):
        return problem.name, problem.message
    return type(problem).__name__, str(problem)
