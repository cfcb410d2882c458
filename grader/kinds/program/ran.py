"""What all cases of a submission showed, and how the kernels that ran in them are built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.nvcc.signature import read_name
from grader.ptx import parse
from grader.ptx.facts import structure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Build, CaseEvidence, Named, Structure


@dataclass(frozen=True, slots=True)
class Ran:
    """What the cases of a submission showed; ``executed`` holds the instructions that threads came to.

    By the names of kernels in the PTX, each by function and place in it.
    """

    cases: tuple[CaseEvidence, ...]
    file: str
    built: Build | None = None
    """What the first case ran, whose instructions they are."""
    executed: Mapping[str, frozenset[tuple[str, int]]] = field(default_factory=dict)

    def structures(self) -> Named[Structure]:
        """How the kernels that ran are built, by the names that they have in the student's file."""
        if not self.executed or self.built is None:
            return ()
        structures = dict[str, "Structure"]()
        for file, build in ((self.file, self.built), *self.built.others):
            if not build.ptx:
                continue
            module = parse(build.ptx)
            entries = {function.name for function in module.functions if function.is_entry}
            for entry in sorted(self.executed.keys() & entries):
                of_entry = structure(module, entry, build.source_name, file, self.executed[entry])
                structures.setdefault(read_name(entry).name, of_entry)
        return tuple(structures.items())
