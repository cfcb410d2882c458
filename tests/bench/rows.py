"""JSON for measurements: a line for each record, so that a file has as many lines as it has launches."""

from __future__ import annotations

import json
from typing import Any


def in_rows(document: Any, indent: str = "") -> str:  # noqa: ANN401 - whatever JSON has
    """A document as JSON text; what holds no list of records and no record of records is one line."""
    if not _is_nested(document):
        return json.dumps(document, ensure_ascii=False)
    deeper = indent + " "
    if isinstance(document, dict):
        parts = [f"{json.dumps(key)}: {in_rows(value, deeper)}" for key, value in document.items()]
        return "{\n" + ",\n".join(deeper + part for part in parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + in_rows(value, deeper) for value in document) + f"\n{indent}]"


def _is_nested(document: Any) -> bool:  # noqa: ANN401
    """Return whether there are records in it that stand on lines of their own."""
    if isinstance(document, dict):
        values = list(document.values())
        return any(map(_is_nested, values)) or sum(isinstance(v, dict | list) for v in values) > 1
    return isinstance(document, list) and any(isinstance(value, dict | list) for value in document)
