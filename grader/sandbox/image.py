"""Images that containers are made of: found by what they were made from, built, and looked at again.

    build_image("build", tell) ─▶ SandboxImage      find_image("build") ─▶ SandboxImage | None

An image is named after the digest of its recipe, `cuda-grader-sandbox:<target>-<12 digits>`, and carries all
of it in a label, so the engine is the only store there is. One made from another recipe is never found.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import OurError, UsageError
from grader.sandbox import image_build
from grader.sandbox.engine import using
from grader.sandbox.job import Equipment

if TYPE_CHECKING:
    from collections.abc import Callable

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


@dataclass(frozen=True, slots=True)
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
        """What it is for: ``build``, ``gpu`` or ``thin``."""
        return self.name.rpartition(":")[2].partition("-")[0]


def find_image(target: str = "build", client: DockerClient | None = None) -> SandboxImage | None:
    """The image of a target, made by the recipe that we have now; None where there is none.

    Raises UsageError for a target that does not exist, and what `connect` raises.
    """
    _known(target)
    with using(client) as engine:
        base = image_build.id_of(engine, image_build.base_name())
        for candidate in engine.images.list(filters={"label": f"{LABEL_TARGET}={target}"}):
            labels = candidate.labels or {}
            made_on = labels.get(LABEL_BASE, "")
            if target != THIN and base and made_on != base:
                continue  # the base image has been renewed since
            image = _described(target, str(candidate.id), _recipe(target, made_on))
            if labels.get(LABEL_RECIPE) == image.recipe and image.name in candidate.tags:
                return image
    return None


def build_image(target: str, tell: Callable[[str], None], client: DockerClient | None = None) -> SandboxImage:
    """Make the image of a target; what goes on is told line by line.

    Takes minutes, a gigabyte of disk for what it is made from, and the network. Raises StorageError where the
    disk is full, OurError where it cannot be made, UsageError and what `connect` raises.
    """
    _known(target)
    with using(client) as engine:
        if target == THIN:
            return _import_thin(engine)
        base = image_build.base_id(engine, tell)
        image = _described(target, "", _recipe(target, base))
        for line in image_build.build(engine, image.name, target, _labels(image, base)):
            tell(line)
        return replace(image, id=image_build.id_of(engine, image.name))


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
    seen = _outermost((*_host_paths(), *mounts))
    return replace(thin, equipment=equipment, mounts=seen, environment=environment)


def verify(image: SandboxImage, client: DockerClient | None = None) -> str:
    """Whether an image is what it claims to be: gives the digest of its files, as they were put in.

    The tag must still name this id, its label this recipe, and a container must find the very files in it
    that the build put there. A thin image holds none: its digest is empty, and Python must start in it.
    Raises OurError where something differs, and what `connect` raises.
    """
    with using(client) as engine:
        installed = engine.images.get(image.name)
        if installed.id != image.id or (installed.labels or {}).get(LABEL_RECIPE) != image.recipe:
            raise OurError(f"{image.name} is no longer the image that was made; {_AGAIN}")
        if image.target == THIN:
            _said(engine, image, "print()")
            return ""
        names = _said(engine, image, _contents_program()).split()
    if len(names) != 2 or names[0] != names[1]:  # noqa: PLR2004 - then and now
        raise OurError(f"{image.name} does not hold the files that were put into it; {_AGAIN}")
    return f"sha256:{names[0]}"


_AGAIN = "make it again with `grader doctor --build-image`"


def _contents_program() -> str:
    """Takes the digest, and shows it beside the one that the build left."""
    source = dict(image_build.recipe_files())[f"{image_build.FOLDER}/contents.py"].decode()
    return f"{source}\n    print(Path({_CONTENTS!r}).read_text())\n"


def _said(client: DockerClient, image: SandboxImage, program: str) -> str:
    """What a Python program prints in a container as shut in as any."""
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


def _known(target: str) -> None:
    if target not in (*TARGETS, THIN):
        raise UsageError(f"there is no image {target!r}; there are {', '.join(TARGETS)} and {THIN}")


def _recipe(target: str, base: str) -> str:
    return (
        image_build.digest_of(image_build.thin_root())
        if target == THIN
        else image_build.recipe_digest(target, base)
    )


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
    root = image_build.thin_root()
    image = _described(THIN, "", image_build.digest_of(root))
    image_build.import_root(client, image.name, root, USER, _labels(image, "none"))
    return replace(image, id=image_build.id_of(client, image.name))


def _host_paths() -> tuple[str, ...]:
    """What of the host every thin image needs: programs, what they are called, where their libraries are."""
    return tuple(path for path in _HOST_PATHS if Path(path).exists())


def _outermost(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Each path once, and none that lies in another."""
    unique = tuple(dict.fromkeys(os.path.normpath(path) for path in paths))
    return tuple(p for p in unique if not any(p != o and Path(p).is_relative_to(o) for o in unique))
