"""The course's files: where those of the package are, how Python ones are loaded; and where caches are."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

import grader
from grader.errors import OurError, UsageError

if TYPE_CHECKING:
    from types import ModuleType


def package_data() -> Path:
    """The folder of an installed package that has them; there is none in a clone."""
    return Path(grader.__file__).resolve().parent / "_data"


def data_root() -> Path:
    """The folder that holds ``assignments/`` and ``reference/``: in the package, else beside it (a clone)."""
    inside = package_data()
    return inside if inside.is_dir() else inside.parent.parent


def headers_folder() -> Path:
    """The folder of the headers that the grader itself brings to the programs of students."""
    return data_root() / "sandbox" / "headers"


def caches_folder() -> Path | None:
    """The folder for what this user's next run need not make again; None for a user without a home.

    Containers run as a user that nobody knows, and jobs without HOME.
    """
    try:
        folder = user_cache_path("cuda-grader")
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None  # older platformdirs: `~` as it stands


def load_module(file: Path) -> ModuleType:
    """The module in a file such as ``reference/<operation>/oracle.py``: it is trusted, and in no package.

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
