"""A folder of the host that the jobs of a stage see, under the same path (`Stage.channel`)."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def channel() -> Iterator[Path]:
    """A new folder, for sockets or for files that come later; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="grader-channel-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)  # jobs of a container run as another user
        yield folder
