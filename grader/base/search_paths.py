"""Search paths for code of this process and those that it starts: never the working folder, by any name.

That folder may be a student's, or hold what strangers sent. Yet Python looks there first, before its own
library, in a program that is started by ``-m`` or ``-c``, as multiprocessing starts its servers (Python
documentation, `sys.path`). An empty or relative entry of a variable such as PYTHONPATH means the working
folder, too, and ``LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/cuda/lib64`` often makes one.

The packages in which a process of ours begins call this before they import anything else. So nothing is
imported here but what Python itself has loaded by then, not even `__future__` or `typing`. What Python and
the loader of programs did before cannot be undone.
"""

import os
import sys

LISTS = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONPYCACHEPREFIX")
"""Variables that name folders of programs, libraries, modules and bytecode."""

_HOME = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))  # noqa: PTH100, PTH118, PTH120 - no pathlib yet
"""The folder that the grader itself is imported from."""


def leave_out_working_folder() -> None:
    """Take the working folder out of what this process and those that it starts import from.

    Absolute entries of variables stay, because a user has named that folder.
    """
    before = dict(os.environ)
    cleaned = without_working_folder(before)
    meant = {_HOME, *filter(None, _entries(cleaned, "PYTHONPATH"))}
    unmeant = {"", *map(_path_of, _entries(before, "PYTHONPATH"))}
    if sys.path[:1] == [_path_of("")]:  # Python put it there, for ``-m`` or for a script in it
        unmeant |= {*sys.path[:1]}
    sys.path[:] = [entry for entry in sys.path if entry in meant or entry not in unmeant]
    if _HOME not in sys.path:
        sys.path.append(_HOME)
    if sys.pycache_prefix and not sys.pycache_prefix.startswith("/"):
        sys.pycache_prefix = None
    for name in before.keys() - cleaned.keys():
        del os.environ[name]
    os.environ |= cleaned


def without_working_folder(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a process that imports, loads and starts nothing out of the folder it works in."""
    cleaned = {name: value for name, value in environment.items() if name not in LISTS}
    for name in LISTS:
        if absolute := [entry for entry in _entries(environment, name) if entry.startswith("/")]:
            cleaned[name] = ":".join(absolute)
    return {**cleaned, "PYTHONSAFEPATH": "1"}


def _entries(environment: dict[str, str], name: str) -> list[str]:
    return environment.get(name, "").split(":")


def _path_of(entry: str) -> str:
    """An entry as Python has written it into its list; nothing where the working folder is gone."""
    try:
        return os.path.abspath(entry)  # noqa: PTH100 - no pathlib yet
    except OSError:
        return ""
