"""The sandbox image: how it is made and found again, what is in it and what is not."""

from __future__ import annotations

import io
import re
import tarfile
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError, StorageError, UsageError
from grader.toolchain.sandbox import Equipment, image
from tests.toolchain.sandbox.in_container import built, client, container_output

if TYPE_CHECKING:
    from pathlib import Path

    from docker import DockerClient

__all__ = ["built", "client"]  # fixtures

WORLD_WRITABLE, SET_ID = 0o002, 0o6000


class _Image:
    def __init__(self, identity: str, labels: dict[str, str], tags: list[str]) -> None:
        self.id, self.labels, self.tags = identity, labels, tags


class _Images:
    """Of an engine: these images, and a base image with this id."""

    def __init__(self, images: list[_Image], base: str) -> None:
        self._images, self._base = images, base

    def list(self, filters: dict[str, str]) -> list[_Image]:
        """Those with the label that is asked for."""
        name, _, value = filters["label"].partition("=")
        return [each for each in self._images if each.labels.get(name) == value]

    def get(self, name: str) -> _Image:
        """The base image; every other name is unknown."""
        import docker.errors  # noqa: PLC0415 - only where the SDK is there

        if name != image.BASE or not self._base:
            raise docker.errors.ImageNotFound("no such image")
        return _Image(self._base, {}, [])


class _Engine:
    def __init__(self, images: list[_Image], base: str = "sha256:base") -> None:
        self.images = _Images(images, base)


def image_with(target: str = "build", base: str = "sha256:base", **changed: str) -> _Image:
    """An image as our recipe makes it, with some of its labels changed."""
    digest = image.recipe_digest(target, base)
    labels = {image.LABEL_RECIPE: digest, image.LABEL_TARGET: target, image.LABEL_BASE: base}
    return _Image("sha256:made", labels | changed, [f"{image.REPOSITORY}:{target}-{digest[:12]}"])


def search_result(engine_: _Engine, target: str = "build") -> image.SandboxImage | None:
    """Return the image that is found in a pretended engine."""
    return image.find_image(target, engine_)  # type: ignore[arg-type]


def test_an_image_is_found_by_its_recipe() -> None:
    """Its id, its name and where its programs are; the GPU's has compute-sanitizer as well."""
    plain, gpu = search_result(_Engine([image_with()])), search_result(_Engine([image_with("gpu")]), "gpu")
    assert plain
    assert gpu
    assert (plain.id, plain.target, plain.mounts) == ("sha256:made", "build", ())
    assert plain.equipment == Equipment("/opt/cuda/bin/nvcc", "/usr/bin/g++", "/usr/bin/python3")
    assert gpu.equipment.sanitizer.startswith("/opt/cuda/")


def test_an_image_is_found_without_its_base() -> None:
    """One that was carried to a host with `docker load` has none there."""
    assert search_result(_Engine([image_with()], base=""))


@pytest.mark.parametrize(
    "other",
    [
        image_with("gpu"),
        image_with(**{image.LABEL_RECIPE: "0" * 64}),
        image_with(base="sha256:older"),
        _Image("sha256:made", image_with().labels, ["somebody:else"]),
    ],
    ids=["target", "recipe", "base", "name"],
)
def test_another_image_is_never_found(other: _Image) -> None:
    """Made for something else, by another recipe, on a base that has been renewed, or not under our name."""
    assert search_result(_Engine([other])) is None


def test_there_are_three_targets() -> None:
    """Any other name is the user's slip, and the message has the right ones."""
    with pytest.raises(UsageError, match="build, gpu and thin"):
        search_result(_Engine([]), "gpus")


def test_a_failed_build_reports_its_last_output() -> None:
    """The reason and what led to it, on one line, in which control characters are written out."""
    account = [
        {"stream": "Step 1/9 : FROM x\n"},
        {"stream": "\x1b[91mcc1: out of \x07luck\n"},
        {"error": "code 1"},
    ]
    output: list[str] = []
    with pytest.raises(OurError, match=re.escape("cannot be made: code 1; the last it said was: Step 1/9")):
        output.extend(image.lines(account))
    assert list(image.lines(account[:2])) == ["Step 1/9 : FROM x", "cc1: out of \\x07luck"]


def test_a_full_disk_is_reported_as_such() -> None:
    """The message names the command that shows the use of the engine's disk."""
    with pytest.raises(StorageError, match="docker system df"):
        list(image.lines([{"error": "write /x: no space left on device"}]))


# --- in a real engine --------------------------------------------------------------------------------------

