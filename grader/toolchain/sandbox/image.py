"""Images that containers are made of: looked up by what they were made from, built, and verified.

    build_image("build", tell) ─▶ SandboxImage      find_image("build") ─▶ SandboxImage | None

An image is named after the digest of its recipe, `cuda-grader-sandbox:<target>-<12 digits>`, and carries all
of it in a label, so the engine is the only store there is. One made from another recipe is never used.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grader
from grader.base.errors import OurError, StorageError, UsageError
from grader.base.records import frozen
from grader.base.text import one_line
from grader.toolchain.sandbox.engine import speaking, using
from grader.toolchain.sandbox.job import Equipment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from docker import DockerClient

    from grader.model import Named

REPOSITORY = "cuda-grader-sandbox"
TARGETS = ("build", "gpu")
THIN = "thin"
LABEL_RECIPE, LABEL_TARGET, LABEL_BASE = "cuda-grader.recipe", "cuda-grader.target", "cuda-grader.base"
USER = "65532:65532"
_CONTENTS = "/etc/cuda-grader/contents"
_EQUIPMENT = Equipment("/opt/cuda/bin/nvcc", "/usr/bin/g++", "/usr/bin/python3")
_SANITIZER = "/opt/cuda/compute-sanitizer/compute-sanitizer"
_PATH = (("PATH", "/opt/cuda/bin:/usr/bin"), ("LC_ALL", "C.UTF-8"))
_HOST_PATHS = ("/usr", "/etc/alternatives", "/etc/ld.so.cache")


@frozen
class SandboxImage:
    """An image in the engine.

    ``id`` is its content's (``sha256:…``), ``mounts`` are paths of the host that a thin image's containers
    see, read-only and under the same name, ``environment`` is what programs in it need.
    """

    id: str
    name: str
    equipment: Equipment
    mounts: tuple[str, ...] = ()
    environment: Named[str] = ()
    recipe: str = ""

    @property
    def target(self) -> str:
        """Purpose of the image: ``build``, ``gpu`` or ``thin``."""
        return self.name.rpartition(":")[2].partition("-")[0]


def find_image(target: str = "build", client: DockerClient | None = None) -> SandboxImage | None:
    """The image of a target, made by the recipe that we have now; None where there is none.

    Raises UsageError for a target that does not exist, and what `connect` raises.
    """
    _check_target(target)
    with using(client) as engine:
        base = id_of(engine, base_name())
        for candidate in engine.images.list(filters={"label": f"{LABEL_TARGET}={target}"}):
            labels = candidate.labels or {}
            made_on = labels.get(LABEL_BASE, "")
            if target != THIN and base and made_on != base:
                continue  # the base image has been renewed since
            image = _described(target, str(candidate.id), _recipe(target, made_on))
            if labels.get(LABEL_RECIPE) == image.recipe and image.name in candidate.tags:
                return image
    return None


def has_other_recipe(target: str) -> bool:
    """True if there is an image of a target by any recipe, such as an older one; raises as `connect` does."""
    with using() as engine:
        return bool(engine.images.list(filters={"label": f"{LABEL_TARGET}={target}"}))


def build_image(target: str, tell: Callable[[str], None], client: DockerClient | None = None) -> SandboxImage:
    """Make the image of a target; ``tell`` gets the progress line by line.

    Takes minutes, a gigabyte of disk for what it is made from, and the network. Raises StorageError where the
    disk is full, OurError where it cannot be made, UsageError and what `connect` raises.
    """
    _check_target(target)
    with using(client) as engine:
        if target == THIN:
            return _import_thin(engine)
        base = base_id(engine, tell)
        image = _described(target, "", _recipe(target, base))
        for line in build(engine, image.name, target, _labels(image, base)):
            tell(line)
        return replace(image, id=id_of(engine, image.name))


def thin_image(
    equipment: Equipment,
    mounts: tuple[str, ...],
    environment: Named[str] = (),
    client: DockerClient | None = None,
) -> SandboxImage:
    """An image of empty folders whose containers live on programs of this machine, read-only.

    For a host that can neither build an image nor be given one. ``mounts`` are the folders of the toolkit and
    of Python's packages; those in /usr are there anyhow. Everything below them can be read by what runs.
    Raises OurError where this machine keeps programs outside /usr, and what `connect` raises.
    """
    if not all(Path(name).is_symlink() for name in ("/bin", "/lib")):
        raise OurError(
            "a thin image needs a machine with all programs in /usr; build the image `build` instead"
        )
    with using(client) as engine:
        thin = find_image(THIN, engine) or _import_thin(engine)
    visible = _outermost((*_host_paths(), *mounts))
    return replace(thin, equipment=equipment, mounts=visible, environment=environment)


def verify(image: SandboxImage, client: DockerClient | None = None) -> str:
    """Check that an image is what it claims to be, and return the digest of its files, as they were put in.

    The tag must still name this id, its label this recipe, and a container must find the very files in it
    that the build put there. A thin image holds none: its digest is empty, and Python must start in it.
    Raises OurError where something differs, and what `connect` raises.
    """
    with using(client) as engine:
        installed = engine.images.get(image.name)
        if installed.id != image.id or (installed.labels or {}).get(LABEL_RECIPE) != image.recipe:
            raise OurError(f"{image.name} is no longer the image that was made; {_AGAIN}")
        if image.target == THIN:
            _output_of(engine, image, "print()")
            return ""
        names = _output_of(engine, image, _contents_program()).split()
    if len(names) != 2 or names[0] != names[1]:  # noqa: PLR2004 - then and now
        raise OurError(f"{image.name} does not hold the files that were put into it; {_AGAIN}")
    return f"sha256:{names[0]}"


_AGAIN = "make it again with `grader doctor --build-image`"


def _contents_program() -> str:
    """Takes the digest, and shows it beside the one that the build left."""
    source = dict(recipe_files())[f"{FOLDER}/contents.py"].decode()
    return f"{source}\n    print(Path({_CONTENTS!r}).read_text())\n"


def _output_of(client: DockerClient, image: SandboxImage, program: str) -> str:
    """Output of a Python program in a container as shut in as any."""
    python = image.equipment.python or "/usr/bin/python3"
    return bytes(
        client.containers.run(
            image.id,
            [python, "-I", "-S", "-c", program],
            user=USER,
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true"],
            mem_limit="512m",
            pids_limit=16,
            volumes=[f"{path}:{path}:ro" for path in image.mounts],
            remove=True,
        )
    ).decode(errors="replace")


# --- what it is called -------------------------------------------------------------------------------------


def _check_target(target: str) -> None:
    if target not in (*TARGETS, THIN):
        raise UsageError(f"there is no image {target!r}; there are {', '.join(TARGETS)} and {THIN}")


def _recipe(target: str, base: str) -> str:
    return digest_of(thin_root()) if target == THIN else recipe_digest(target, base)


def _described(target: str, identity: str, digest: str) -> SandboxImage:
    name = f"{REPOSITORY}:{target}-{digest[:12]}"
    if target == THIN:
        return SandboxImage(identity, name, Equipment(), _host_paths(), (), digest)
    sanitizer = _SANITIZER if target == "gpu" else ""
    return SandboxImage(identity, name, replace(_EQUIPMENT, sanitizer=sanitizer), (), _PATH, digest)


def _labels(image: SandboxImage, base: str) -> dict[str, str]:
    return {LABEL_RECIPE: image.recipe, LABEL_TARGET: image.target, LABEL_BASE: base}


def _import_thin(client: DockerClient) -> SandboxImage:
    """Give the engine the root of empty folders; the same bytes make the same files."""
    root = thin_root()
    image = _described(THIN, "", digest_of(root))
    import_root(client, image.name, root, USER, _labels(image, "none"))
    return replace(image, id=id_of(client, image.name))


def _host_paths() -> tuple[str, ...]:
    """Paths of the host that every thin image needs: programs, their names, their libraries."""
    return tuple(path for path in _HOST_PATHS if Path(path).exists())


def _outermost(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Outermost paths: each once, and none that is in another."""
    unique = tuple(dict.fromkeys(os.path.normpath(path) for path in paths))
    return tuple(p for p in unique if not any(p != o and Path(p).is_relative_to(o) for o in unique))


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
    """Build a target of the recipe as ``name``; gives the engine's output, line by line.

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
    """Files that the build may see, by their paths."""
    top = recipe_root()
    listed = sorted(path for path in (top / FOLDER).iterdir() if path.suffix in _KINDS)
    return tuple((str(path.relative_to(top)), path.read_bytes()) for path in (top / DOCKERFILE, *listed))


def recipe_digest(target: str, base: str) -> str:
    """Digest of the recipe of a target on a base image, given by its id: 64 hexadecimal digits."""
    parts = [target, base]
    for name, content in recipe_files():
        parts += [name, digest_of(content)]
    return digest_of("\n".join(parts).encode())


def digest_of(content: bytes) -> str:
    """Digest of any bytes: 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def build_context() -> bytes:
    """The build's context, a tar archive of exactly `files`."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in recipe_files():
            _add(archive, name, content)
    return stream.getvalue()


def thin_root() -> bytes:
    """Root for programs of the host, a tar archive: empty folders, the usual links, and the user's entry."""
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
