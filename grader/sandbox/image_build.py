"""Builds images by the engine: from a root that is given to it, or from the recipe.

The recipe is the Dockerfile and what it uses, in a clone or in the package.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grader
from grader.errors import OurError, StorageError
from grader.sandbox.engine import speaking
from grader.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from docker import DockerClient

    from grader.model import Named

BASE = "debian:bookworm-slim"
BASE_VARIABLE = "GRADER_SANDBOX_BASE"
"""The environment variable that names another base image: Debian 12, or what derives from it."""

_LAST_LINES = 12


def base_name() -> str:
    """The image that the recipe starts from."""
    return os.environ.get(BASE_VARIABLE) or BASE


def id_of(client: DockerClient, name: str) -> str:
    """The id of an image by its name; empty where it is not in the engine."""
    from docker.errors import ImageNotFound  # noqa: PLC0415 - optional

    with suppress(ImageNotFound):
        return str(client.images.get(name).id)
    return ""


def base_id(client: DockerClient, tell: Callable[[str], None]) -> str:
    """The id of the base image, fetched where it is not there; raises OurError where it cannot be."""
    name = base_name()
    identifier = id_of(client, name)
    if identifier:
        return identifier
    tell(f"fetching {name}")
    try:
        with speaking():
            client.images.pull(*_name_and_tag(name))
            return id_of(client, name)
    except OurError as problem:
        raise OurError(
            f"the base image {name} is not there and cannot be fetched: {problem}; "
            f"bring it with `docker load`, or name one that is there in {BASE_VARIABLE}"
        ) from None


def _name_and_tag(name: str) -> tuple[str, str]:
    repository, colon, tag = name.rpartition(":")
    return (repository, tag) if colon and "/" not in tag else (name, "latest")


def build(client: DockerClient, name: str, target: str, labels: Mapping[str, str]) -> Iterator[str]:
    """Build a target of the recipe as ``name``; gives what the engine says, line by line.

    The engine sees the recipe and nothing else. Raises StorageError where its disk is full, OurError where a
    step fails.
    """
    account: Iterator[dict[str, Any]] = client.api.build(
        fileobj=io.BytesIO(build_context()),
        custom_context=True,
        tag=name,
        target=target,
        buildargs={"BASE": base_name()},
        labels=dict(labels),
        network_mode="host",
        rm=True,
        forcerm=True,
        decode=True,
    )
    return lines(account)


def lines(account: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Every line of a build's account; raises as `build` does, with the last of them."""
    last: list[str] = []
    for event in account:
        if "error" in event:
            raise _failure(str(event["error"]), last)
        for line in str(event.get("stream") or event.get("status") or "").splitlines():
            shown = one_line(line, 300)
            if shown:
                last = [*last, shown][-_LAST_LINES:]
                yield shown


def _failure(error: str, last: list[str]) -> OurError:
    reason = one_line(error, 300)
    if "no space left" in reason:
        return StorageError(f"the image does not fit on the engine's disk: {reason}; see `docker system df`")
    return OurError(f"the image cannot be made: {reason}; the last it said was: {' | '.join(last)}")


def import_root(client: DockerClient, name: str, root: bytes, user: str, labels: Mapping[str, str]) -> None:
    """Make an image called ``name`` of a tar archive; raises OurError where the engine will not."""
    repository, _, tag = name.partition(":")
    changes = [f"USER {user}", "WORKDIR /job", *(f"LABEL {key}={value}" for key, value in labels.items())]
    answer = client.api.import_image_from_data(root, repository, tag, changes=changes)
    for line in str(answer).splitlines():
        with suppress(ValueError):
            problem = json.loads(line).get("error")
            if problem:
                raise _failure(str(problem), [])


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


def recipe_root() -> Path:
    """The folder that has the Dockerfile and `sandbox`: in the package, else around it (a clone)."""
    package = Path(grader.__file__).resolve().parent
    inside = package / "_data"
    return inside if inside.is_dir() else package.parent


def recipe_files() -> Named[bytes]:
    """All that the build may see, by its path."""
    top = recipe_root()
    listed = sorted(path for path in (top / FOLDER).iterdir() if path.suffix in _KINDS)
    return tuple((str(path.relative_to(top)), path.read_bytes()) for path in (top / DOCKERFILE, *listed))


def recipe_digest(target: str, base: str) -> str:
    """Of the recipe of a target on a base image, given by its id: 64 hexadecimal digits."""
    parts = [target, base]
    for name, content in recipe_files():
        parts += [name, digest_of(content)]
    return digest_of("\n".join(parts).encode())


def digest_of(content: bytes) -> str:
    """Of any bytes: 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def build_context() -> bytes:
    """The build's context, a tar archive of exactly `files`."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in recipe_files():
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
