"""A function's work on the device as the harness replays it: launches, copies and fills, in their order.

A function of the host that is timed must not run beside the clock: its code is a stranger's. So what it asked
of its device is recorded (`grader.running.device.recording`), and the harness does the same again on the GPU,
with arrays of its own in the places of those that were there.

    Recording ─described▶ JSON of the request, with the contents of copies from the host as files
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from grader.base.records import frozen

if TYPE_CHECKING:
    from grader.model import Launch, Named


HOST = "host-memory"
"""Name of the function's own memory of the host: what is read goes there, and is not looked at."""


@frozen
class ArrayLocation:
    """Address of something: ``offset`` bytes after the start of an array, on the device or on the host."""

    array: str
    offset: int = 0


@frozen
class LaunchStep:
    """Launch: the bytes of each parameter, and the positions of addresses among them, with their targets."""

    entry: str
    launch: Launch
    parameters: tuple[tuple[bytes, tuple[tuple[int, ArrayLocation], ...]], ...]


@frozen
class FillStep:
    """``size`` bytes of one value (``cudaMemset``)."""

    to: ArrayLocation
    byte: int
    size: int


@frozen
class CopyStep:
    """``size`` bytes from one place to another (``cudaMemcpy``)."""

    to: ArrayLocation
    source: ArrayLocation
    size: int


Step: TypeAlias = LaunchStep | FillStep | CopyStep


@frozen
class Recording:
    """Requests of one call of a function to its device.

    Beside the arrays that the function is called with, steps name arrays of ``scratch`` (in bytes), which it
    allocated, ``variables`` of its file, ``contents``, which it copied from memory of its own on the host,
    and ``host_bytes`` there that it read results into (`HOST`).
    """

    steps: tuple[Step, ...]
    scratch: Named[int] = ()
    variables: tuple[str, ...] = ()
    contents: Named[bytes] = field(default=(), repr=False)
    host_bytes: int = 0

    def described(self, kernel: str, files: dict[str, bytes]) -> dict[str, Any]:
        """The recording as the request has it; contents go into ``files``."""
        names = {array: f"timed/{kernel}-{array}" for array, _ in self.contents}
        files |= {names[array]: content for array, content in self.contents}
        return {
            "steps": list(map(_step, self.steps)),
            "scratch": dict(self.scratch),
            "variables": list(self.variables),
            "contents": {array: [names[array], len(content)] for array, content in self.contents},
            "host_bytes": self.host_bytes,
        }


Recordings: TypeAlias = tuple[Recording, ...]
"""Requests of a function: one recording if it is the same on all input sets, else one for each."""


def differ_by_repeating(one: tuple[Step, ...], other: tuple[Step, ...]) -> bool:
    """True if the longer of two lists of steps is the shorter one with one run of steps put in.

    So two calls differ that repeat something until it has converged. The inputs decide about one number
    then, and results that the host has computed cannot travel to the device in it.
    """
    longer, shorter = sorted((one, other), key=len, reverse=True)
    same = next((at for at, (a, b) in enumerate(zip(longer, shorter, strict=False)) if a != b), len(shorter))
    rest = len(shorter) - same
    return len(longer) > len(shorter) and longer[len(longer) - rest :] == shorter[same:]


def _step(step: Step) -> dict[str, Any]:
    if isinstance(step, LaunchStep):
        parameters = [
            {"bytes": content.hex(), "pointers": [[at, *_location(location)] for at, location in pointers]}
            for content, pointers in step.parameters
        ]
        launch = step.launch
        return {
            "do": "launch",
            "entry": step.entry,
            "grid": list(launch.grid),
            "block": list(launch.block),
            "shared": launch.shared_bytes,
            "parameters": parameters,
        }
    if isinstance(step, FillStep):
        return {"do": "fill", "to": _location(step.to), "byte": step.byte, "size": step.size}
    return {"do": "copy", "to": _location(step.to), "source": _location(step.source), "size": step.size}


def _location(location: ArrayLocation) -> list[Any]:
    return [location.array, location.offset]
