"""The JSON Schema for editors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.grading.assignment.schema import json_schema
from grader.grading.checks import CHECKS

STORED = Path(__file__).parents[3] / "assignments" / "schema.json"


def test_the_stored_schema_is_the_one_of_this_version() -> None:
    """Editors complete what the grader accepts."""
    if json.loads(STORED.read_text()) != json_schema():
        pytest.fail(
            "assignments/schema.json is stale: "
            "run python -m grader.grading.assignment.schema > assignments/schema.json"
        )


def test_the_command_that_writes_it_writes_exactly_the_file() -> None:
    """The command that the failing test above recommends works, and prints nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "grader.grading.assignment.schema"],
        capture_output=True,
        check=True,
        cwd=STORED.parents[1],
    )
    assert (done.stdout, done.stderr) == (STORED.read_bytes(), b"")


def test_the_schema_knows_keys_choices_and_required_parts() -> None:
    """An editor can tell a wrong key, offer the checks, and ask for what is missing."""
    schema: dict[str, Any] = json_schema()
    kernel, program = schema["$defs"]["KernelFile"], schema["$defs"]["ProgramFile"]
    assert kernel["additionalProperties"] is program["additionalProperties"] is False
    assert kernel["required"] == ["id", "title", "reference", "submission", "cases", "rubric"]
    assert program["required"] == ["id", "title", "submission", "cases", "rubric"]
    items = kernel["properties"]["rubric"]["items"]["discriminator"]["mapping"]
    assert set(items) == {check.name for check in CHECKS if "kernel" in check.kinds} >= {"compile", "races"}
    items = program["properties"]["rubric"]["items"]["discriminator"]["mapping"]
    assert set(items) == {check.name for check in CHECKS if "program" in check.kinds} >= {"compile", "exit"}
    traffic = schema["$defs"]["TrafficItem"]
    assert "global_load_bytes" in traffic["properties"]["metric"]["enum"]
    assert traffic["additionalProperties"] is False


def test_reading_no_assignment_imports_no_pydantic() -> None:
    """Commands that only list or find assignments do not pay for it, nor does judging by the checks."""
    code = (
        "import sys, grader.grading.assignment, grader.grading.checks; "
        "print('pydantic' in sys.modules, 'yaml' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=STORED.parents[1]
    )
    assert done.stdout == b"False False\n"


def test_the_schema_asks_for_the_kind_of_submission_first() -> None:
    """An editor complains about what the file is meant to be, not about both kinds at once."""
    schema: dict[str, Any] = json_schema()
    asked = schema["if"]["properties"]["submission"]
    assert (asked["properties"]["kind"], asked["required"]) == ({"const": "program"}, ["kind"])
    assert schema["then"] == {"$ref": "#/$defs/ProgramFile"}
    other = schema["else"]
    assert other["if"]["properties"]["submission"]["properties"]["kind"] == {"const": "function"}
    assert other["then"] == {"$ref": "#/$defs/FunctionFile"}
    other = other["else"]
    assert other["if"]["properties"]["submission"]["properties"]["kind"] == {"const": "answers"}
    assert other["then"] == {"$ref": "#/$defs/AnswersFile"}
    assert other["else"] == {"$ref": "#/$defs/KernelFile"}
