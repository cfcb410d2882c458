"""Files with answers: what students hand in, the sheet that they fill in, and the staff's own answers.

The bytes of a submission become texts by question. The file is hostile: whatever it is, reading it ends soon.
YAML is read as assignments are: mappings, lists and scalars, without aliases, anchors and tags, and no deeper
than there is any reason for. JSON is read by the standard library, with numbers as they were written.

In the staff's own files what depends on the student's numbers is written as an expression:

    my-bytes-read: = global_load_bytes / 4

stands for a quarter of what this student should answer. Students' files are never read in this way.
"""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Any

from grader.base.arithmetic import exactly, names, parse
from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.base.text import escaped
from grader.grading.assignment import document
from grader.grading.assignment.document import UnreadableDocument
from grader.grading.submission import decode
from grader.grading.submission.items import ending
from grader.kinds.answers.solving import is_drawn, numbers_of, setting_of, solve_question
from grader.model import AnswersInterface, Finding, FindingKind
from grader.model.messages import text_of
from grader.simulation.analysis.subjects import SUBJECTS, parameters, value

if TYPE_CHECKING:
    from grader.model import Assignment, Named, Question

MAX_BYTES = 64 * 1024
"""The largest file that is read: a hundred answers take five."""

MOST_ANSWERS = 1000

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks that PowerShell writes where `grader questions --template` is redirected into a file."""


@frozen
class Sheet:
    """Content of a file: the texts of the answers by question, and the student named as its owner."""

    answers: Named[str]
    student: str = ""


class _Unreadable(Exception):  # noqa: N818 - says what the file is
    """Reason why the file cannot be read; never leaves this module."""


def read_sheet(name: str, content: bytes) -> Sheet | Finding:
    """The answers in a file, or what is wrong with it."""
    line = None
    try:
        _require_size(content)
        data = _from_json(content) if ending(name) == ".json" else _from_yaml(content)
        return _sheet(data)
    except UnreadableDocument as refused:
        line, message = refused.position.line, refused.message
    except _Unreadable as problem:
        message = str(problem)
    words = text_of("sheet-unreadable", reason=escaped(message, 300))
    return Finding(FindingKind.ANSWER, words, file=name, line=line)


def _require_size(content: bytes) -> None:
    if len(content) > MAX_BYTES:
        raise _Unreadable(text_of("sheet-large", bytes=len(content), most=MAX_BYTES))


def _from_yaml(content: bytes) -> Any:  # noqa: ANN401 - whatever is in it
    text = decode(content).encode() if content.startswith(_UTF16) else content
    return document.read_plain(text, text_of("sheet-answers"))


def _from_json(content: bytes) -> Any:  # noqa: ANN401 - whatever is in it
    try:
        return json.loads(
            decode(content),
            object_pairs_hook=_without_repeated_keys,
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
    except RecursionError:
        raise _Unreadable(text_of("sheet-deep")) from None
    except json.JSONDecodeError as error:
        words = text_of("sheet-no-json-from-line", line=error.lineno, problem=error.msg)
        raise _Unreadable(words) from None
    except ValueError as error:
        raise _Unreadable(text_of("sheet-no-json", problem=str(error))) from None


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, item in pairs:
        if key in values:
            raise _Unreadable(text_of("sheet-twice", key=escaped(key, 60)))
        values[key] = item
    return values


def _sheet(data: Any) -> Sheet:  # noqa: ANN401 - whatever was in the file
    if not isinstance(data, dict) or "answers" not in data:
        raise _Unreadable(text_of("sheet-no-answers", wanted=text_of("sheet-wanted")))
    unknown = [key for key in data if key not in ("answers", "student", "assignment")]
    if unknown:
        raise _Unreadable(text_of("sheet-strange-key", key=escaped(str(unknown[0]), 60)))
    answers = data["answers"]
    if answers is None or answers == "":
        answers = {}
    if not isinstance(answers, dict):
        name = "sheet-is-list" if isinstance(answers, list) else "sheet-is-text"
        raise _Unreadable(text_of(name, wanted=text_of("sheet-wanted")))
    if len(answers) > MOST_ANSWERS:
        raise _Unreadable(text_of("sheet-many", most=MOST_ANSWERS, number=len(answers)))
    student = data.get("student")
    texts = tuple((str(key), _text(held)) for key, held in answers.items())
    return Sheet(texts, student if isinstance(student, str) else "")


def _text(value: Any) -> str:  # noqa: ANN401 - whatever was in the file
    """The text of an answer; a list or a mapping is none, and shown as what it is."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return str(value).lower()
    return text_of("sheet-list" if isinstance(value, list) else "sheet-mapping")


