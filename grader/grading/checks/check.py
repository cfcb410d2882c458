"""A check: a class with the keys of its rubric item, properties for reports, and a method that judges.

    @frozen(kw_only=True)
    class ExitCheck(Check):
        '''It ends by itself, with this status.'''

        name: ClassVar[str] = "exit"
        title: ClassVar[str] = "how it ends"
        kinds: ClassVar[tuple[str, ...]] = ("program",)
        status: int = key("Status", 0)

        def judge(self, evidence: Evidence) -> CheckResult: ...

`grader.grading.checks.CHECKS` lists the classes. `grader.grading.assignment.rubric` makes the keys of the
YAML from the fields, so that judging a submission loads nothing of what reads YAML.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from grader.base.errors import OurError
from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import CheckResult, Evidence, Named, RubricItem

REQUIRED: Any = MISSING
"""The default of a key that must be there."""

Disorder = tuple[tuple[str | int, ...], str]
"""The path of a key inside an item, and what was expected there."""


def key(values: str | tuple[str, ...], default: Any = REQUIRED) -> Any:  # noqa: ANN401 - as in dataclasses
    """A key of the item in an assignment file.

    ``values`` names what may stand there (`grader.grading.assignment.rubric`), or lists the words that may. A
    key whose ``default`` is None may be left out.
    """
    return field(default=default, metadata={"values": values})


@frozen(kw_only=True)
class Check:
    """A rubric item that is to be judged, with its keys as typed fields. The docstring describes the item."""

    name: ClassVar[str]
    """Value of the key ``check`` in an item."""
    title: ClassVar[str]
    """Title of an item that has none of its own."""
    kinds: ClassVar[tuple[str, ...]]
    """The kinds of assignments whose rubric may have it."""
    whole_submission: ClassVar[bool] = False
    """True if it judges the submission as a whole, and no cases."""
    style: ClassVar[bool] = False
    """True if it is about how a kernel is written: a wrong kernel need not lose its points."""
    cases_key: ClassVar[str] = "cases"
    """The key that names the cases it looks at: ``cases``, ``questions``, or none."""
    partial: ClassVar[tuple[str, ...]] = ()
    """The ways in which the item may give partial credit."""
    one_of: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Sets of keys of which the item has exactly one."""

    item: RubricItem

    @classmethod
    def from_item(cls, item: RubricItem) -> Self:
        """The check of a rubric item; raises OurError where an option is missing."""
        try:
            return cls(item=item, **dict(item.options))
        except TypeError as problem:
            raise OurError(f"rubric item {item.id}: {problem}") from problem

    @classmethod
    def in_rubric(cls, rubric: Iterable[RubricItem]) -> Iterator[Self]:
        """The rubric's items of this check."""
        return (cls.from_item(item) for item in rubric if item.check == cls.name)

    @classmethod
    def own_keys(cls) -> tuple[Field[Any], ...]:
        """The keys that only this check has."""
        return tuple(field for field in fields(cls) if "values" in field.metadata)

    def options(self) -> Named[Any]:
        """The keys that are there, as the record of the item holds them."""
        values = ((field.name, getattr(self, field.name)) for field in self.own_keys())
        return tuple((name, value) for name, value in values if value is not None)

    def contradiction(self) -> tuple[str, str] | None:
        """A key that does not go with the others, and what was expected; None where they agree."""
        return None

    def disorder(self) -> Iterator[Disorder]:
        """Conflicts between values that are sound by themselves."""
        yield from ()

    @property
    def shows_hidden_lines(self) -> bool:
        """True if messages may name the lines that fail in hidden cases."""
        return False

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that the item itself names, which is no secret."""
        return ()

    def considered(self, evidence: Evidence) -> Evidence:
        """The evidence without what the item does not look at; hidden cases are veiled after this."""
        return evidence

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge the evidence of a submission; a failure of ours is the verdict `error`."""
        raise NotImplementedError


@frozen(kw_only=True)
class FindingsCheck(Check):
    """A check that says what went wrong, and where.

    Of hidden cases staff read kinds and arrays only, and students whether all pass. With ``hidden_lines``
    both read the lines and the named mistakes: who hands in again may find out shapes and inputs by them.
    """

    kinds: ClassVar[tuple[str, ...]] = ("kernel",)
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    hidden_lines: bool | None = key("Flag", None)

    @property
    def shows_hidden_lines(self) -> bool:
        """True if the item says so."""
        return bool(self.hidden_lines)
