"""A case of a stored grade.json, read back; see `grader.reports.stored_grade`."""

from __future__ import annotations

from dataclasses import fields

from pydantic import BaseModel, ConfigDict

from grader import model

COUNTERS = tuple(field.name for field in fields(model.Counters))


class StoredProgram(BaseModel):
    """``cases[].program``: what a program was given, and how it ended."""

    model_config = ConfigDict(extra="ignore")

    arguments: tuple[str, ...] = ()
    stdin: str = ""
    ending: str = ""
    returncode: int | None = None


class StoredCase(BaseModel):
    """One of ``cases``."""

    model_config = ConfigDict(extra="ignore")

    id: str
    shape: dict[str, int]
    tags: tuple[str, ...]
    visibility: model.Visibility
    inputs: str
    seed: int
    verdict: model.Verdict
    max_error: float | None
    error_bound: float | None
    seconds: float
    counters: dict[str, int]
    program: StoredProgram = StoredProgram()
    elements: int = 0
    max_relative_error: float | None = None
    kernel: str = ""
    too_much_work: bool = False

    def grade(self) -> model.CaseGrade:
        """The record of it."""
        program = self.program
        case = model.Case(
            self.id,
            tuple(self.shape.items()),
            self.tags,
            self.visibility,
            self.inputs,
            self.seed,
            arguments=program.arguments,
            stdin=program.stdin,
            kernel=self.kernel,
        )
        counters = model.Counters(**{name: self.counters.get(name, 0) for name in COUNTERS})
        return model.CaseGrade(
            case,
            self.verdict,
            self.max_error,
            self.error_bound,
            self.seconds,
            counters,
            program.ending,
            program.returncode,
            self.elements,
            self.max_relative_error,
            self.too_much_work,
        )
