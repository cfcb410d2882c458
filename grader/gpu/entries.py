"""A kernel under several names in one PTX text, so that a tool's records say which launch they belong to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.errors import OurError

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

    nvcc writes a kernel from the line that names it to the first line that is a closing brace; labels and
    parameters inside are the kernel's own (PTX ISA, section "Identifiers"). Raises OurError for other text.
    """
    head = re.search(rf"^[^\n]*\.entry {re.escape(entry)}\(", ptx, re.MULTILINE)
    end = ptx.find("\n}\n", head.end()) if head else -1
    if head is None or end < 0:
        raise OurError(f"the kernel {entry} was not found in the PTX where nvcc writes it")
    body = ptx[head.end() : end + len("\n}\n")]
    opening = head[0].removesuffix(f"{entry}(")
    copies = "".join(f"\n{opening}{name}({body}" for name in names)
    return f"{ptx[: end + 3]}{copies}{ptx[end + 3 :]}"
