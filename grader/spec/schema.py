"""The JSON Schema of assignment files, for editors that complete and check while one types.

`assignments/schema.json` holds it. After a change to `grader.spec.structure` or `rubric`, write it again:

    python -m grader.spec.schema > assignments/schema.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

from grader.spec.structure import AssignmentFile


def json_schema() -> dict[str, Any]:
    """The schema of ``assignment.yaml`` (JSON Schema, draft 2020-12)."""
    schema = AssignmentFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "assignment.yaml"}


def main() -> None:
    """Print the schema as it is kept beside the assignments."""
    sys.stdout.write(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