# --- a student's sheet -------------------------------------------------------------------------------


def sheet_as_json(assignment: Assignment, student: str, seed: int) -> dict[str, Any]:
    """The sheet as data."""
    interface = assignment.answers
    worth = _worth(assignment)
    return {
        "format_version": 1,
        "assignment": assignment.id,
        "title": assignment.title,
        "student": escaped(student),
        "seed": seed,
        "questions": [
            {
                "id": question.id,
                "text": solution.text,
                "unit": question.unit,
                "numbers": dict(solution.numbers),
                "own": is_drawn(interface, question),
                "points": worth.get(question.id, ""),
            }
            for question in interface.questions
            for solution in [solve_question(interface, question, seed, student)]
        ],
    }


def sheet_as_text(assignment: Assignment, student: str, seed: int) -> str:
    """The sheet to be read, with the file to be filled in at its end."""
    data = sheet_as_json(assignment, student, seed)
    rows = [text_of("questions-for", title=data["title"], student=data["student"]), ""]
    for number, question in enumerate(data["questions"], start=1):
        worth = question["points"]
        worth = text_of("questions-own", points=worth) if question["own"] else worth
        unit = f" [{question['unit']}]" if question["unit"] else ""
        rows += [
            f"{number}. {question['id']}{unit} ({worth})",
            f"   {question['text']}",
            "",
        ]
    fill_in = text_of("questions-fill-in", file="answers.yaml")
    return "\n".join([*rows, fill_in, "", sheet_template(assignment, student)])


def sheet_template(assignment: Assignment, student: str) -> str:
    """The YAML file to be filled in: no answer yet, and the unit behind each."""
    width = max(len(question.id) for question in assignment.answers.questions) + 1
    rows = [
        f"  {question.id + ':':<{width + 1}}  # {question.unit or text_of('questions-number')}"
        for question in assignment.answers.questions
    ]
    return "\n".join([*_head(student), "answers:", *rows]) + "\n"


def _head(student: str) -> list[str]:
    """Whose sheet it is, as the file itself says: its name may be any."""
    named = escaped(student, 60).replace('"', "'").replace("\\", "/")
    return [f'student: "{named}"'] if student else []


def model_answers(assignment: Assignment, student: str, seed: int | None = None) -> str:
    """The file with which this student gets all the points: the model's own answers, exactly."""
    interface = assignment.answers
    rows = [*_head(student), "answers:"]
    for question in interface.questions:
        solution = solve_question(interface, question, interface.seed if seed is None else seed, student)
        rows.append(f"  {question.id}: {solution.expected}")
    return "\n".join(rows) + "\n"


def _worth(assignment: Assignment) -> dict[str, str]:
    """Worth of each question, in words: its share of its item's points, or the questions that share them."""
    worth = {}
    for item in assignment.rubric:
        count = len(item.cases)
        for name in item.cases:
            points = item.points / count if item.partial else item.points
            amount = text_of("questions-points", points=f"{float(points):.4g}", count=int(points == 1))
            if not item.partial and count > 1:
                amount = text_of("questions-together", points=amount, number=count)
            worth[name] = amount
    return worth


# --- the staff's own answers -------------------------------------------------------------------------

MARK = "="
"""First character of an answer that is an expression."""


def with_expressions_worked_out(assignment: Assignment, content: bytes, student: str, seed: int) -> bytes:
    """A staff's file for this student: with numbers for expressions. What is no such file stays as it is.

    Raises `UsageError` for an expression that has no value.
    """
    if not assignment.interface.asks_questions:
        return content
    interface = assignment.answers
    sheet = read_sheet("staff.yaml", content)
    if isinstance(sheet, Finding) or not any(text.startswith(MARK) for _, text in sheet.answers):
        return content
    questions = {question.id: question for question in interface.questions}
    rows = {
        name: _value_of_expression(interface, questions[name], text, student, seed)
        if text.startswith(MARK) and name in questions
        else text
        for name, text in sheet.answers
    }
    return json.dumps({"answers": rows}, ensure_ascii=False).encode()


def _value_of_expression(
    interface: AnswersInterface, question: Question, text: str, student: str, seed: int
) -> str:
    setting = setting_of(interface, question)
    subject, numbers = SUBJECTS[setting.subject], numbers_of(setting, seed, student)
    expression = parse(text.removeprefix(MARK).strip())
    allowed = {*subject.quantities, *parameters(subject, numbers)}
    if unknown := sorted(names(expression) - allowed):
        raise UsageError(f"{question.id}: `{unknown[0]}` is no quantity or number of a {setting.subject}")
    return str(exactly(expression, {name: value(subject, numbers, name) for name in names(expression)}))
