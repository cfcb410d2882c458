"""Random small kernels in which two or three threads talk to each other, mostly almost right.

Each is made of a few idioms (a message with a flag, a lock, tickets, a counter, plain accesses) between
barriers, of which fences, scopes and barriers are left out or exchanged at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from grader.model import Launch

if TYPE_CHECKING:
    from random import Random

    from grader.model import Dim3

CARE = (0.5, 0.85, 1.0, 1.0)
"""Probability that a fence, scope or barrier is what it should be: half of the kernels are right."""


class Threads(NamedTuple):
    """The threads that take part: the launch, and a condition for each of them."""

    grid: Dim3
    block: Dim3
    roles: tuple[str, ...]


PLACES = (
    Threads((2, 1, 1), (1, 1, 1), ("b == 0", "b == 1")),
    Threads((3, 1, 1), (1, 1, 1), ("b == 0", "b == 1", "b == 2")),
    Threads((1, 1, 1), (2, 1, 1), ("t == 0", "t == 1")),
    Threads((1, 1, 1), (33, 1, 1), ("t == 0", "t == 32")),
    Threads((2, 1, 1), (2, 1, 1), ("b == 0 && t == 0", "b == 0 && t == 1", "b == 1 && t == 0")),
    Threads((2, 1, 1), (33, 1, 1), ("b == 0 && t == 0", "b == 0 && t == 32", "b == 1 && t == 0")),
)


@dataclass(frozen=True)
class RandomKernel:
    """A kernel's source, one statement a line, and how it is launched: ``data``, ``flags``, ``out``."""

    name: str
    lines: tuple[str, ...]
    launch: Launch


