"""A real engine for tests: a client, the image `build`, and what a script prints in a container of it."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from grader.toolchain.sandbox import engine, image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient

PROFILE = json.loads((image.recipe_root() / "sandbox/seccomp.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def client() -> Iterator[DockerClient]:
    """The engine of this machine."""
    with closing(engine.connect()) as opened:
        yield opened


@pytest.fixture(scope="module")
def built(client: DockerClient) -> image.SandboxImage:
    """The image `build`, made where it is not there."""
    return image.find_image("build", client) or image.build_image("build", lambda _line: None, client)


def container_output(client: DockerClient, each: image.SandboxImage, script: str) -> Any:  # noqa: ANN401 - JSON
    """Run a script in a container that is shut in as a job's is, and return what it prints."""
    output = client.containers.run(
        each.id,
        [each.equipment.python or "/usr/bin/python3", "-I", "-c", script],
        network_mode="none",
        read_only=True,
        tmpfs={"/job": "exec,mode=1777,size=256m", "/tmp": "exec,mode=1777,size=64m"},  # noqa: S108 - its own
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true", f"seccomp={json.dumps(PROFILE)}"],
        user=image.USER,
        working_dir="/job",
        volumes=[f"{path}:{path}:ro" for path in each.mounts],
        remove=True,
    )
    return json.loads(output)
