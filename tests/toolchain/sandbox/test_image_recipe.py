"""The recipe of the sandbox image: all of it pinned, all of it sent, and nothing else."""

from __future__ import annotations

import importlib.util
import io
import re
import shutil
import sys
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from grader.toolchain.sandbox import image

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

FILES = {name: content.decode() for name, content in image.recipe_files()}


@pytest.fixture
def own_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the recipe that a test may change."""
    shutil.copy(image.recipe_root() / image.DOCKERFILE, tmp_path)
    shutil.copytree(image.recipe_root() / image.FOLDER, tmp_path / image.FOLDER)
    monkeypatch.setattr(image, "recipe_root", lambda: tmp_path)
    return tmp_path


def program(name: str) -> ModuleType:
    """A program of the image's build, as a module."""
    path = image.recipe_root() / image.FOLDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def programs() -> Iterator[tuple[ModuleType, Any]]:
    """`contents` and `assemble`, which imports it by its plain name."""
    try:
        yield program("contents"), program("assemble")
    finally:
        sys.modules.pop("contents", None)
        sys.modules.pop("assemble", None)


@pytest.mark.parametrize("name", ["toolkit.txt", "gpu.txt"])
def test_all_that_comes_from_pypi_is_pinned(name: str) -> None:
    """Each package has an exact version and its files' hashes; NVIDIA's are CUDA 13.0's, but for nvdisasm."""
    text = re.sub(r"\s*\\\n\s*", " ", FILES[f"sandbox/image/{name}"])
    asked = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert asked
    for line in asked:
        assert re.fullmatch(r"[a-z0-9-]+==[\w.]+(?: --hash=sha256:[0-9a-f]{64})+", line)
        if line.startswith(("nvidia-cuda-", "nvidia-nvvm")):
            assert ("==13.2." if "nvdisasm" in line else "==13.0.") in line


def test_the_dockerfile_takes_nothing_else_from_the_network() -> None:
    """Packages come by hash or from the distribution; the image itself starts from nothing."""
    text = FILES[image.DOCKERFILE]
    assert "FROM scratch AS build" in text
    assert "FROM build AS gpu" in text
    assert text.index("AS gpu") < text.index("AS program"), "made by engines that make all that stands before"
    assert "PIP_REQUIRE_HASHES=1" in text
    assert "USER 65532:65532" in text
    assert not re.search(r"\bcurl\b|\bwget\b|^ADD|latest|--mount|<<", text, re.MULTILINE)


def test_the_context_holds_the_recipe_and_nothing_else() -> None:
    """No file of a course is sent to the engine, and the same recipe is the same archive."""
    with tarfile.open(fileobj=io.BytesIO(image.build_context())) as archive:
        names = archive.getnames()
    assert names == [name for name, _ in image.recipe_files()]
    assert all(name == "Dockerfile" or name.startswith("sandbox/image/") for name in names)
    assert image.build_context() == image.build_context()


def test_what_the_dockerfile_copies_is_in_the_context() -> None:
    """A file that a step copies, and that an installed package would not send, would fail the build."""
    copied = re.findall(r"sandbox/image/[\w.-]+", FILES[image.DOCKERFILE])
    named = [name for name in copied if "*" not in name and name.rpartition(".")[2] in ("py", "txt", "cpp")]
    assert len(named) >= 6
    assert set(named) <= FILES.keys()


@pytest.mark.parametrize("name", ["Dockerfile", "sandbox/image/wanted.txt", "sandbox/image/gpu.txt"])
def test_the_digest_follows_the_recipe(own_recipe: Path, name: str) -> None:
    """Another file, another target or another base image: another recipe."""
    before = image.recipe_digest("build", "sha256:1")
    assert re.fullmatch(r"[0-9a-f]{64}", before)
    assert image.recipe_digest("build", "sha256:1") == before
    assert before not in (
        image.recipe_digest("gpu", "sha256:1"),
        image.recipe_digest("build", "sha256:2"),
    )
    with (own_recipe / name).open("a", encoding="utf-8") as file:
        file.write("# more\n")
    assert image.recipe_digest("build", "sha256:1") != before


def test_what_is_written_about_the_image_is_no_part_of_it(own_recipe: Path) -> None:
    """A better explanation causes no new build of the image."""
    before = image.recipe_digest("build", "")
    (own_recipe / image.FOLDER / "README.md").write_text("better", encoding="utf-8")
    assert image.recipe_digest("build", "") == before


def test_the_last_pattern_that_fits_decides(programs: tuple[ModuleType, Any]) -> None:
    """Folders come with what is in them, what is taken out stays out, and may be asked for again."""
    _, assemble = programs
    patterns = ["/usr/lib/gcc", "-/usr/lib/gcc/*.a", "/usr/lib/gcc/*/libgcc.a"]
    asked = {
        "/usr/lib/gcc/x/12/cc1plus": True,
        "/usr/lib/gcc/x/12/libstdc++.a": False,
        "/usr/lib/gcc/x/12/libgcc.a": True,
        "/usr/lib/gccgo": False,
        "/etc/shadow": False,
    }
    assert {path: assemble._asked_for(path, patterns) for path in asked} == asked


def test_the_digest_of_contents_sees_every_change(programs: tuple[ModuleType, Any], tmp_path: Path) -> None:
    """Content, mode, name and link count; time does not; a tree in two parts is the tree."""
    contents, _ = programs
    (tmp_path / "a/usr").mkdir(parents=True)
    file = tmp_path / "a/usr/file"
    file.write_text("x", encoding="utf-8")
    digests = [contents.digest([tmp_path / "a"])]
    file.touch()
    assert contents.digest([tmp_path / "a"]) == digests[0]
    file.write_text("y", encoding="utf-8")
    digests.append(contents.digest([tmp_path / "a"]))
    file.chmod(0o4755)
    digests.append(contents.digest([tmp_path / "a"]))
    (tmp_path / "b/opt").mkdir(parents=True)
    (tmp_path / "b/opt/link").symlink_to("/usr/file")
    digests.append(contents.digest([tmp_path / "a", tmp_path / "b"]))
    assert len(set(digests)) == len(digests)
    shutil.move(tmp_path / "b/opt", tmp_path / "a/opt")
    assert contents.digest([tmp_path / "a"]) == digests[-1]


def test_the_thin_root_holds_no_program() -> None:
    """Folders, links and three small files: everything else is the host's."""
    with tarfile.open(fileobj=io.BytesIO(image.thin_root())) as archive:
        members = {member.name: member for member in archive}
    assert {name for name, member in members.items() if member.isfile()} == {
        "etc/passwd",
        "etc/group",
        "etc/nsswitch.conf",
    }
    assert (members["lib64"].linkname, members["job"].mode) == ("usr/lib64", 0o1777)