class _Maker:
    """Makes one kernel."""

    def __init__(self, name: str, rng: Random) -> None:
        self.name, self.rng = name, rng
        self.where = rng.choice(PLACES)
        self.one_block = self.where.grid[0] == 1
        self.scripts: list[list[str]] = [[] for _ in self.where.roles]
        self._care = rng.choice(CARE)
        self._flags_used = 0
        self._values = iter(range(2, 1000))

    def kernel(self) -> RandomKernel:
        """One to three idioms, in segments between barriers of the whole block."""
        lines = [f'extern "C" __global__ void {self.name}(int* data, int* flags, int* out) {{']
        lines += ["__shared__ int near[4];", "int t = threadIdx.x, b = blockIdx.x, x = 0;"]
        lines += ["volatile int* polled = flags;"]
        for _ in range(self.rng.choice((1, 1, 2))):
            self.scripts = [[] for _ in self.where.roles]
            for _ in range(self.rng.choice((1, 1, 2))):
                idioms = [self.message, self.lock, self.tickets, self.counter]
                self.rng.choice(idioms if self.careful() else [self.plain])()
            for role, script in zip(self.where.roles, self.scripts, strict=True):
                lines += [f"if ({role}) {{", *script, "}"]
            lines += ["__syncthreads();"] if self.careful() else self.rng.choice(([], ["__syncwarp();"]))
        lines += ["out[b * blockDim.x + t] = x;", "}"]
        return RandomKernel(self.name, tuple(lines), Launch(self.where.grid, self.where.block, 0))

    def two(self) -> tuple[list[str], list[str]]:
        """Two of those who take part."""
        one, other = self.rng.sample(range(len(self.scripts)), 2)
        return self.scripts[one], self.scripts[other]

    def cell(self) -> str:
        """An element that they share."""
        if self.one_block and self.rng.random() < 0.4:
            return f"near[{self.rng.randrange(2)}]"
        return f"data[{self.rng.randrange(2)}]"

    def write(self, cell: str) -> str:
        """A store of a value of its own."""
        return f"{cell} = {next(self._values)};"

    def read(self, cell: str) -> str:
        """A load that the compiler keeps."""
        return f"x += {cell};"

    def careful(self) -> bool:
        """Draw whether the next thing is done as it should be."""
        return self.rng.random() < self._care

    def fence(self) -> list[str]:
        """A fence; without care none, or a weaker one."""
        if self.careful():
            near_enough = self.one_block and self.rng.random() < 0.5
            return ["__threadfence_block();" if near_enough else "__threadfence();"]
        return self.rng.choice(([], ["__threadfence_block();"]))

    def scope(self) -> str:
        """The suffix of an atomic function; without care that of a narrow one."""
        return "" if self.careful() and not self.one_block else "_block"

    def message(self) -> None:
        """Data, then a flag; the flag, then the data."""
        sender, receiver = self.two()
        cell, flag = self.cell(), self._free_flag()
        sets, waits = self.rng.choice(self._signals(flag))
        sender += [self.write(cell), *self.fence(), sets]
        if not self.careful():
            sender.append(self.write(cell))
        receiver += [waits, *self.fence(), self.read(cell) if self.rng.random() < 0.7 else self.write(cell)]

    def _signals(self, flag: int) -> tuple[tuple[str, str], ...]:
        """Ways to set a flag and to wait for it."""
        acquire, release = (
            f'asm volatile("{form};" : {operands}"l"(flags + {flag}) : "memory");'
            for form, operands in (
                ("ld.acquire.gpu.s32 %0, [%1]", '"=r"(x) : '),
                ("st.release.gpu.s32 [%0], 1", ": "),
            )
        )
        one, other = self.scope(), self.scope()
        return (
            (
                f"atomicExch{one}(&flags[{flag}], 1);",
                f"while (atomicAdd{other}(&flags[{flag}], 0) == 0) {{}}",
            ),
            (
                f"atomicAdd{one}(&flags[{flag}], 1);",
                f"while (atomicCAS{other}(&flags[{flag}], 1, 2) != 1) {{}}",
            ),
            (f"polled[{flag}] = 1;", f"while (polled[{flag}] == 0) {{}}"),
            (release, f"do {acquire} while (x == 0);"),
        )

    def _free_flag(self) -> int:
        """A flag that no thread has used; without care perhaps one that some thread has used."""
        self._flags_used += self.careful()
        return 5 + self._flags_used

    def lock(self) -> None:
        """A lock around an increment, by two or three."""
        cell, users = self.cell(), self.rng.choice((2, len(self.scripts)))
        for script in self.rng.sample(self.scripts, users):
            if not self.careful():
                script.append(self.write(cell))
            script += ["while (atomicCAS(&flags[2], 0, 1) != 0) {}", *self.fence()]
            script += [f"{cell} += {next(self._values)};", *self.fence(), "atomicExch(&flags[2], 0);"]

    def tickets(self) -> None:
        """All write an element and take a ticket; the last one reads all, and may reset the counter."""
        total = len(self.scripts)
        for number, script in enumerate(self.scripts):
            script += [f"out[{100 + number}] = {next(self._values)};", *self.fence()]
            script += [f"if (atomicAdd(&flags[3], 1) == {total - 1}) {{", *self.fence()]
            script += [f"x += out[{100 + other}];" for other in range(total)]
            script += [self.rng.choice(("flags[3] = 0;", "")), "}"]

    def plain(self) -> None:
        """An access here, an access there."""
        cell = self.cell()
        one, other = self.two()
        one.append(self.write(cell))
        other.append(self.rng.choice((self.read, self.write))(cell))

    def counter(self) -> None:
        """Atomic updates by all, and perhaps a plain look."""
        for script in self.scripts:
            script.append(f"x += atomicAdd{self.scope()}(&flags[4], 1);")
        if not self.careful():
            self.rng.choice(self.scripts).append(self.rng.choice(("x += flags[4];", "flags[4] = 0;")))


def random_kernel(name: str, rng: Random) -> RandomKernel:
    """A kernel that `rng` decides about."""
    return _Maker(name, rng).kernel()
