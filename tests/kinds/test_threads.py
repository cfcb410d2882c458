"""The number of threads that NumPy has for products."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from grader.base import processors
from grader.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("command", "device", "chosen", "threads"),
    [
        ("check", "none", None, "1"),
        ("check", "a-gpu", None, str(min(8, processors.available()))),
        ("check", "none", "4", "4"),
        ("grade", "none", None, "1"),
        ("grade", "a-gpu", None, "1"),
    ],
)
def test_products_take_one_thread_and_a_few_where_one_file_is_checked_on_a_gpu(
    command: str,
    device: str,
    chosen: str | None,
    threads: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There products are large; in a class each process would take all cores. What the user chose stays."""
    (tmp_path / "a-gpu").touch()
    monkeypatch.setattr(sys.modules["grader.cli.main"], "_GPU_DEVICES", (tmp_path / device,))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", chosen or "")
    if chosen is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    assert main([command, "no-such-assignment", "no-such-file"]) == 2
    assert os.environ.get("OPENBLAS_NUM_THREADS") == threads