WORK = r"""
import json, os, subprocess
source = '''
#include <cstdio>
#include <thread>
__global__ void add(int *p) { p[threadIdx.x] += 1; }
int main() { int n = -1; std::thread t([&] { cudaGetDeviceCount(&n); }); t.join(); std::printf("%d\\n", n); }
'''
open("p.cu", "w").write(source)
open("q.cpp", "w").write("#include <vector>\nint main() { return std::vector<int>(3).size() - 3; }")
steps = (
    ["nvcc", "-o", "p", "p.cu"],
    ["nvcc", "-arch=compute_80", "-ptx", "p.cu"],
    ["ptxas", "-arch=sm_80", "p.ptx", "-o", "p.cubin"],
    ["./p"],
    ["g++", "-O2", "-o", "q", "q.cpp"],
    ["./q"],
)
done = [subprocess.run(step, capture_output=True, text=True) for step in steps]
try:
    open("/usr/here", "w")
    writable = True
except OSError:
    writable = False
print(json.dumps([[d.returncode for d in done], done[3].stdout, [os.getuid(), os.getgid()], writable]))
"""

LOOK = r"""
import json, os, stat
found = {}
for folder, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if os.path.join(folder, f) not in ("/proc", "/sys", "/dev")]
    for name in folders + files:
        path = os.path.join(folder, name)
        mode = os.lstat(path).st_mode
        found[path] = 0 if stat.S_ISLNK(mode) else mode
print(json.dumps(found))
"""


@pytest.mark.docker
@pytest.mark.timeout(900)
def test_the_image_builds_is_found_and_verifies(client: DockerClient, built: image.SandboxImage) -> None:
    """Built once, it is found by its recipe, and its files are those that were put into it."""
    assert image.find_image("build", client) == built
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", image.verify(built, client))


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_the_image_compiles_as_an_unprivileged_user_on_a_read_only_root(
    client: DockerClient, built: image.SandboxImage
) -> None:
    """A program links, PTX and a cubin are made, g++ works, under the profile and without any right."""
    codes, printed, who, writable = container_output(client, built, WORK)
    assert codes == [0] * 6
    assert printed.strip() in ("-1", "0")  # no driver, so no device
    assert (who, writable) == ([65532, 65532], False)


@pytest.mark.docker
def test_the_image_holds_nothing_that_grading_does_not_need(
    client: DockerClient, built: image.SandboxImage
) -> None:
    """No package manager, no setuid file, no second interpreter; only two empty folders can be written."""
    files = container_output(client, built, LOOK)
    names = {path.rpartition("/")[2] for path in files}
    assert not names & {"apt", "apt-get", "dpkg", "pip", "pip3", "perl", "bash", "su", "mount", "curl", "git"}
    assert [path for path, mode in files.items() if mode & SET_ID] == []
    assert {path for path, mode in files.items() if mode & WORLD_WRITABLE} == {"/job", "/tmp"}  # noqa: S108 - the image's
    assert not any(
        path.startswith(("/usr/share/doc", "/usr/share/man", "/home", "/root", "/var")) for path in files
    )


@pytest.mark.docker
def test_an_image_that_was_tampered_with_does_not_verify(
    client: DockerClient, built: image.SandboxImage
) -> None:
    """The same name and labels around other files, and a name that has moved on: both are seen."""
    container = client.containers.create(built.id, ["true"], user="0")
    name = f"{image.REPOSITORY}:test-tampered"
    try:
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            member = tarfile.TarInfo("usr/bin/extra")
            tar.addfile(member, io.BytesIO(b""))
        container.put_archive("/", archive.getvalue())
        changed = container.commit(image.REPOSITORY, "test-tampered")
        other = image.SandboxImage(str(changed.id), name, built.equipment, recipe=built.recipe)
        with pytest.raises(OurError, match="does not hold the files"):
            image.verify(other, client)
        moved = image.SandboxImage(built.id, name, built.equipment, recipe=built.recipe)
        with pytest.raises(OurError, match="no longer the image"):
            image.verify(moved, client)
    finally:
        container.remove(force=True)
        client.images.remove(name)


@pytest.mark.docker
def test_a_thin_image_runs_the_hosts_programs(client: DockerClient, tmp_path: Path) -> None:
    """Empty folders and the host's /usr are enough for Python and g++; nothing else of the host is seen."""
    thin = image.thin_image(Equipment("", "/usr/bin/g++", "/usr/bin/python3"), (), client=client)
    script = f"""
import json, os, subprocess
open("q.cpp", "w").write("#include <iostream>\\nint main() {{ std::cout << 42; }}")
subprocess.run(["/usr/bin/g++", "-o", "q", "q.cpp"], check=True)
out = subprocess.run(["./q"], capture_output=True, text=True).stdout
print(json.dumps([out, os.path.exists({str(tmp_path)!r}), sorted(os.listdir("/")), os.getuid()]))
"""
    printed, seen, root, who = container_output(client, thin, script)
    assert (printed, seen, who) == ("42", False, 65532)
    assert not {"home", "root", "var", "opt", "srv"} & set(root)
    assert image.verify(thin, client) == ""
    again = image.thin_image(Equipment(), ("/usr/lib", "/usr"), client=client)
    assert (again.id, again.mounts) == (thin.id, thin.mounts)
