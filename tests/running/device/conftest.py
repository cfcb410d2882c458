"""One stand-in for all tests of the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.builds import shared_builds
from tests.running.device.hosts import Ran, compile_host, serve, tools

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.toolchain.nvcc import Tools


@pytest.fixture(scope="session")
def own_tools() -> Tools:
    """A compiler that keeps what it made."""
    return tools(shared_builds())


@pytest.fixture
def run_host(own_tools: Tools, tmp_path: Path) -> Callable[..., Ran]:
    """Compile the body of a `main` and run it against a device."""

    def run(body: str) -> Ran:
        source = body if "int main" in body else f"int main() {{ {body} }}"
        return serve(compile_host(source, tmp_path, own_tools))

    return run
