"""Launches of a kernel that is watched: what they found and left, kept so that they can be made again.

A kernel that stores what the host has computed leaves right numbers, too. What it leaves for other inputs
tells it from one that computes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from grader.backends.emulated_kernel import EmulatedKernel
from grader.device.memory import BASE
from grader.errors import PtxSyntaxError, UnsupportedPtx

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.device.observation import MemoryImage
    from grader.emulator.memory.memory import Allocation
    from grader.model import Argument, Build, Launch, Run

MOST_LAUNCHES, MOST_BYTES = 8, 1 << 28
"""Launches of one kernel that are kept, and device memory for them; the last one may take more."""

_WORK_TIMES, _WORK_MORE = 4, 10_000
"""The work that a launch may take for other inputs: so many times what it took, and so much beside it."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptLaunch:
    """A launch of a kernel of a ``build``, the ``work`` that it took, and device memory as it found it."""

    build: Build
    file: str
    launch: Launch
    arguments: tuple[Argument, ...]
    work: int
    image: MemoryImage

    @property
    def taken(self) -> int:
        """Bytes that it takes here."""
        return 2 * sum(int(part.stop) - int(part.start) for part in self.image.in_use)

    def address(self, position: int) -> int:
        """The pointer at a position among the parameters."""
        return int.from_bytes(np.asarray(self.arguments[position].value).tobytes(), "little")

    def array_at(self, address: int) -> Allocation | None:
        """The array that an address lay in; None where there was none yet."""
        arrays = self.image.arrays
        return next((a for a in arrays if a.start <= address - BASE < a.end), None)

    def holding(self, contents: Iterable[tuple[int, bytes]]) -> MemoryImage:
        """The image with other ``contents`` at some addresses, where there was an array for them already.

        So has constant memory that holds a copy of what was there: a kernel may read an input from it.
        """
        image = self.image.kept()
        constants = [array for array in image.arrays if array.constant]
        for address, content in contents:
            array, part = self.array_at(address), slice(address - BASE, address - BASE + len(content))
            if array is not None and part.stop <= array.end:
                before, length = self.image.bytes[part], len(content)
                copies = (slice(c.start, c.start + length) for c in constants if c.start + length <= c.end)
                for same in (part, *(c for c in copies if np.array_equal(self.image.bytes[c], before))):
                    image.bytes[same], image.written[same] = np.frombuffer(content, np.uint8), 1
        return image

    def again(self, contents: Iterable[tuple[int, bytes]]) -> Run | None:
        """The launch where memory holds other ``contents`` (see `holding`).

        None where it does not come to its end, takes more than it may, or comes to what is not interpreted.
        """
        try:
            image = self.holding(contents)
            kernel = EmulatedKernel(self.build, self.build.source_name, self.file, lay_out=image.lay_out)
            run = kernel.again(self.launch, self.arguments, _WORK_TIMES * self.work + _WORK_MORE)
        except (UnsupportedPtx, PtxSyntaxError, MemoryError):
            return None
        return run if run.completed else None


@dataclass(eq=False, slots=True)
class KeptLaunches:
    """The last launches of a kernel; ``all`` of them unless there were too many."""

    launches: list[KeptLaunch] = field(default_factory=list)
    all: bool = True

    @property
    def launch(self) -> Launch | None:
        """How the last one was launched, if it is kept."""
        return self.launches[-1].launch if self.launches else None

    def keep(self, launch: KeptLaunch) -> None:
        """Keep one more, and let go of the oldest where they take too much; of all where there is no room."""
        try:
            self.launches.append(replace(launch, image=launch.image.kept()))
        except MemoryError:
            self.launches.clear()
            self.all = False
        while len(self.launches) > MOST_LAUNCHES or (
            len(self.launches) > 1 and sum(kept.taken for kept in self.launches) > MOST_BYTES
        ):
            self.launches.pop(0)
            self.all = False

    def held(self, inputs: Mapping[int, bytes]) -> dict[int, bytes]:
        """What arrays hold when they are given these ``inputs``, one after the other: they may overlap."""
        last = self.launches[-1]
        starts = {position: last.address(position) for position in inputs}
        image = last.holding((starts[position], content) for position, content in inputs.items())
        at = {position: start - BASE for position, start in starts.items()}
        return {p: image.bytes[at[p] : at[p] + len(content)].tobytes() for p, content in inputs.items()}

    def left_for(self, inputs: Mapping[int, bytes], output: int, count: int) -> bytes | None:
        """What the last ``count`` launches leave together in the output if the arrays hold these ``inputs``.

        Arrays are known by the positions of their pointers among the parameters of the last launch. None
        where nobody knows what one of them leaves. One that was made before the output was there left nothing
        in it.
        """
        last = self.launches[-1]
        contents = [(last.address(position), content) for position, content in inputs.items()]
        target, left = last.address(output), b""
        for kept in self.launches[-count:]:
            array = kept.array_at(target)
            if array is None:
                continue
            run = kept.again(contents)
            if run is None:
                return None
            content = np.ascontiguousarray(dict(run.outputs)[str(array.start)]).view(np.uint8).reshape(-1)
            left = content[target - BASE - array.start :].tobytes()
            contents.append((target, left))
        return left


@dataclass(frozen=True, slots=True)
class SeenLaunch:
    """What a launch found in device memory and what it left there, by the position of each pointer.

    A pair holds the bytes from where the pointer points to the end of its allocation, before and after.
    ``kept`` are the last launches of the kernel, of which it is the last.
    """

    pointers: Mapping[int, tuple[bytes, bytes]]
    kept: KeptLaunches = field(default_factory=KeptLaunches)
