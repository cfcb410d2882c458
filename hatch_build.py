"""What a wheel holds beside the program: what students may have of each bundled assignment, and the sandbox.

Model solutions, mistakes, hidden cases and attacks stay in the repository: a wheel is what students install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

if TYPE_CHECKING:
    from collections.abc import Iterator

NOT_SHIPPED = {"attacks", "__pycache__"}
"""Folders of `sandbox/` that are for the repository alone."""

CORE = "grader/simulation/native"
"""The folder of the native library, which makes a wheel one of a platform."""

WITHOUT_CORE = "GRADER_WHEEL_WITHOUT_CORE"
"""Environment variable for a wheel of every platform: then `core_library.py` compiles the core later."""

RECORDED = "handouts"
"""The folder with what the staff's kernels moved, by assignment: no compiler is needed to make a wheel."""


class Hook(BuildHookInterface[Any]):
    """Adds the folder ``_data`` to the package."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the core, and collect the files; an editable installation finds them in its clone."""
        root = Path(self.root)
        if not os.environ.get(WITHOUT_CORE) and self._has_core(root):
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{next(sys_tags()).platform}"
            build_data["artifacts"].append(f"{CORE}/*.so")
        if version == "editable":
            return
        self._made = Path(tempfile.mkdtemp())
        _write_handouts(root, self._made)
        included = {str(self._made): "grader/_data"}
        for file in (root / "Dockerfile", *_sandbox(root)):
            included[str(file)] = f"grader/_data/{file.relative_to(root).as_posix()}"
        build_data["force_include"].update(included)

    def _has_core(self, root: Path) -> bool:
        """Make the library of the emulator's core; where it cannot be made, the emulator does without."""
        script = [sys.executable, str(root / "grader/toolchain/core_library.py")]
        made = subprocess.run(script, check=False, capture_output=True, text=True)
        if made.returncode:
            self.app.display_warning(made.stderr)
        return not made.returncode

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatch's
        """Remove what was made."""
        if version != "editable":
            shutil.rmtree(self._made)


def _write_handouts(root: Path, folder: Path) -> None:
    """What `grader export-student` would write of each bundled assignment."""
    sys.path.insert(0, str(root))
    from grader.grading.assignment import bundled_ids, find_assignment, handout, load_assignment  # noqa: PLC0415

    for name in bundled_ids():
        recorded = root / RECORDED / f"{name}.json"
        baselines = recorded.read_text(encoding="utf-8") if recorded.is_file() else ""
        files = handout.handout_files(load_assignment(find_assignment(name)), baselines)
        handout.write_files(folder, files)


def _sandbox(root: Path) -> Iterator[Path]:
    """What runs inside a sandbox, and what its image is made of."""
    for file in sorted((root / "sandbox").rglob("*")):
        if file.is_file() and NOT_SHIPPED.isdisjoint(file.relative_to(root).parts):
            yield file
