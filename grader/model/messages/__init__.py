"""Sentences about findings, made of their codes and data in one place.

The emulator and the readers of a device's answers say what is wrong as a code with its data
(`grader.model.Finding`); `worded` says it to people, before a finding leaves them. What else people read is
a text with a name, which `text_of` gives: what checks say of an item, the words of reports. No stage reads a
sentence back.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from grader.base.text import placeholders
from grader.model import FindingCode
from grader.model.messages import hidden
from grader.model.messages.sentences import (
    CLAUSES,
    COMMON,
    ENGLISH,
    TEMPLATES,
    TEXT_TABLES,
    TEXTS,
    Sentences,
    misplaced,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.model import Clause, Detail, Finding, Named

__all__ = [
    "TABLES",
    "Sentences",
    "allowed_fields",
    "clause",
    "current",
    "fits",
    "misplaced",
    "remarked",
    "report_words",
    "sentences_of",
    "speaking",
    "templates_of",
    "text_of",
    "worded",
]

TABLES: Mapping[str, Mapping[str, str]] = {
    "messages": {code.value: template for code, template in TEMPLATES.items()},
    "clauses": CLAUSES,
    "hidden": {str(key): template for key, template in hidden.SENTENCES.items()},
    **TEXT_TABLES,
}
"""Texts that staff may replace, by their key in the staff's file: sentences, parts of them, other texts."""

_CURRENT: ContextVar[Sentences] = ContextVar("sentences", default=ENGLISH)


def allowed_fields(table: str, name: str) -> frozenset[str]:
    """The fields that a text of one of `TABLES` may hold; KeyError for one that does not exist."""
    more = {"messages": COMMON, "hidden": hidden.FIELDS}.get(table, frozenset())
    return placeholders(TABLES[table][name]) | more


def fits(table: str, name: str, text: str) -> bool:
    """True if a text of that name exists, and may be said in these words."""
    if name not in TABLES[table]:
        return False
    try:
        return not misplaced(text, allowed_fields(table, name), TABLES[table][name])
    except ValueError:
        return False


def report_words(feedback: Named[Named[str]]) -> Named[str]:
    """The words of reports among a course's texts: a grade keeps them, so that no report needs the course."""
    return dict(feedback).get("reports", ())


def sentences_of(feedback: Named[Named[str]]) -> Sentences:
    """The sentences of an assignment for which the course says ``feedback``."""
    tables = {name: dict(texts) for name, texts in feedback if name in TABLES}
    templates = {FindingCode(code): text for code, text in tables.get("messages", {}).items()}
    texts = {name: text for table in TEXT_TABLES for name, text in tables.get(table, {}).items()}
    return Sentences(templates, tables.get("clauses", {}), tables.get("hidden", {}), texts)


@contextmanager
def speaking(sentences: Sentences) -> Iterator[None]:
    """Make these the sentences in which findings are reported until the block ends."""
    token = _CURRENT.set(sentences)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Sentences:
    """The sentences in which findings are reported: English unless `speaking` says otherwise."""
    return _CURRENT.get()


def text_of(name: str, /, **values: Detail) -> str:
    """A text by its name in one of `TEXT_TABLES`, in the language of `speaking`."""
    return current().text(name, values)


def templates_of(names: Iterable[str]) -> dict[str, str]:
    """Texts with their fields not filled in, for a script that does, in the language of `speaking`."""
    return {name: current().texts.get(name) or TEXTS[name] for name in names}


def worded(finding: Finding) -> Finding:
    """The finding with its sentence, if it has none yet."""
    return finding if finding.message else ENGLISH.worded(finding)


def remarked(finding: Finding, remark: Clause) -> Finding:
    """The finding with a remark around its sentence."""
    return ENGLISH.remarked(finding, remark)


def clause(part: Clause | None) -> str:
    """The text of a part of a sentence; empty where there is none."""
    return ENGLISH.clause(part) if part else ""
