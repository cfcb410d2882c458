"""Archives made by code, honest and hostile."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")


def zipped(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An ordinary zip file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files: Mapping[str, bytes], *, compressed: bool = False) -> bytes:
    """An ordinary tar file."""
    return tar_of(
        [(tar_info(name, size=len(content)), content) for name, content in files.items()], compressed
    )


def tar_info(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, link: str = "") -> tarfile.TarInfo:
    """A member of a tar file of any kind."""
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, size, link
    return info


def tar_of(members: Sequence[tuple[tarfile.TarInfo, bytes]], compressed: bool = False) -> bytes:  # noqa: FBT001, FBT002
    """A tar file of these members."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(out.getvalue()) if compressed else out.getvalue()


class Raw(NamedTuple):
    """A member of a zip file as it stands there, honest or not; ``None`` is what would be right."""

    name: bytes
    data: bytes = b""
    packed: bytes | None = None
    size: int | None = None
    method: int = 0
    flags: int = 0
    attributes: int = 0
    local_name: bytes | None = None
    offset: int | None = None
    extra: bytes = b""
    checksum: int | None = None


def raw_zip(*members: Raw, count: int | None = None) -> bytes:
    """A zip file whose headers claim what they are given."""
    body, directory = bytearray(), bytearray()
    for one in members:
        packed = one.data if one.packed is None else one.packed
        size = len(one.data) if one.size is None else one.size
        check = zlib.crc32(one.data) if one.checksum is None else one.checksum
        local = one.name if one.local_name is None else one.local_name
        offset = len(body) if one.offset is None else one.offset
        body += LOCAL.pack(
            b"PK\3\4", 20, one.flags, one.method, 0, 33, check, len(packed), size, len(local), 0
        )
        body += local + packed
        directory += CENTRAL.pack(
            b"PK\1\2", (3 << 8) + 20, 20, one.flags, one.method, 0, 33, check, len(packed), size,
            len(one.name), len(one.extra), 0, 0, 0, one.attributes, offset,
        )  # fmt: skip
        directory += one.name + one.extra
    claimed = min(len(members) if count is None else count, 0xFFFF)
    return bytes(body + directory) + END.pack(b"PK\5\6", 0, 0, claimed, claimed, len(directory), len(body), 0)


def deflated(content: bytes) -> bytes:
    """Raw deflate, as zip files hold it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()
