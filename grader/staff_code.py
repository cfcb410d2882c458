"""Python files of the course, loaded by path: they are trusted, and their folders are no packages."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from grader.errors import OurError, UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


def load_module(file: Path) -> ModuleType:
    """The module in a file such as ``reference/<operation>/oracle.py``.

    Raises:
        UsageError: it cannot be loaded.

    """
    name = f"grader_{file.stem}_{file.parent.name}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise OurError(f"{file}: Python offers no way to load it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise UsageError(f"{file}: cannot be loaded: {type(problem).__name__}: {problem}") from problem
    return module
