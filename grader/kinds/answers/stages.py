"""The stages of an assignment that asks questions: nothing is compiled, and nothing runs.

A file with answers becomes evidence: each answer as it was understood, beside what the model computes.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from grader.base.errors import OurError, UsageError
from grader.base.text import escaped
from grader.grading.assignment import expand_cases
from grader.grading.submission.items import safe
from grader.kinds.answers.sheets import Sheet, read_sheet
from grader.kinds.answers.solving import is_drawn, solve_question
from grader.kinds.plan import Plan
from grader.model import AnswerEvidence, Build, CaseEvidence, Evidence, Finding, FindingKind
from grader.model.messages import text_of
from grader.simulation.analysis.subjects import number_text

if TYPE_CHECKING:
    from grader.kinds.answers.solving import SolvedQuestion
    from grader.model import AnswersInterface, Named, Question, Submission
    from grader.toolchain.nvcc import Tools

BACKEND_NAME, DEVICE = "model", "no GPU"
"""Names in grades of the model that answers are compared with, and of its device."""


def plan(drawn: Plan, tools: Tools) -> Plan:  # noqa: ARG001 - all kinds have the same signatures
    """A case for each question: one of a hidden item is asked all the same."""
    return Plan(drawn.assignment, drawn.seed, expand_cases(drawn.assignment, drawn.seed), ())


def gather(
    plan: Plan,
    submission: Submission,
    built: Build,  # noqa: ARG001 - as above
    tools: Tools,  # noqa: ARG001 - as above
) -> tuple[Evidence, Named[float]]:
    """Read the answers, each beside what the model computes."""
    return _gathered(plan, submission), ()


def nothing(plan: Plan, built: Build) -> Evidence:  # noqa: ARG001 - as above
    """The evidence where no answer could be read."""
    return _no_answers(built)


def _no_answers(build: Build) -> Evidence:
    return Evidence(BACKEND_NAME, build, device=DEVICE)


def _gathered(plan: Plan, submission: Submission) -> Evidence:
    """All that can be known of a file with answers; whatever fails on our side is in the records."""
    sheet = _sheet_of(submission)
    if isinstance(sheet, Finding):
        return _no_answers(Build(ok=False, findings=(sheet,)))
    interface = plan.assignment.answers
    questions = {question.id: question for question in interface.questions}
    student = whose(submission)
    anonymous = submission.hand_in is not None and submission.hand_in.anonymous
    note = _whose_numbers(sheet, student, anonymous=anonymous)
    cases = []
    for case in plan.cases:
        question = questions[case.id]
        try:
            answer = _answer(
                interface, question, solve_question(interface, question, plan.seed, student), sheet, note
            )
        except (UsageError, OurError) as problem:
            cases.append(
                CaseEvidence(case, completed=False, error=f"`{question.id}` has no answer: {problem}")
            )
            continue
        cases.append(CaseEvidence(case, answer=answer))
    strangers = sorted(set(dict(sheet.answers)) - set(questions))
    return Evidence(
        BACKEND_NAME,
        Build(ok=True, warnings=_unknown_names(strangers, submission)),
        tuple(cases),
        device=DEVICE,
    )


def whose(submission: Submission) -> str:
    """The name that the questions are drawn for: the roster's, else the submission's id."""
    return (submission.hand_in.key if submission.hand_in else "") or submission.id


def named_in(submission: Submission) -> str:
    """Whose sheet the file says that it is; nothing where it does not say, or cannot be read."""
    sheet = _sheet_of(submission)
    return "" if isinstance(sheet, Finding) else sheet.student


def named_by_itself(submission: Submission) -> Submission:
    """The submission under the name that its file gives as ``student``, for whom the numbers were drawn.

    This is for a student's own file only: in a class the id names the student, whatever the file says.
    """
    sheet = _sheet_of(submission)
    if isinstance(sheet, Finding) or not sheet.student:
        return submission
    return replace(submission, id=safe(sheet.student))


def _sheet_of(submission: Submission) -> Sheet | Finding:
    if submission.problem is not None:
        return submission.problem
    return read_sheet(submission.file, submission.source)


def _answer(
    interface: AnswersInterface, question: Question, solution: SolvedQuestion, sheet: Sheet, note: str
) -> AnswerEvidence:
    """Evidence of one answer: the given and the expected value."""
    written = dict(sheet.answers).get(question.id, "")
    readings, problem = readings_of(written, question.unit) if written else ((), "")
    drawn = is_drawn(interface, question)
    return AnswerEvidence(
        question=question.id,
        text=solution.text,
        given=escaped(written, 60),
        readings=readings,
        problem=problem,
        expected=solution.expected,
        unit=question.unit,
        tolerance=question.tolerance,
        relative=question.relative,
        numbers=solution.numbers,
        steps=solution.steps,
        misconceptions=solution.misconceptions,
        drawn=drawn,
        note=note if drawn else "",
    )


def _whose_numbers(sheet: Sheet, student: str, *, anonymous: bool) -> str:
    """Remark on whose numbers were used, where the sheet names no student or another one."""
    drawn_for = escaped(student, 60)
    if anonymous:
        same = not sheet.student or safe(sheet.student).casefold() == safe(student).casefold()
        return "" if same else text_of("drawn-for-somebody")
    if not sheet.student:
        return text_of("drawn-for", student=drawn_for)
    if safe(sheet.student).casefold() == safe(student).casefold():
        return ""
    return text_of("drawn-for-other", named=escaped(sheet.student, 60), student=drawn_for)


def _unknown_names(names: list[str], submission: Submission) -> tuple[Finding, ...]:
    return tuple(
        Finding(FindingKind.ANSWER, text_of("no-question", name=escaped(name, 60)), file=submission.file)
        for name in names[:10]
    )


Readings: TypeAlias = "Named[Fraction]"

LONGEST = 80
"""Characters of an answer."""

MOST_POWER = 18
_WHOLE = r"\d{1,3}(?:[, _]\d{3})+|\d{1,30}"
_NUMBER = re.compile(
    rf"(?P<sign>[+-]?)\s*(?:(?P<whole>{_WHOLE})?(?P<part>\.\d{{1,30}})?)"
    r"(?:\s*[eE](?P<e>[+-]?\d{1,3})|\s*[x*·]\s*10\s*(?:\^|\*\*)\s*(?P<power>[+-]?\d{1,3}))?"
    r"(?:\s*/\s*(?P<below>\d{1,18}))?"
    r"\s*(?P<unit>[^\d\s.,/][^\d]{0,29})?"
)

_KILO = {"k": 1, "m": 2, "g": 3}
_PLURALS = {"byte": "bytes", "operation": "operations"}


def readings_of(text: str, unit: str) -> tuple[Readings, str]:
    """Meanings that the text may have, each in words and as a number of ``unit``; or why it has none."""
    plain = _normalised(text)
    if len(plain) > LONGEST:
        return (), text_of("number-long", wanted=text_of("number-wanted"))
    if re.fullmatch(r"\d+,\d{1,2}", plain) or re.fullmatch(r"\d{4,},\d+", plain):
        return (), text_of("number-comma")
    match = _NUMBER.fullmatch(plain)
    if not match or not (match["whole"] or match["part"]):
        return (), text_of("number-wanted")
    number = _number(match)
    if isinstance(number, str):
        return (), number
    written = (match["unit"] or "").strip()
    scales = _scales(written, unit)
    if not scales:
        name = "number-unit" if unit else "number-no-unit"
        return (), text_of(name, written=escaped(written, 30), unit=unit)
    return tuple((_words(number * scale, unit, kind), number * scale) for scale, kind in scales), ""


def _normalised(text: str) -> str:
    """The text with plain spaces, signs and digits."""
    replacements = {
        "−": "-",
        "×": "x",
        "⋅": "·",
        "\N{THIN SPACE}": " ",
        "\N{NARROW NO-BREAK SPACE}": " ",
        "\N{NO-BREAK SPACE}": " ",
    }
    if len(text) > LONGEST:
        return text
    return " ".join(unicodedata.normalize("NFC", "".join(replacements.get(c, c) for c in text)).split())


def _number(match: re.Match[str]) -> Fraction | str:
    digits = re.sub(r"[, _]", "", match["whole"] or "0")
    number = Fraction(digits + (match["part"] or ""))
    power = int(match["e"] or match["power"] or 0)
    if abs(power) > MOST_POWER:
        return text_of("number-power", most=MOST_POWER, wanted=text_of("number-wanted"))
    number *= Fraction(10) ** power
    if match["below"]:
        below = int(match["below"])
        if not below:
            return text_of("number-by-zero")
        number /= below
    return -number if match["sign"] == "-" else number


def _words(number: Fraction, unit: str, kind: str) -> str:
    text = f"{number_text(number)}{'' if unit == '%' else ' '}{unit}" if unit else number_text(number)
    text = text.replace("%", " %") if unit == "%" else text
    return f"{text}{f' ({kind})' if kind else ''}"


def _scales(written: str, unit: str) -> tuple[tuple[Fraction, str], ...]:
    """Factor for a number, and a remark, for each reading; empty where there is none."""
    unit_written = written.casefold().strip()
    unit_in_small_letters = unit.casefold()
    if not unit_written or _singular(unit_written) == _singular(unit_in_small_letters):
        return ((Fraction(1), ""),)
    family = {"bytes": _bytes, "flop": _operations, "%": _share, "": _ratio, "flop/byte": _intensity}.get(
        unit_in_small_letters
    )
    return family(unit_written) if family else _counted(unit_written, unit_in_small_letters)


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 2 else word  # noqa: PLR2004 - "s" alone is a word of its own


def _bytes(unit_written: str) -> tuple[tuple[Fraction, str], ...]:
    match = re.fullmatch(r"([kmg]?)(i?)(b|byte|bytes)", unit_written)
    words = re.fullmatch(r"(kilo|mega|giga|kibi|mebi|gibi) ?bytes?", unit_written)
    if words:
        match = re.fullmatch(r"([kmg])(i?)(b)", words[1][0] + ("i" if words[1].endswith("bi") else "") + "b")
    if unit_written in ("bit", "bits"):
        return ((Fraction(1, 8), ""),)
    if not match:
        return ()
    power = _KILO.get(match[1], 0)
    if power == 0:
        return ((Fraction(1), ""),) if not match[2] else ()
    if match[2]:
        return ((Fraction(1024) ** power, ""),)
    prefix = match[1].upper()
    return tuple(
        (Fraction(unit) ** power, text_of("answer-unit-taken-as", unit=f"{prefix}B", bytes=unit**power))
        for unit in (1024, 1000)
    )


def _operations(unit_written: str) -> tuple[tuple[Fraction, str], ...]:
    words = {"thousand": 1, "million": 2, "billion": 3, "k": 1, "m": 2, "g": 3}
    match = re.fullmatch(
        r"(?:(k|m|g|thousand|million|billion)\s*)?(?:flops?|ops?|operations?|floating[- ]point operations?)?",
        unit_written,
    )
    return ((Fraction(1000) ** words.get(match[1] or "", 0), ""),) if match else ()


def _share(unit_written: str) -> tuple[tuple[Fraction, str], ...]:
    return ((Fraction(1), ""),) if unit_written in ("percent", "per cent", "pct") else ()


def _ratio(unit_written: str) -> tuple[tuple[Fraction, str], ...]:
    if unit_written in ("x", "times", "-fold", "fold"):
        return ((Fraction(1), ""),)
    return ((Fraction(1, 100), ""),) if unit_written in ("%", "percent", "per cent") else ()


def _intensity(unit_written: str) -> tuple[tuple[Fraction, str], ...]:
    match = re.fullmatch(r"(?:flops?|ops?|operations?)\s*(?:/|per)\s*(?:b|bytes?)", unit_written)
    return ((Fraction(1), ""),) if match else ()


def _counted(unit_written: str, wanted: str) -> tuple[tuple[Fraction, str], ...]:
    """A number of blocks, threads, rows…: the unit may come in thousands."""
    match = re.fullmatch(r"(k|thousand|million)?\s*([a-z ]*)", unit_written)
    if not match or (match[2] and _singular(match[2].strip()) != _singular(wanted)):
        return ()
    return ((Fraction({"k": 1000, "thousand": 1000, "million": 10**6}.get(match[1] or "", 1)), ""),)
