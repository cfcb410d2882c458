"""Annotations for GitHub, GitLab, SARIF readers and editors: what they say, and that nothing in them acts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

from grader.cli import main
from grader.reports.annotations import Annotation, annotations_of, render
from tests.json_rows import json_rows
from tests.reports import sample_grades

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Golden

FORMATS = ("github", "gcc", "sarif", "gitlab")
GRADES = ("missing_barrier", "compile_error", "our_error", "partial_credit", "full_marks")
HOSTILE = Annotation(
    "rule",
    "a,b:c\n::set-output name=x::y",
    "dir/ev\nil,:%.cu",
    3,
    "first\n::error::second\r\x1b[31m%0A",
    "hint\n::stop-commands::x",
)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("grade", GRADES)
def test_annotations_say_what_students_may_see(grade: str, name: str, golden: Golden) -> None:
    """The cause first, each finding at its line, and what fails without a line at the first one."""
    annotations = annotations_of(getattr(sample_grades, grade)(), "src/tiled.cu")
    rendered = render(annotations, name, "1.2.3")
    is_json = name in {"sarif", "gitlab"}
    golden(
        f"annotations/{grade}.{name}.txt",
        json_rows(rendered, indent=1, ascii_only=True) if is_json else rendered,
    )


@pytest.mark.parametrize(
    ("called", "other", "found"),
    [
        ("hw 1/tiled.cu", "tile.cuh", "hw 1/tile.cuh"),
        ("tiled.cu", "inc/tile.cuh", "inc/tile.cuh"),
        ("/w/tiled.cu", "/usr/include/math.h", "/usr/include/math.h"),
        ("/dev/stdin", "tile.cuh", "tile.cuh"),
    ],
)
def test_a_header_is_named_as_it_lies_beside_the_file(called: str, other: str, found: str) -> None:
    """So that an editor, or a page of a repository, finds it."""
    grade = sample_grades.compile_error()
    items = tuple(
        replace(
            item,
            result=replace(
                item.result, findings=tuple(replace(finding, file=other) for finding in item.result.findings)
            ),
        )
        for item in grade.items
    )
    annotations = annotations_of(replace(grade, items=items, submission_file="tiled.cu"), called)
    assert {annotation.path for annotation in annotations if annotation.rule == "compile"} == {found}


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_hidden_is_in_no_annotation(name: str) -> None:
    """No id, shape or line of a hidden case, as in every other report of a student."""
    shown = render(annotations_of(sample_grades.hidden_item(), "k.cu"), name, "1")
    assert "secret" not in shown
    full = sample_grades.hidden_item()
    hidden = [case.case.id for case in full.cases if case.case.visibility.value != "visible"]
    assert hidden
    assert not [case for case in hidden if case in shown]


def test_no_text_becomes_a_command_of_the_workflow() -> None:
    """A line feed would begin one; in values of properties `:` and `,` would end them."""
    written = render([HOSTILE], "github", "1")
    assert written.count("\n") == 1
    assert written.startswith(
        "::error file=dir/ev%0Ail%2C%3A%25.cu,line=3,title=a%2Cb%3Ac%0A%3A%3Aset-output"
    )
    for line in re.split(r"[\r\n]+", written.strip()):
        assert line.count("::error ") == 1


def test_every_format_is_whole_with_hostile_texts() -> None:
    """JSON is JSON, a line is a line, a path is a URI."""
    sarif = json.loads(render([HOSTILE], "sarif", "1"))
    location = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location == {
        "artifactLocation": {"uri": "dir/ev%0Ail%2C%3A%25.cu"},
        "region": {"startLine": 3},
    }
    (issue,) = json.loads(render([HOSTILE], "gitlab", "1"))
    assert issue["location"] == {"path": HOSTILE.path, "lines": {"begin": 3}}
    assert render([], "sarif", "1").count("results") == 1
    assert json.loads(render([], "gitlab", "1")) == []
    assert render([], "github", "1") == render([], "gcc", "1") == ""
    hostile = annotations_of(sample_grades.hostile(), "k.cu")
    assert hostile
    for one in hostile:
        assert (one.message + one.hint + one.title).isprintable()


def test_sarif_has_what_its_readers_need() -> None:
    """Each result names a rule that is there, and has a fingerprint of its own (SARIF 2.1.0, 3.27)."""
    grade = sample_grades.missing_barrier()
    (run,) = json.loads(render(annotations_of(grade, "k.cu"), "sarif", "1"))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
    prints = [result["partialFingerprints"]["finding/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    moved = replace(grade, submission_digest="another")
    assert render(annotations_of(moved, "k.cu"), "sarif", "1") == render(
        annotations_of(grade, "k.cu"), "sarif", "1"
    )


@pytest.mark.parametrize("grade", [*GRADES, "hostile", "hidden_item"])
def test_sarif_is_valid_by_its_schema(grade: str) -> None:
    """By models that were generated from the schema of SARIF 2.1.0, which allow no key that it has not."""
    Sarif.model_validate_json(
        render(annotations_of(getattr(sample_grades, grade)(), "a b/k.cu"), "sarif", "1")
    )


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"level": "fatal"}, "level"),
        ({"colour": "red"}, "colour"),
        ({"message": None}, "message"),
        ({"ruleIndex": -2}, "ruleIndex"),
    ],
)
def test_what_the_schema_does_not_allow_is_seen(change: dict[str, object], where: str) -> None:
    """An unknown level, an unknown key, no message, a wrong index: the test before this one would fail."""
    sarif = json.loads(render([HOSTILE], "sarif", "1"))
    Sarif.model_validate(sarif)
    sarif["runs"][0]["results"][0] |= change
    with pytest.raises(ValidationError, match=where):
        Sarif.model_validate(sarif)


def test_check_prints_annotations_and_a_summary_for_the_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the path as it was typed; the exit code is as without; the summary is what people read."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work/answers.yaml").write_text("answers: {blocks: 1}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    for given in ("work/answers.yaml", "work"):
        assert main(["check", "memory-analysis", given, "--format", "github"]) == 1
        printed = capsys.readouterr().out.splitlines()
        assert printed
        assert all(line.startswith("::error file=work/answers.yaml,line=") for line in printed)
    assert main(["check", "memory-analysis", "work", "--format", "gcc"]) == 1
    assert all(line.startswith("work/answers.yaml:") for line in capsys.readouterr().out.splitlines())
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("```text\n")
    assert summary.count("```text\n") == 2
    (tmp_path / "work/ada").mkdir()
    (tmp_path / "work/answers.yaml").rename(tmp_path / "work/ada/answers.yaml")
    assert main(["grade", "memory-analysis", "work", "-o", "out", "--format", "gcc"]) == 0
    assert all(line.startswith("work/ada/answers.yaml:") for line in capsys.readouterr().out.splitlines())
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert main(["check", "memory-analysis", "work", "--format", "github"]) == 3
