"""The members of a tar file, which may be compressed with gzip, read with the standard library."""

from __future__ import annotations

import gzip
import io
import zlib
from functools import partial
from tarfile import BLOCKSIZE, TarError, TarFile
from typing import TYPE_CHECKING

from grader.submission.files import Unusable
from grader.submission.packed import DAMAGED, DEVICE, LINK, MAX_UNPACKED, TOO_LARGE, Packed

if TYPE_CHECKING:
    from tarfile import TarInfo

_LONGEST_HEADER = 16 * 1024
"""Bytes of a header beside the usual one: a long name, times to the nanosecond."""

_WRONG = (TarError, RuntimeError, EOFError, OSError, ValueError, OverflowError, IndexError, zlib.error)
"""What `tarfile` and `gzip` raise for files that are none, or not whole."""


class _Headers(io.BytesIO):
    """A tar file of which only headers are read: a header of megabytes is nobody's."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= _LONGEST_HEADER:
            raise ValueError("a header that is too long")
        return super().read(size)


def members(content: bytes, most: int, *, compressed: bool) -> list[Packed]:
    """Its members, ``most`` of them at most; raises `Unusable`."""
    try:
        if compressed:
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MAX_UNPACKED + 1)
        if len(content) > MAX_UNPACKED:
            raise Unusable(TOO_LARGE)
        return [_packed(content, info) for info in _listed(content, most)]
    except _WRONG as error:
        raise Unusable(DAMAGED) from error


def _listed(content: bytes, most: int) -> list[TarInfo]:
    found: list[TarInfo] = []
    archive = TarFile(fileobj=_Headers(content), encoding="utf-8", errors="surrogateescape")
    while (info := archive.next()) is not None:
        found.append(info)
        if len(found) > most:
            raise Unusable(
                f"the archive holds more than {most:,} files; expected one .cu file and its headers"
            )
    # `tarfile` takes a damaged header for the end, where there must be an empty block.
    end = content[archive.offset : archive.offset + BLOCKSIZE]
    if len(end) < BLOCKSIZE or any(end):
        raise Unusable(DAMAGED)
    return found


def _packed(content: bytes, info: TarInfo) -> Packed:
    load = partial(_load, content, info.offset_data, info.size)
    return Packed(info.name, info.isdir(), info.size, "" if info.isdir() else _trouble(info), load)


def _trouble(info: TarInfo) -> str:
    if info.issym() or info.islnk():
        return LINK
    if not info.isreg() or info.issparse():
        return "is a file with holes; expected a source file" if info.isreg() else DEVICE
    return ""


def _load(content: bytes, start: int, size: int, most: int) -> bytes:
    found = content[start : start + min(size, most)] if start >= 0 <= size else b""
    if len(found) < min(size, most):
        raise Unusable(DAMAGED)
    return found
