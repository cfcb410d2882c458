"""Sentences for what was handed in and cannot be read: no file, several, an archive that is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

SENTENCES: Mapping[FindingCode, str] = {
    FindingCode.ARCHIVE_DAMAGED: (
        "the archive is damaged, or was not handed in as a whole; try to pack it again"
    ),
    FindingCode.ARCHIVE_TOO_LARGE: (
        "the archive holds more than {most} MiB once it is unpacked; expected source files"
    ),
    FindingCode.ARCHIVE_TOO_MANY: (
        "the archive holds more than {most:,} files; expected one .cu file and its headers"
    ),
    FindingCode.ARCHIVE_OVERLAPS: (
        "files in the archive overlap, as no packer writes them; expected an ordinary zip file"
    ),
    FindingCode.ARCHIVE_NAME_LEADS_OUT: (
        "the archive holds `{name}`, which leads out of it; expected names without `..` and drives"
    ),
    FindingCode.ARCHIVE_NAME_CONTROL: (
        "the archive holds `{name}`, a name with control characters; expected plain names"
    ),
    FindingCode.ARCHIVE_NAME_LONG: (
        "the archive holds `{name}`, a name of {characters:,} characters; expected shorter ones"
    ),
    FindingCode.ARCHIVE_TWICE: "the archive holds `{name}` twice; expected it once",
    FindingCode.FILE_IS: "`{name}` is {what}; expected {wanted}",
    FindingCode.FILE_NO_TEXT: "`{name}` is {what}; expected {wanted}",
    FindingCode.FILE_TOO_LARGE: "`{name}` has {bytes:,} bytes; expected {wanted} of at most {most} MiB",
    FindingCode.FILE_UNREADABLE: "`{name}` cannot be read: {reason}; check its permissions",
    FindingCode.FILE_EMPTY: "`{name}` is empty; expected {wanted}",
    FindingCode.FOLDER_UNREADABLE: "the folder cannot be read: {reason}; check its permissions",
    FindingCode.HEADERS_TOO_LARGE: "the headers hold more than {most} MiB together; expected less",
    FindingCode.FOLDER_TOO_MANY: "{noun} holds {number} files; expected {wanted}",
    FindingCode.FOLDER_EMPTY: "{noun} is empty; expected {wanted} in it",
    FindingCode.SEVERAL_FOLDERS: "{noun} holds {wanted} in several folders ({names}); expected them in one",
    FindingCode.SEVERAL_SOURCES: "{noun} holds {number} {endings} files ({names}); expected exactly one",
    FindingCode.NO_SOURCE: "{noun} has no {missing}; expected {wanted}, and {held}",
    FindingCode.SEVERAL_MAINS: "in {noun} more than one file has a `main` ({names}); expected one program",
    FindingCode.SAME_NAMES: (
        "there are two files called {names}; expected names that differ in more than case"
    ),
    FindingCode.SEVERAL_FILES: "it is several files; expected {wanted}",
}

CLAUSES: Mapping[str, str] = {
    "in-archive": "in `{name}`: {sentence}",
    "the-folder": "the folder",
    "the-archive": "the archive",
    "the-submission": "the submission",
    "link-in-circle": "the link leads in a circle",
    "no-reason": "no reason given",
    "one-source": "one .cu file",
    "one-source-and-headers": "one .cu file and its headers",
    "the-source": "the file with your kernel",
    "a-source": "a source file",
    "no-source": "source file",
    "sources": "source files",
    "source-text": "the source text of your kernel",
    "one-sheet": "one .yaml or .json file",
    "the-sheet": "the file with your answers",
    "a-sheet": "a file with answers",
    "no-sheet": "file with answers",
    "sheets": "files with answers",
    "sheet-text": "your answers as YAML or JSON text",
    "an-archive": "an archive",
    "a-receipt": "a receipt",
    "a-roster": "a roster",
    "a-list": "a list of submissions",
    "a-tar-archive": "a tar archive",
    "the-file-itself": "the file itself",
    "without-password": "an archive without a password",
    "ordinary-zip": "an ordinary zip file",
    "archive-of": "{choices} of {wanted}",
    "the-ending": "the ending {choices}",
    "is-link": "a link",
    "is-link-out": "a link that leads out of the submission",
    "is-device-or-pipe": "a device or a pipe",
    "is-holes": "a file with holes",
    "is-encrypted": "encrypted",
    "is-compressed": "compressed in an unusual way",
    "is-folder": "a folder",
    "is-pipe": "a named pipe",
    "is-socket": "a socket",
    "is-device": "a device",
    "is-no-file": "no regular file",
    "is-program": "a compiled program",
    "is-zip": "a zip archive",
    "is-gzip": "a gzip archive",
    "is-pdf": "a PDF document",
    "is-binary": "binary (it holds NUL bytes)",
    "is-nested": "an archive in an archive",
    "is-other-archive": "an archive of a kind that is not read",
    "is-not": "not {wanted}",
    "it-holds": "it holds {names}",
    "only-folders": "it holds only folders",
}
