"""The frozen records that cross a stage.

    Assignment, Submission ─build▶ Build ─backend▶ Run ─compare▶ CaseEvidence
                                                                  ─checks▶ CheckResult ─score▶ Grade

Collections in records are tuples (mappings are tuples of pairs), so that a record can be shared between
stages and processes without anybody changing it under somebody else's feet.
"""

from grader.model.assignment import (
    Assignment,
    Case,
    CasePlan,
    Constant,
    ExpectedNumber,
    KernelInterface,
    Parameter,
    ProgramInterface,
    RubricItem,
    TimingPlan,
)
from grader.model.findings import Access, Clause, Detail, Finding, FindingCode
from grader.model.grade import (
    CaseEvidence,
    CaseGrade,
    Cause,
    CheckResult,
    Comparison,
    Evidence,
    Grade,
    ItemGrade,
    WrongElement,
)
from grader.model.questions import AnswerEvidence, AnswersInterface, DrawnNumber, Question, Setting
from grader.model.terms import (
    SEVERITIES,
    Advice,
    AdviceKind,
    Dim3,
    FindingKind,
    Named,
    Severity,
    SourceRemark,
    Verdict,
    Visibility,
)
from grader.model.timing import Ratio, Threshold, Timing
from grader.model.work import (
    TOO_MUCH_WORK,
    Argument,
    Build,
    Counters,
    Launch,
    LineCounters,
    ProgramRun,
    Resources,
    Run,
    Structure,
    Submission,
    Use,
)

__all__ = [
    "SEVERITIES",
    "TOO_MUCH_WORK",
    "Access",
    "Advice",
    "AdviceKind",
    "AnswerEvidence",
    "AnswersInterface",
    "Argument",
    "Assignment",
    "Build",
    "Case",
    "CaseEvidence",
    "CaseGrade",
    "CasePlan",
    "Cause",
    "CheckResult",
    "Clause",
    "Comparison",
    "Constant",
    "Counters",
    "Detail",
    "Dim3",
    "DrawnNumber",
    "Evidence",
    "ExpectedNumber",
    "Finding",
    "FindingCode",
    "FindingKind",
    "Grade",
    "ItemGrade",
    "KernelInterface",
    "Launch",
    "LineCounters",
    "Named",
    "Parameter",
    "ProgramInterface",
    "ProgramRun",
    "Question",
    "Ratio",
    "Resources",
    "RubricItem",
    "Run",
    "Setting",
    "Severity",
    "SourceRemark",
    "Structure",
    "Submission",
    "Threshold",
    "Timing",
    "TimingPlan",
    "Use",
    "Verdict",
    "Visibility",
    "WrongElement",
]
