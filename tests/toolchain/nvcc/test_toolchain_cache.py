"""The facts about the compiler are kept, and are found out again where anything changed."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.toolchain.nvcc import Toolchain, cache, cached_toolchain, find_toolchain
from tests.toolchain.nvcc.test_toolchain import script

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """A toolchain of scripts and folders that a test may change."""
    real = find_toolchain()
    names = ("nvcc", "g++", "cicc", "ptxas", "nvdisasm")
    programs = {name: str(script(tmp_path / "bin" / name, "true")) for name in names}
    (tmp_path / "include").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return replace(
        real,
        nvcc=tmp_path / "bin" / "nvcc",
        host_compiler=programs["g++"],
        compile=(programs["cicc"], "--o"),
        ptxas=programs["ptxas"],
        nvdisasm=programs["nvdisasm"],
        roots=(str(tmp_path / "include"),),
        absent=(str(tmp_path / "more"),),
    )


@pytest.fixture
def asked(installed: Toolchain, monkeypatch: pytest.MonkeyPatch) -> list[Toolchain]:
    """The answers that the compiler gave, one for each time that it was asked."""
    answers: list[Toolchain] = []

    def ask(explicit: str | None, _: str) -> Toolchain:
        assert explicit == str(installed.nvcc)
        answers.append(installed)
        return installed

    monkeypatch.setattr(cache, "find_toolchain", ask)
    return answers


def test_the_compiler_is_asked_once(tmp_path: Path, installed: Toolchain, asked: list[Toolchain]) -> None:
    """The second command gets the same record from the folder."""
    answers = [cached_toolchain(tmp_path / "cache", str(installed.nvcc)) for _ in range(3)]
    assert answers == [installed] * 3
    assert len(asked) == 1


def test_without_a_folder_it_is_asked_each_time(installed: Toolchain, asked: list[Toolchain]) -> None:
    """`--no-cache` keeps nothing."""
    for _ in range(2):
        assert cached_toolchain(None, str(installed.nvcc)) == installed
    assert len(asked) == 2


@pytest.mark.parametrize("program", ["nvcc", "g++", "cicc", "ptxas", "nvdisasm", "nvcc.profile"])
def test_it_is_asked_again_when_a_program_has_changed(
    tmp_path: Path, installed: Toolchain, asked: list[Toolchain], program: str
) -> None:
    """An update of the toolkit or of the host compiler is noticed, and a changed profile of nvcc."""
    cached_toolchain(tmp_path / "cache", str(installed.nvcc))
    script(tmp_path / "bin" / program, "exit 0")
    cached_toolchain(tmp_path / "cache", str(installed.nvcc))
    assert len(asked) == 2


@pytest.mark.parametrize("change", ["appears", "vanishes"])
def test_it_is_asked_again_when_folders_for_headers_differ(
    tmp_path: Path, installed: Toolchain, asked: list[Toolchain], change: str
) -> None:
    """Headers of a folder that is new would otherwise be foreign files."""
    cached_toolchain(tmp_path / "cache", str(installed.nvcc))
    if change == "appears":
        (tmp_path / "more").mkdir()
    else:
        (tmp_path / "include").rmdir()
    cached_toolchain(tmp_path / "cache", str(installed.nvcc))
    assert len(asked) == 2


def test_a_damaged_entry_is_none(tmp_path: Path, installed: Toolchain, asked: list[Toolchain]) -> None:
    """It has a checksum."""
    cached_toolchain(tmp_path / "cache", str(installed.nvcc))
    (entry,) = (tmp_path / "cache" / "toolchains").iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    assert cached_toolchain(tmp_path / "cache", str(installed.nvcc)) == installed
    assert len(asked) == 2


def test_without_a_disassembler_nothing_is_kept(
    tmp_path: Path, installed: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who installs one after `doctor` suggested it gets an estimate at once."""
    answers = [replace(installed, nvdisasm=""), installed]
    monkeypatch.setattr(cache, "find_toolchain", lambda *_: answers.pop(0))
    assert not cached_toolchain(tmp_path / "cache", str(installed.nvcc)).nvdisasm
    assert cached_toolchain(tmp_path / "cache", str(installed.nvcc)) == installed


def test_another_architecture_has_its_own_entry(tmp_path: Path) -> None:
    """The real compiler's plan names what it makes PTX for."""
    plans = [cached_toolchain(tmp_path, None, name) for name in ("80", "75", "80", "75")]
    assert plans == [find_toolchain(None, name) for name in ("80", "75")] * 2
    assert find_toolchain().absent == plans[0].absent
