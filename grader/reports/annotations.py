"""Annotations of mistakes, for tools that show them in the file: GitHub, GitLab, SARIF readers, editors.

    github   workflow commands, ``::error file=…,line=…,title=…::message`` (GitHub Actions, workflow commands)
    gitlab   code quality: an array of issues (GitLab, "Code Quality report format")
    sarif    SARIF 2.1.0: a rule for each kind of mistake, with its help
    gcc      ``file:line: error: message [rule]``, which editors read

What they say is what a student may see, at the lines of the student's file. An item that fails without a line
is said at the first one.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from grader.base.records import frozen
from grader.base.text import headline, one_line
from grader.model import FindingCode, Severity, Verdict
from grader.model.messages import text_of
from grader.reports import wording
from grader.reports.selection import selected
from grader.reports.wording import in_its_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from grader.model import Finding, Grade
    from grader.reports.selection import Selection

_LONGEST = 2000
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@frozen
class Annotation:
    """One thing to show in a file: ``rule`` is the id of the mistake, of the finding or of the item."""

    rule: str
    title: str
    path: str
    line: int
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR
    before_hint: str = "try:"
    """Words before a hint, in the language of the grade."""


@in_its_words
def annotations_of(grade: Grade, path: str) -> tuple[Annotation, ...]:
    """Annotations that a student may see: first what explains the rest, then each item's findings.

    ``path`` is the submission's own file, as it shall be called; others are called as they lie beside it.
    """
    shown = selected(grade)
    if shown.grade.verdict is Verdict.ERROR:
        key = "not-graded-yet" if shown.grade.is_question else "not-graded-file"
        why = one_line(text_of(key, reason=shown.grade.error), _LONGEST)
        return (Annotation("grader-error", text_of("not-graded"), path, 1, why, severity=Severity.WARNING),)
    before_hint = text_of("try")
    return tuple(
        dict.fromkeys(
            replace(annotation, before_hint=before_hint) for annotation in _annotations(shown, path)
        )
    )


def _annotations(shown: Selection, path: str) -> Iterator[Annotation]:
    cause = shown.start.cause if shown.start else None
    if cause is not None and cause.line:
        message = one_line(cause.message, _LONGEST)
        yield Annotation(
            cause.code, text_of("start-here"), path, cause.line, message, one_line(cause.hint, _LONGEST)
        )
    for item in shown.items:
        name = one_line(f"{item.title}: {wording.of_item(item.item)}")
        for finding in item.all_findings:
            if finding.line:
                yield _of_finding(finding, name, path, shown.grade.submission_file, item.hint)
        if item.fails and not any(finding.line for finding in item.result.findings):
            message = one_line(headline(item.result.message), _LONGEST)
            yield Annotation(item.result.item.id, name, path, 1, message, one_line(item.hint, _LONGEST))


def _of_finding(finding: Finding, name: str, path: str, file: str, hint: str) -> Annotation:
    rule = finding.kind.value if finding.code is FindingCode.UNSPECIFIED else finding.code.value
    shown_path = path if finding.file in {"", file} else one_line(_beside(path, file, finding.file))
    message, line = one_line(finding.message, _LONGEST), finding.line or 1
    return Annotation(rule, name, shown_path, line, message, one_line(hint, _LONGEST), finding.severity)


def _beside(path: str, file: str, other: str) -> str:
    """Name of another file of a submission where its own ``file`` is called ``path``."""
    folder = path.removesuffix(file)
    return f"{folder}{other}" if path.endswith(file) and not other.startswith("/") else other


def render(annotations: Sequence[Annotation], name: str, version: str) -> str:
    """Write annotations in one of the formats above; ``version`` is the grader's."""
    return _RENDER[name](annotations, version)


def _github(annotations: Sequence[Annotation], version: str) -> str:  # noqa: ARG001 - as all have it
    rows = []
    for annotation in annotations:
        level = {Severity.ERROR: "error", Severity.WARNING: "warning"}.get(annotation.severity, "notice")
        values = {"file": annotation.path, "line": str(annotation.line), "title": annotation.title}
        fields = ",".join(f"{key}={_property(value)}" for key, value in values.items())
        rows.append(f"::{level} {fields}::{_data(_with_hint(annotation))}\n")
    return "".join(rows)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _gcc(annotations: Sequence[Annotation], version: str) -> str:  # noqa: ARG001 - as all have it
    words = {Severity.ERROR: "error", Severity.WARNING: "warning"}
    return "".join(
        f"{one_line(annotation.path)}:{annotation.line}: {words.get(annotation.severity, 'note')}: "
        f"{annotation.message} [{annotation.rule}]\n"
        for annotation in annotations
    )


def _with_hint(annotation: Annotation) -> str:
    return (
        f"{annotation.message}\n{annotation.before_hint} {annotation.hint}"
        if annotation.hint
        else annotation.message
    )


def _fingerprint(annotation: Annotation) -> str:
    return sha256(
        repr((annotation.rule, annotation.path, annotation.line, annotation.message)).encode()
    ).hexdigest()


def _gitlab(annotations: Sequence[Annotation], version: str) -> str:  # noqa: ARG001 - as all have it
    levels = {Severity.ERROR: "major", Severity.WARNING: "minor"}
    issues = [
        {
            "description": _with_hint(annotation),
            "check_name": annotation.rule,
            "fingerprint": _fingerprint(annotation),
            "severity": levels.get(annotation.severity, "info"),
            "location": {"path": annotation.path, "lines": {"begin": annotation.line}},
        }
        for annotation in annotations
    ]
    return json.dumps(issues, indent=1) + "\n"


def _sarif(annotations: Sequence[Annotation], version: str) -> str:
    rules = {annotation.rule: _sarif_rule(annotation) for annotation in reversed(annotations)}
    ids = sorted(rules)
    driver = {"name": "cuda-grader", "version": version, "rules": [rules[rule] for rule in ids]}
    results = [_sarif_result(annotation, ids.index(annotation.rule)) for annotation in annotations]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _sarif_rule(annotation: Annotation) -> dict[str, Any]:
    help_text = {"help": {"text": annotation.hint}} if annotation.hint else {}
    return {
        "id": annotation.rule,
        "shortDescription": {"text": annotation.rule.replace("-", " ")},
        **help_text,
    }


def _sarif_result(annotation: Annotation, index: int) -> dict[str, Any]:
    levels = {Severity.ERROR: "error", Severity.WARNING: "warning"}
    location = {"artifactLocation": {"uri": _uri(annotation.path)}, "region": {"startLine": annotation.line}}
    return {
        "ruleId": annotation.rule,
        "ruleIndex": index,
        "level": levels.get(annotation.severity, "note"),
        "message": {"text": _with_hint(annotation)},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"finding/v1": _fingerprint(annotation)},
    }


def _uri(path: str) -> str:
    from urllib.parse import quote  # noqa: PLC0415 - for this format only

    return quote(path.replace("\\", "/"), errors="backslashreplace")


_RENDER: dict[str, Callable[[Sequence[Annotation], str], str]] = {
    "github": _github,
    "gcc": _gcc,
    "sarif": _sarif,
    "gitlab": _gitlab,
}
