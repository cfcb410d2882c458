"""A small sound assignment for tests to spoil."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import pytest

SOUND = (Path(__file__).parent / "scale.yaml").read_text()


class Write(Protocol):
    """Write an assignment's text, and give back its folder."""

    def __call__(self, text: str | bytes = SOUND) -> Path:
        """With a reference that has the kernels ``naive`` and ``solution``."""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """An assignment's folder with its reference where one in a course's repository would be."""

    def folder(text: str | bytes = SOUND) -> Path:
        assignment = tmp_path / "assignments" / "scale"
        reference = tmp_path / "reference" / "scaling"
        for new in (assignment, reference):
            new.mkdir(parents=True, exist_ok=True)
        (assignment / "assignment.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
        for kernel in ("naive", "solution"):
            (reference / f"{kernel}.cu").write_text(f"// {kernel}\n")
        return assignment

    return folder
