"""Processes that fork from a small server that has everything loaded, so that each starts in milliseconds."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from typing import TYPE_CHECKING

from grader.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.context import ForkServerContext

_MOST_BYTES = 107
"""The path of a socket may have so many (man 7 unix: 108 with the byte that ends it)."""

_ADDED = len("/pymp-12345678/listener-12345678")
"""What Python puts behind the temporary folder's path for the server's socket."""


def forkserver(loaded: Sequence[str]) -> ForkServerContext:
    """The context whose server has the modules ``loaded``.

    Raises:
        StorageError: the temporary folder's path is too long for the server's socket.

    """
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) + _ADDED > _MOST_BYTES:
        raise StorageError(
            f"the path of the temporary folder is too long for the sockets in it: {folder}; "
            f"set TMPDIR to one of at most {_MOST_BYTES - _ADDED} bytes"
        )
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(loaded))
    return context
