"""Cubins of a submission's two builds for one GPU, with what the harness has to know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.toolchain.gpu.request import Image, has_variables, name_for, symbols_of, widths, with_copies
from grader.toolchain.nvcc import assemble

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Argument, Build
    from grader.toolchain.gpu.request import DeviceCase
    from grader.toolchain.nvcc import Tools


@frozen
class Images:
    """Factory of images for an ``architecture``, such as ``sm_90``; ``arguments`` are those of any case."""

    tools: Tools
    architecture: str
    built: Build
    arguments: tuple[Argument, ...]

    def plain(self, *, optimised: bool) -> Image:
        """The build that is graded, or the -O0 build; raises OurError where it cannot be assembled."""
        return self._image(self._ptx(optimised=optimised), optimised=optimised)

    def copies(self, cases: Iterable[DeviceCase], *, optimised: bool) -> Image:
        """The same with a copy of its kernel for each case, under a name of the case's own."""
        names = (name_for(case.index) for case in cases)
        text = with_copies(self._ptx(optimised=optimised), self.built.entry, names)
        return self._image(text, optimised=optimised)

    def _ptx(self, *, optimised: bool) -> str:
        return self.built.ptx if optimised else self.built.hazard_ptx

    def _image(self, text: str, *, optimised: bool) -> Image:
        ptx = self._ptx(optimised=optimised)
        return Image(
            assemble(self.tools, text, self.architecture, optimised=optimised),
            self.built.entry,
            widths(self.arguments, self.built.parameter_bytes),
            symbols_of(self.arguments, ptx),
            variables=has_variables(ptx),
        )
