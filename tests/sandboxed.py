"""The compiler in sandboxes that shut jobs in. Each keeps the builds that it made itself."""

from __future__ import annotations

from functools import lru_cache

from grader.toolchain.nvcc import Tools, find_toolchain, toolchain_in
from grader.toolchain.sandbox.bubblewrap import BubblewrapSandbox
from grader.toolchain.sandbox_choice import container
from tests.builds import shared_builds


@lru_cache
def in_bubblewraps() -> Tools:
    """This machine's compiler, in bubblewraps."""
    toolchain = find_toolchain()
    return Tools(toolchain, BubblewrapSandbox(toolchain.roots), shared_builds() / "bubblewrap")


@lru_cache
def in_containers() -> Tools:
    """The compiler of the sandbox image."""
    sandbox = container(gpu=False)
    toolchain = toolchain_in(sandbox, find_toolchain().architecture)
    return Tools(toolchain, sandbox, shared_builds() / "docker")
