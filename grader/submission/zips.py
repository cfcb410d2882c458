"""The members of a zip file (PKWARE's APPNOTE 6.3.10), read with the standard library."""

from __future__ import annotations

import stat
import zlib
from functools import partial
from itertools import pairwise
from struct import error as StructError  # noqa: N812 - it is a class
from typing import IO, TYPE_CHECKING, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from grader.submission.files import Unusable
from grader.submission.packed import DAMAGED, DEVICE, LINK, MAX_UNPACKED, TOO_LARGE, Packed

if TYPE_CHECKING:
    from typing import BinaryIO
    from zipfile import ZipInfo

_LONGEST_ENTRY = 350
"""Bytes of the list of files for each member: 46, its name, its times and owners."""

_LOCAL_HEADER = 30
_ENCRYPTED = 0x1
_WRONG = (
    BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    StructError,
    zlib.error,
)
"""What `zipfile` raises for files that are none, or not whole."""


class _Sparing:
    """A file of which nobody reads more at once than an honest list of so many members takes."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable
        self._file, self._members, self._most = file, most, most * _LONGEST_ENTRY

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size) if 0 <= size <= self._most else self._file.read(self._most + 1)
        if len(content) > self._most:
            raise Unusable(_too_many(self._members))
        return content

    def close(self) -> None:
        """Whoever opened the file closes it."""


def members(file: BinaryIO, most: int, *, whole: bool) -> list[Packed]:
    """Its members, ``most`` of them at most; raises `Unusable`, also where the ``whole`` is too large."""
    try:
        archive = ZipFile(cast("IO[bytes]", _Sparing(file, most)))
    except _WRONG as error:
        raise Unusable(DAMAGED) from error
    found = archive.infolist()
    if len(found) > most:
        raise Unusable(_too_many(most))
    if whole and sum(info.file_size for info in found) > MAX_UNPACKED:
        raise Unusable(TOO_LARGE)
    _require_apart(found, archive.start_dir)
    return [_packed(archive, info) for info in found]


def _too_many(most: int) -> str:
    return f"the archive holds more than {most:,} files; expected one .cu file and its headers"


def _require_apart(found: list[ZipInfo], end: int) -> None:
    """Files that overlap unpack to far more than there is: D. Fifield, *A better zip bomb*, 2019."""
    places = sorted(
        (info.header_offset, info.header_offset + _LOCAL_HEADER + info.compress_size) for info in found
    )
    starts_after = all(first[1] <= second[0] for first, second in pairwise([*places, (end, end)]))
    if not starts_after or (places and places[0][0] < 0):
        raise Unusable(
            "files in the archive overlap, as no packer writes them; expected an ordinary zip file"
        )


def _packed(archive: ZipFile, info: ZipInfo) -> Packed:
    # `filename` ends at the first NUL; the name as it stands there does not.
    name = info.orig_filename
    kind = stat.S_IFMT(info.external_attr >> 16)
    is_folder = name.replace("\\", "/").endswith("/") or kind == stat.S_IFDIR
    trouble = "" if is_folder else _trouble(info, kind)
    return Packed(name, is_folder, info.file_size, trouble, partial(_load, archive, info))


def _trouble(info: ZipInfo, kind: int) -> str:
    if kind == stat.S_IFLNK:
        return LINK
    if kind not in {0, stat.S_IFREG}:
        return DEVICE
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted; expected an archive without a password"
    if info.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        return "is compressed in an unusual way; expected an ordinary zip file"
    return ""


def _load(archive: ZipFile, info: ZipInfo, most: int) -> bytes:
    try:
        with archive.open(info) as stream:
            content = stream.read(most)
    except _WRONG as error:
        raise Unusable(DAMAGED) from error
    if len(content) != min(info.file_size, most):
        raise Unusable(DAMAGED)
    return content
