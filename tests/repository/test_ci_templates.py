"""The templates for continuous integration: their commands are run as the services would run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET  # what we wrote ourselves
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documents import ROOT

BASH_OF_GITHUB = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
"""The command for a step with ``shell: bash`` (GitHub Actions, workflow syntax)."""


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
    """It fails below full marks, annotates the line that is wrong, and writes JUnit and a summary."""
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
    """Its inputs stand in variables, in quotes, and nowhere in a command."""
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
    """Code quality and JUnit are where the job declares them."""
    (job,) = read("ci/gitlab.yml").values()
    (command,) = job["script"]
    ran = run(command, project, {"ASSIGNMENT": "memory-analysis", "SUBMISSION": "my lab"})
    assert ran.returncode == 1
    reports = job["artifacts"]["reports"]
    issues = json.loads((project / reports["codequality"]).read_text(encoding="utf-8"))
    assert {issue["location"]["path"] for issue in issues} == {"my lab/answers.yaml"}
    assert ET.parse(project / reports["junit"]).getroot().get("failures") != "0"  # noqa: S314 - ours


RECIPES = ("action.yml", "ci/gitlab.yml", "docs/students.md", "docs/operating.md")
CLONES = re.compile(
    r"git clone|@ git\+|pip install[^`\n]*git\+|repo: http|uses: \S*/cuda-grader@|GITHUB_ACTION_PATH\["
)
"""Commands that would put the course's repository where students' code runs."""


@pytest.mark.parametrize("recipe", RECIPES)
def test_no_recipe_for_students_fetches_the_course_s_repository(recipe: str) -> None:
    """It has hidden cases and solutions; the wheel and the image have neither."""
    text = (ROOT / recipe).read_text(encoding="utf-8")
    assert CLONES.findall(text) == []


def test_the_repository_offers_no_hook_that_would_be_cloned() -> None:
    """Pre-commit clones the repository of each hook onto the student's machine."""
    assert not (ROOT / ".pre-commit-hooks.yaml").exists()


def test_the_action_installs_the_wheel_that_lies_beside_it(tmp_path: Path) -> None:
    """A clone has none, and the action reports that instead of installing the clone."""
    install = read("action.yml")["runs"]["steps"][1]["run"]
    (tmp_path / "bin").mkdir()
    pip = tmp_path / "bin/python"
    pip.write_text('#!/bin/sh\necho "$@"\n', encoding="utf-8")
    pip.chmod(0o755)
    action = tmp_path / "action"
    action.mkdir()
    variables = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(action)}

    def installed() -> subprocess.CompletedProcess[str]:
        command = [*BASH_OF_GITHUB, install]
        return subprocess.run(
            command, env={**os.environ, **variables}, capture_output=True, text=True, check=False
        )

    assert installed().returncode == 3
    assert "no wheel of the grader lies beside action.yml" in installed().stdout
    (action / "cuda_grader-0.1.0-py3-none-any.whl").touch()
    wheel = action / "cuda_grader-0.1.0-py3-none-any.whl"
    assert installed().stdout == f"-m pip install --quiet {wheel}[nvcc]\n"


def test_staff_read_what_a_clone_would_give_away() -> None:
    """And that the hidden cases of bundled assignments are public."""
    text = " ".join((ROOT / "docs/operating.md").read_text(encoding="utf-8").split())
    assert "What students' jobs may fetch is the wheel or the image" in text
    assert "The hidden cases of the bundled assignments are public in any case" in text


def test_the_students_image_gets_the_wheel_and_no_more_of_the_repository() -> None:
    """Its build copies the wheel, the pinned versions and the program that starts it."""
    stages = (ROOT / "Dockerfile").read_text(encoding="utf-8").split("\nFROM ")
    (program,) = [stage for stage in stages if stage.startswith("tools AS program")]
    (grader,) = [stage for stage in stages if stage.startswith("host AS grader")]
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", program + grader, re.MULTILINE)
    assert copied == ["constraints.txt build/wheel/", "sandbox/image/own.py"]
