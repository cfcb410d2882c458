"""How a verdict looks: a mark, a word beside it, and a colour that neither depends on."""

from __future__ import annotations

from grader.model import Verdict

MARKS = {Verdict.PASS: "✓", Verdict.FAIL: "✗", Verdict.SKIP: "–", Verdict.ERROR: "!"}
STYLES = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.SKIP: "yellow", Verdict.ERROR: "magenta"}
WORDS = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.SKIP: "skip",
    Verdict.ERROR: "error",
}
