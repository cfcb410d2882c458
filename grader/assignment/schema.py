"""The JSON Schema of assignment files, for editors that complete and check while one types.

`assignments/schema.json` holds it. After a change to the keys of `structure` or of a rubric, write it again:

    python -m grader.assignment.schema > assignments/schema.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic.json_schema import models_json_schema

from grader.assignment.file_kinds import FILE_KINDS, KERNEL, FileKind


def json_schema() -> dict[str, Any]:
    """The schema of ``assignment.yaml`` (JSON Schema, draft 2020-12).

    It asks for the kind of submission first, so that an editor complains about what the file is meant to be.
    """
    places, parts = models_json_schema([(form.file, "validation") for form in FILE_KINDS])
    chosen: dict[str, Any] = places[KERNEL.file, "validation"]
    for form in (form for form in reversed(FILE_KINDS) if form is not KERNEL):
        chosen = {"if": _is_of(form), "then": places[form.file, "validation"], "else": chosen}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "assignment.yaml",
        "type": "object",
        **chosen,
        **parts,
    }


def _is_of(form: FileKind) -> dict[str, Any]:
    """What is true of a file that says it is of this form."""
    kind = {"properties": {"kind": {"const": form.kind}}, "required": ["kind"]}
    return {"properties": {"submission": kind}, "required": ["submission"]}


def main() -> None:
    """Print the schema as it is kept beside the assignments."""
    sys.stdout.write(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
