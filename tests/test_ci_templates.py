"""The templates for continuous integration: their commands are run as the services would run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET  # what we wrote ourselves
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents import ROOT

BASH_OF_GITHUB = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
"""How a step with ``shell: bash`` is run (GitHub Actions, workflow syntax)."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A student's repository, where everything is wrong."""
    (tmp_path / "my lab").mkdir()
    (tmp_path / "my lab/answers.yaml").write_text("answers: {blocks: 1}\n", encoding="utf-8")
    (tmp_path / "my lab/README.md").write_text("# lab\n", encoding="utf-8")
    return tmp_path


def run(command: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A step, with the grader of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **variables}
    return subprocess.run(
        [*BASH_OF_GITHUB, command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def read(name: str) -> dict[str, Any]:
    """A YAML file of the repository."""
    document: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return document


def test_the_action_annotates_a_pull_request(project: Path) -> None:
    """It fails below full marks, says what is wrong at a line, and writes JUnit and a summary."""
    action = read("action.yml")
    *_, step = action["runs"]["steps"]
    values = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
    values |= {"assignment": "memory-analysis", "submission": "my lab"}
    variables = {}
    for name, text in step["env"].items():
        (value,) = [given for key, given in values.items() if text == f"${{{{ inputs.{key} }}}}"]
        variables[name] = value
    ran = run(step["run"], project, {**variables, "GITHUB_STEP_SUMMARY": str(project / "summary.md")})
    assert ran.returncode == 1
    assert ran.stdout.startswith("::error file=my lab/answers.yaml,line=1,title=")
    assert ET.parse(project / "grader.xml").getroot().tag == "testsuites"  # noqa: S314 - ours
    assert (project / "summary.md").read_text(encoding="utf-8").startswith("```text\n")


def test_the_action_reads_no_value_as_a_command(project: Path) -> None:
    """What is given to it stands in variables, in quotes, and nowhere in a command."""
    for step in read("action.yml")["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    *_, step = read("action.yml")["runs"]["steps"]
    hostile = {
        "ASSIGNMENT": "memory-analysis",
        "SUBMISSION": "$(touch owned); `touch owned`",
        "JUNIT": "x.xml",
    }
    assert run(step["run"], project, hostile).returncode == 2
    assert not (project / "owned").exists()


def test_the_template_of_gitlab_writes_its_reports(project: Path) -> None:
    """Code quality and JUnit are where the job says that they are."""
    (job,) = read("ci/gitlab.yml").values()
    (command,) = job["script"]
    ran = run(command, project, {"ASSIGNMENT": "memory-analysis", "SUBMISSION": "my lab"})
    assert ran.returncode == 1
    reports = job["artifacts"]["reports"]
    issues = json.loads((project / reports["codequality"]).read_text(encoding="utf-8"))
    assert {issue["location"]["path"] for issue in issues} == {"my lab/answers.yaml"}
    assert ET.parse(project / reports["junit"]).getroot().get("failures") != "0"  # noqa: S314 - ours
