"""`kernel-output`: what a launch of the program left in device memory is what the oracle computes.

The oracle is given what was in device memory when the kernel was launched; what the program prints of its
result, or writes to a file, counts nothing here. It was compared before (`grader.kinds.program.outputs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.array import judge_array, shape_without_inputs
from grader.checks.check import Check, key
from grader.checks.program_cases import judge_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.checks.check import Disorder
    from grader.model import CheckResult, Evidence, Named


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOutputCheck(Check):
    """The last launch of ``kernel`` computes what the oracle computes of the same arrays.

    ``arguments`` are the oracle's names of the kernel's first parameters, in their order. Without ``shape``
    and ``inputs`` those of the case count.
    """

    name: ClassVar[str] = "kernel-output"
    title: ClassVar[str] = "what a kernel computes"
    kinds: ClassVar[tuple[str, ...]] = ("program", "function")
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    kernel: str = key("KernelName")
    arguments: tuple[str, ...] = key("Names")
    output: str = key("Name")
    dtype: str = key("Dtype")
    shape: Named[int] | None = key("Shape", None)
    inputs: str | None = key("Identifier", None)

    @property
    def compared_as(self) -> str:
        """What comparisons and findings call the array."""
        return f"{self.kernel}.{self.output}"

    def contradiction(self) -> tuple[str, str] | None:
        """A shape goes with the kind of inputs that have it."""
        return shape_without_inputs(self.shape, self.inputs)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The output, which the assignment names."""
        return (self.compared_as,)

    def disorder(self) -> Iterator[Disorder]:
        """Each argument has a name of its own, and the output is one of them."""
        for position, name in enumerate(self.arguments):
            if self.arguments.index(name) != position:
                yield ("arguments", position), f"`{name}` is there already"
        if self.output not in self.arguments:
            yield ("output",), f"expected one of {', '.join(f'`{name}`' for name in self.arguments)}"

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge the array that the launches of the item's cases left."""
        return judge_cases(self.item, evidence, lambda case, run: judge_array(case, run, self.compared_as))
