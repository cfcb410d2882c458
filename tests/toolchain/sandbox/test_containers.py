"""Configuration of containers: nothing in it would let a job out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from grader.base.errors import OurError
from grader.toolchain.sandbox import Equipment, Limits, Stage, containers

if TYPE_CHECKING:
    from pathlib import Path

docker = pytest.importorskip("docker", reason="the engine's library is an extra")

from grader.toolchain.sandbox.docker import profile  # noqa: E402
from grader.toolchain.sandbox.image import SandboxImage  # noqa: E402

IMAGE = SandboxImage("sha256:1", "name:build-1", Equipment(), ("/usr",))


@pytest.fixture
def made() -> dict[str, Any]:
    """The host's side of a container's configuration, as it is sent to the engine."""
    api = docker.APIClient(version="1.41")  # with a version it does not ask the engine for one
    limits = Limits(total_bytes=2**28, processes=30, disk_bytes=2**20, disk_files=50)
    try:
        return containers.configuration(api, IMAGE, profile(), Stage(limits, locks=("/run/lock/gpu",)))
    finally:
        api.close()


def test_a_container_has_no_privilege(made: dict[str, Any]) -> None:
    """None of the options that undo what a container is."""
    assert made["CapDrop"] == ["ALL"]
    assert made["ReadonlyRootfs"] is True
    assert made["NetworkMode"] == "none"
    assert made["IpcMode"] == "private"
    assert made["SecurityOpt"][0] == "no-new-privileges:true"
    for option in (
        "Privileged",
        "CapAdd",
        "PidMode",
        "UTSMode",
        "UsernsMode",
        "VolumesFrom",
        "PublishAllPorts",
    ):
        assert not made.get(option), option


def test_a_container_has_our_filter(made: dict[str, Any]) -> None:
    """Sent whole, and it denies what it does not name."""
    name, _, text = made["SecurityOpt"][1].partition("=")
    assert name == "seccomp"
    assert json.loads(text)["defaultAction"] == "SCMP_ACT_ERRNO"


def test_everything_is_limited(made: dict[str, Any]) -> None:
    """Memory without swap, processes, processors, and each folder in bytes and in files."""
    assert made["Memory"] == made["MemorySwap"] == 2**28
    assert 30 < made["PidsLimit"] < 50
    assert 0 < made["NanoCpus"] <= 2 * 10**9
    assert set(made["Tmpfs"]) == {"/job", "/tmp", "/dev/shm"}  # noqa: S108 - the container's
    assert all("size=" in options and "nr_inodes=" in options for options in made["Tmpfs"].values())
    assert all("nosuid" in options and "nodev" in options for options in made["Tmpfs"].values())
    limits = {limit["Name"]: limit["Hard"] for limit in made["Ulimits"]}
    assert (limits["core"], limits["msgqueue"], limits["fsize"]) == (0, 0, Limits().file_bytes)


def test_what_is_bound_is_read_only(made: dict[str, Any]) -> None:
    """The thin image's folders, and the file that is locked for timing; no device without a GPU."""
    assert made["Binds"] == ["/usr:/usr:ro", "/run/lock/gpu:/run/lock/gpu:ro"]
    assert not made.get("Devices")
    assert not made.get("DeviceRequests")


def test_where_the_toolkit_is_the_engine_passes_one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for by its UUID, with nothing but computing on it."""
    monkeypatch.setattr("grader.toolchain.sandbox.containers.shutil.which", lambda name: f"/usr/bin/{name}")
    (request,) = containers.pass_through("GPU-1").requests
    assert request["DeviceIDs"] == ["GPU-1"]
    assert request["Capabilities"] == [["gpu", "compute", "utility"]]


def test_where_it_is_not_its_device_and_driver_are_passed_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The device with the number that the driver reports, and each library, read-only, by its plain name."""
    about = tmp_path / "gpus/0000:01:00.0/information"
    about.parent.mkdir(parents=True)
    about.write_text("Model: \t\t NVIDIA X\nGPU UUID: \t GPU-1\nDevice Minor: \t 3\n")
    library = tmp_path / "lib/libcuda.so.580"
    library.parent.mkdir()
    library.write_bytes(b"")
    (tmp_path / "lib/libcuda.so.1").symlink_to(library)
    monkeypatch.setattr("grader.toolchain.sandbox.containers.shutil.which", lambda _: None)
    monkeypatch.setattr(containers, "_KNOWN_GPUS", tmp_path / "gpus")
    monkeypatch.setattr(containers, "_FOLDERS", ())
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "lib"))
    assert containers._minor("GPU-1") == 3
    given = containers.pass_through("GPU-1")
    assert given.binds == (f"{library}:/opt/driver/libcuda.so.1:ro",)
    assert given.requests == ()


def test_a_driver_that_is_not_found_is_our_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message names the variable that lists the folders to search."""
    monkeypatch.setattr(containers, "_FOLDERS", (str(tmp_path),))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    with pytest.raises(OurError, match="set LD_LIBRARY_PATH"):
        list(containers._driver())
