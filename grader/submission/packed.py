"""What an archive says of one of its members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_UNPACKED = 32 * 2**20
"""What all files of one student's archive may hold together, in bytes.

How well they are compressed does not matter: a table of zeros is no bomb, one byte more than this is.
"""

DAMAGED = "the archive is damaged, or was not handed in as a whole; try to pack it again"
TOO_LARGE = (
    f"the archive holds more than {MAX_UNPACKED // 2**20} MiB once it is unpacked; expected source files"
)
LINK = "is a link; expected the file itself"
DEVICE = "is a device or a pipe; expected a source file"


@dataclass(frozen=True, slots=True)
class Packed:
    """A member: its whole name as it stands there, and how to get at its first bytes.

    ``trouble`` says why it cannot be read. ``load`` gives at most so many bytes, and raises `Unusable`.
    """

    name: str
    is_folder: bool
    size: int
    trouble: str
    load: Callable[[int], bytes]
