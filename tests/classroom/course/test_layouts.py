"""Downloads of every layout, as folders and as archives: the table of what they are understood as."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from grader.classroom.course.download import read_download
from grader.cli import import_table
from tests.classroom.course.layouts import LAYOUTS
from tests.grading.submission.packing import tarred, zipped
from tests.json_rows import json_rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.conftest import Golden

OLDER = (b"// the older one\n", b"// another\n", b"// a draft\n")


def written(folder: Path, files: Mapping[str, bytes]) -> Path:
    """The files on disk."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def table(path: Path) -> str:
    """The table of what the download is understood as, without the name of the path."""
    return import_table.dump(read_download(path, assignment="the-assignment"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_download_is_understood_as_in_its_table(tmp_path: Path, layout: str, golden: Golden) -> None:
    """The table lists students, files, attempts and lateness; what is left out and why; and what is asked."""
    text = table(written(tmp_path / "download", LAYOUTS[layout]))
    golden(f"import/{layout}.json", json_rows(text, indent=2, ascii_only=True))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_an_archive_is_understood_as_what_it_unpacks_to(tmp_path: Path, layout: str, kind: str) -> None:
    """A download that staff unpack differs from its archive in nothing but its name."""
    files = LAYOUTS[layout]
    archive = tmp_path / f"download.{kind}"
    archive.write_bytes(zipped(files) if kind == "zip" else tarred(files, compressed=True))
    packed, unpacked = (json.loads(table(path)) for path in (archive, written(tmp_path / "download", files)))
    assert packed.pop("name") == archive.name
    assert unpacked.pop("name") == "download"
    assert packed == unpacked


@pytest.mark.parametrize("layout", LAYOUTS)
def test_only_the_newest_attempt_is_graded(tmp_path: Path, layout: str) -> None:
    """No source of an earlier attempt, of another assignment or a draft becomes a submission."""
    download = read_download(written(tmp_path, LAYOUTS[layout]), assignment="the-assignment")
    assert not [one.id for one in download.submissions if one.source in OLDER]
