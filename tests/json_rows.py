"""JSON documents as golden files, with as many short members on a line as fit."""

from __future__ import annotations

import json

from grader.base.json_rows import rows


def json_rows(text: str, *, indent: int, ascii_only: bool = False) -> str:
    """The document in a text, in lines that a reader sees more of.

    Nothing that the text says is lost: it has to be what `json.dumps` makes of its document with this indent,
    so its spaces and the way in which it writes numbers follow from its content. Fails where it is not.
    """
    document = json.loads(text)
    assert text == json.dumps(document, indent=indent, ensure_ascii=ascii_only) + "\n"
    return rows(document) + "\n"
