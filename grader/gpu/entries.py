"""A kernel under several names in one PTX text, so that a tool's records say which launch they belong to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.ptx import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = "grader_case_"


def name_for(index: int) -> str:
    """The name of the kernel that is launched for case number ``index``."""
    return f"{PREFIX}{index}"


def index_of(name: str) -> int | None:
    """The number of the case that a kernel's name stands for; None for any other name."""
    found = re.fullmatch(rf"{PREFIX}(\d{{1,9}})(?:\(.*)?", name, re.DOTALL)
    return int(found[1]) if found else None


def with_copies(ptx: str, entry: str, names: Iterable[str]) -> str:
    """The text with a copy of the kernel ``entry`` under each name; all share the module's variables.

    Labels and parameters inside are the kernel's own (PTX ISA, section "Identifiers"). Raises OurError where
    there is no such kernel.
    """
    kernels = (each for each in parse(ptx).functions if each.is_entry and each.defined and each.name == entry)
    kernel = next(kernels, None)
    if kernel is None:
        raise OurError(f"the kernel {entry} was not found in the PTX")
    (begin, end), (name_begins, name_ends) = kernel.text, kernel.named
    head, body = ptx[begin:name_begins], ptx[name_ends:end]
    copies = "".join(f"\n{head}{name}{body}\n" for name in names)
    return f"{ptx[:end]}\n{copies}{ptx[end:]}"
