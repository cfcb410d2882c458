"""Where the files that come with the package are: assignments, references, what runs inside the sandbox."""

from __future__ import annotations

from pathlib import Path

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
