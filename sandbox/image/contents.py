"""A digest of what an image holds: of names, kinds, modes, contents and links, and of nothing else.

    python3 contents.py [FOLDER...]     prints the digest of the tree that the folders make together

It is taken when the image is made, and again in a container of it: an image whose files are not those that
were put into it says so. Without folders it is this root that is looked at.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from pathlib import Path

LOOKED_AT = ("bin", "lib", "lib64", "opt", "sbin", "usr")
"""Folders that an engine leaves alone; in /etc it puts files of its own."""


def digest(roots: list[Path]) -> str:
    """The digest, in hexadecimal; of a path in several trees the first counts."""
    lines: dict[str, str] = {}
    for root in roots:
        for name in LOOKED_AT:
            _note(root / name, root, lines)
    text = "\n".join(lines[name] for name in sorted(lines))
    return hashlib.sha256(text.encode()).hexdigest()


def _note(path: Path, root: Path, lines: dict[str, str]) -> None:
    """Add a line for ``path`` and for all below it."""
    if not os.path.lexists(path):
        return
    about, name = path.lstat(), str(path.relative_to(root))
    mode = oct(stat.S_IMODE(about.st_mode))
    if stat.S_ISLNK(about.st_mode):
        lines.setdefault(name, f"{name}\0link\0{path.readlink()}")
    elif stat.S_ISDIR(about.st_mode):
        lines.setdefault(name, f"{name}\0folder\0{mode}")
        for entry in path.iterdir():
            _note(entry, root, lines)
    else:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.setdefault(name, f"{name}\0file\0{mode}\0{content}")


if __name__ == "__main__":
    print(digest([Path(argument) for argument in sys.argv[1:]] or [Path("/")]))  # noqa: T201 - a program
