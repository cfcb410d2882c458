"""The image `grader` can be made for 64-bit ARM (Apple's machines): every package has a file for it on PyPI.

Nothing is run there: what a test without such a machine can see is that nothing is missing.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from grader.classroom.gradescope.archive import normal_name, requirements
from grader.toolchain.sandbox import image
from tests.documents import ROOT
from tests.pins import pins

if TYPE_CHECKING:
    from pathlib import Path

GLIBC = ("manylinux2014", *(f"manylinux_2_{minor}" for minor in range(17, 37)))
"""Wheels that Debian 12 can load: its C library is 2.36 (PEP 600)."""
PYTHON_OF_DEBIAN = "3.11"


def chosen(folder: Path, *asked: str) -> list[dict[str, Any]] | None:
    """Packages that pip would install for Debian 12 on aarch64 without compiling; None where it cannot."""
    report = folder / "report.json"
    platforms = [f"--platform={glibc}_aarch64" for glibc in GLIBC]
    options = ["--dry-run", "--ignore-installed", "--no-deps", "--only-binary=:all:", f"--report={report}"]
    where = [f"--target={folder / 'site'}", f"--python-version={PYTHON_OF_DEBIAN}", "--implementation=cp"]
    pip = [sys.executable, "-m", "pip", "--quiet", "install", "--retries=1", *options, *where, *platforms]
    done = subprocess.run([*pip, *asked], check=False, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr)
        return None
    installed: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return installed


def test_the_image_is_made_without_a_compiler_for_the_machine_that_makes_it(tmp_path: Path) -> None:
    """There is no nvcc for macOS: a wheel of the grader is made, and the engine does the rest."""
    elsewhere = (f"BIN={tmp_path}/bin", f"STAMP={tmp_path}/set-up")
    output = subprocess.run(
        ["make", "-n", *elsewhere, "image"],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "pip wheel" in output
    assert "docker build" in output
    assert not re.search(r"nvcc|g\+\+|pip install", output)


@pytest.mark.slow
def test_every_package_that_a_student_needs_has_a_wheel(tmp_path: Path) -> None:
    """Of the pinned version, pure or for aarch64; and the image's recipe has the hashes of the compiler's."""
    pinned = pins()
    if chosen(tmp_path, f"packaging=={pinned['packaging']}") is None:
        pytest.skip("PyPI cannot be reached")
    names = sorted({normal_name(item.name) for item in requirements({"nvcc"})})
    wheels = chosen(tmp_path, *(f"{name}=={pinned[name]}" for name in names))
    assert wheels, "see standard error for what is missing"
    assert len(wheels) == len(names)
    assert {"numpy", "nvidia-cuda-nvcc"} <= set(names)
    recipe = dict(image.recipe_files())["sandbox/image/toolkit.txt"].decode()
    for wheel in wheels:
        file = wheel["download_info"]["url"].rpartition("/")[2]
        assert file.endswith(("-any.whl", "aarch64.whl")), file
        if file.startswith("nvidia_"):
            assert wheel["download_info"]["archive_info"]["hashes"]["sha256"] in recipe, file


@pytest.mark.slow
def test_the_recipe_for_gpus_has_the_hashes_for_both(tmp_path: Path) -> None:
    """Engines without BuildKit make that image, too, on the way to the one for students."""
    recipe = dict(image.recipe_files())["sandbox/image/gpu.txt"].decode()
    wheels = chosen(tmp_path, *re.findall(r"^[\w-]+==[\w.]+", recipe, re.MULTILINE))
    if wheels is None:
        pytest.skip("PyPI cannot be reached")
    for wheel in wheels:
        assert wheel["download_info"]["archive_info"]["hashes"]["sha256"] in recipe, wheel["metadata"]["name"]


@pytest.mark.parametrize("name", ["Dockerfile", "sandbox/image/wanted.txt", "sandbox/image/assemble.py"])
def test_the_recipe_names_no_architecture(name: str) -> None:
    """Neither in a path nor as a platform."""
    text = dict(image.recipe_files())[name].decode()
    assert not re.search(r"x86_64|amd64|aarch64-|arm64|--platform|ld-linux", text)
