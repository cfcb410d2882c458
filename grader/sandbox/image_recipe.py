"""What the sandbox image is made from: the Dockerfile and what it uses, in a clone or in the package."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import grader

if TYPE_CHECKING:
    from grader.model import Named

DOCKERFILE = "Dockerfile"
FOLDER = "sandbox/image"
_KINDS = (".cpp", ".py", ".txt")

_DIRECTORIES = {
    "dev": 0o755,
    "etc": 0o755,
    "job": 0o1777,
    "proc": 0o555,
    "sbin": 0o755,
    "sys": 0o555,
    "tmp": 0o1777,
    "usr": 0o755,
}
# No link for /sbin: there the engine puts its init, which must not be hidden by what is mounted at /usr.
_LINKS = {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64"}
_TEXTS = {
    "etc/passwd": "root:x:0:0::/:/sbin/nologin\ngrader:x:65532:65532::/job:/bin/sh\n",
    "etc/group": "root:x:0:\ngrader:x:65532:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


def root() -> Path:
    """The folder that has the Dockerfile and `sandbox`: in the package, else around it (a clone)."""
    package = Path(grader.__file__).resolve().parent
    inside = package / "_data"
    return inside if inside.is_dir() else package.parent


def files() -> Named[bytes]:
    """All that the build may see, by its path."""
    top = root()
    listed = sorted(path for path in (top / FOLDER).iterdir() if path.suffix in _KINDS)
    return tuple((str(path.relative_to(top)), path.read_bytes()) for path in (top / DOCKERFILE, *listed))


def digest(target: str, base: str) -> str:
    """Of the recipe of a target on a base image, given by its id: 64 hexadecimal digits."""
    parts = [target, base]
    for name, content in files():
        parts += [name, digest_of(content)]
    return digest_of("\n".join(parts).encode())


def digest_of(content: bytes) -> str:
    """Of any bytes: 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def context() -> bytes:
    """The build's context, a tar archive of exactly `files`."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files():
            _add(archive, name, content)
    return stream.getvalue()


def thin_root() -> bytes:
    """A root for programs of the host, a tar archive: empty folders, the usual links, and who the user is."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, mode in _DIRECTORIES.items():
            _add(archive, name, None, kind=tarfile.DIRTYPE, mode=mode)
        for name, where in _LINKS.items():
            _add(archive, name, None, kind=tarfile.SYMTYPE, link=where, mode=0o777)
        for name, text in _TEXTS.items():
            _add(archive, name, text.encode())
    return stream.getvalue()


def _add(
    archive: tarfile.TarFile,
    name: str,
    content: bytes | None,
    *,
    kind: bytes = tarfile.REGTYPE,
    mode: int = 0o644,
    link: str = "",
) -> None:
    """A member that is the same in every archive: root's, and of no time."""
    member = tarfile.TarInfo(name)
    member.type, member.mode, member.linkname, member.size = kind, mode, link, len(content or b"")
    archive.addfile(member, io.BytesIO(content) if content is not None else None)
