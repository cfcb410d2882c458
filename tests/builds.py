"""The cache of builds that files of tests share: a kernel that several of them grade is compiled once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def shared_builds(factory: pytest.TempPathFactory) -> Path:
    """The folder of this run's builds, the same one for all of pytest's processes."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared-builds"
    folder.mkdir(exist_ok=True)
    return folder
