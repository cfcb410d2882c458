"""Builds images by the engine: from the recipe, or from a root that is given to it."""

from __future__ import annotations

import io
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from grader.errors import OurError, StorageError
from grader.sandbox import image_recipe
from grader.sandbox.engine import speaking
from grader.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from docker import DockerClient

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
    found = id_of(client, name)
    if found:
        return found
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
        fileobj=io.BytesIO(image_recipe.context()),
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
    said = one_line(error, 300)
    if "no space left" in said:
        return StorageError(f"the image does not fit on the engine's disk: {said}; see `docker system df`")
    return OurError(f"the image cannot be made: {said}; the last it said was: {' | '.join(last)}")


def import_root(client: DockerClient, name: str, root: bytes, user: str, labels: Mapping[str, str]) -> None:
    """Make an image called ``name`` of a tar archive; raises OurError where the engine will not."""
    repository, _, tag = name.partition(":")
    changes = [f"USER {user}", "WORKDIR /job", *(f"LABEL {key}={value}" for key, value in labels.items())]
    said = client.api.import_image_from_data(root, repository, tag, changes=changes)
    for line in str(said).splitlines():
        with suppress(ValueError):
            problem = json.loads(line).get("error")
            if problem:
                raise _failure(str(problem), [])
