"""What is wanted of the launches of a program beside what they do to memory, and what was seen of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.device.images import MemoryImage
    from grader.emulator.repair import RepairCase
    from grader.model import Launch, Run


@dataclass(frozen=True, slots=True)
class KernelRun:
    """What one launch showed: the kernel, where the program launched it, how, and the run."""

    kernel: str
    caller: int
    launch: Launch
    run: Run


@dataclass(frozen=True, slots=True)
class SeenLaunch:
    """What a launch found in device memory and what it left there, by the position of each pointer.

    A pair holds the bytes from where the pointer points to the end of its allocation, before and after.
    """

    pointers: Mapping[int, tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, eq=False)
class EndedLaunch:
    """A launch that was looked at for hazards, while device memory still is as the launch found it.

    ``image`` changes with that memory: it must be `kept` by whoever wants it later. ``trial`` is what the
    build for hazards showed.
    """

    ran: KernelRun
    trial: RepairCase
    image: MemoryImage


def _nobody(ended: EndedLaunch) -> None:
    """Nobody looks on."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What is wanted of launches.

    ``watched`` are the names of kernels of which the last launch that came to its end is seen. ``after`` is
    called with each launch before what it wrote is kept. With ``profile`` what each line moves is counted,
    and with ``count_only`` nothing is looked for: the staff's own programs.
    """

    watched: frozenset[str] = frozenset()
    after: Callable[[EndedLaunch], None] = _nobody
    profile: bool = False
    count_only: bool = False
