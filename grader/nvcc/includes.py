"""``#include`` lines of a submission whose paths lead elsewhere than where the headers came to lie.

What is handed in has lost its folders, or lies in one that its paths leave: `../common/book.h` is then the
`common/book.h` or the `book.h` that came along. Such lines get the path of that file, and no others.
"""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_INCLUDE = re.compile(
    rb"^(?P<start>[ \t]*#[ \t]*include[ \t]*\")(?P<path>[^\"\n]{1,200})(?=\")", re.MULTILINE
)


def reaching(files: Mapping[str, bytes], source: str) -> dict[str, bytes]:
    """The files with each quoted include of one of them by the path that it has; ``source`` is no header."""
    headers = [name for name in files if name != source]
    return {name: _reaching(name, text, headers) for name, text in files.items()} if headers else dict(files)


def _reaching(name: str, text: bytes, headers: Collection[str]) -> bytes:
    def read(found: re.Match[bytes]) -> bytes:
        written = found["path"].decode(errors="replace")
        path = normpath(join(dirname(name), written.replace("\\", "/")))
        meant = path if path in headers and "\\" in written else _meant(path, headers)
        return found["start"] + (meant.encode() if meant else found["path"])

    return _INCLUDE.sub(read, text)


def _meant(path: str, headers: Collection[str]) -> str:
    """The header that a path from the top leads to, but for folders before it; empty where it is found so."""
    if path in headers:
        return ""
    while path.startswith("../"):
        path = path.removeprefix("../")
    alike = [header for header in headers if header == path or header.endswith(f"/{path}")]
    last = path.rsplit("/", 1)[-1]
    alike = alike or [header for header in headers if header.rsplit("/", 1)[-1] == last]
    return alike[0] if len(alike) == 1 else ""
