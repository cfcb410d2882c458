"""The course's files: folders of the package's files; folders of caches; paths as Windows has them."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_cache_path

import grader


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


def with_slashes(path: Path) -> Path:
    r"""A path that was typed as Windows has it, ``labs\one``, as it is written here."""
    return Path(str(path).replace("\\", "/"))


def caches_folder() -> Path | None:
    """The folder for what this user's next run need not make again; None for a user without a home.

    Containers run as an unknown user, and jobs without HOME.
    """
    try:
        folder = user_cache_path("cuda-grader")
    except RuntimeError:
        return None
    return folder if folder.is_absolute() else None  # older platformdirs: `~` as it stands
