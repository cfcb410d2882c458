"""Declarations of a preprocessed text: their places, the names they declare, the names they mention.

Tokens are matched, nothing is parsed. A declaration here is one at namespace scope; namespaces and
``extern "C"`` are looked into. Where the names that a declaration declares are unknown, that is recorded.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""^\#.*$|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_$][\w$]*"""
    r"""|\.?\d(?:[eEpP][+-]|[\w.]|'\w)*|::|->|[^\s\w]""",
    re.MULTILINE,
)
_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
        alignas alignof asm auto bool break case catch char char16_t char32_t class const constexpr const_cast
        continue decltype default delete do double dynamic_cast else enum explicit export extern false final
        float for friend goto if inline int long mutable namespace new noexcept nullptr operator private
        protected public register reinterpret_cast return short signed sizeof static static_assert static_cast
        struct switch template this thread_local throw true try typedef typeid typename union unsigned using
        virtual void volatile wchar_t while __asm __asm__ __attribute __attribute__ __const __decltype
        __extension__ __inline __inline__ __restrict __restrict__ __signed__ __typeof__ __volatile__
        """,
    )
)
_WITH_ARGUMENT = frozenset(
    ("__asm", "__asm__", "__attribute", "__attribute__", "__decltype", "__typeof__", "alignas", "decltype")
) | {"explicit", "noexcept", "throw"}
"""Words that are followed by parentheses that are no list of parameters."""

_SIGN = re.compile(r"[^\w\s\"'()]+")
_CLASS_KEYS = frozenset(("class", "enum", "struct", "union"))
_OPENING, _CLOSING = frozenset("({["), frozenset(")}]")
_SCOPE_OF_C = 2
_KEY_AMONG = 4
"""The words of a declaration among which the key of a class stands."""


@frozen
class HeaderDeclaration:
    """Text from ``start`` to ``end``; ``declares`` is None where that is unknown.

    ``operands`` are the names in the parameters of an overloaded operator: one of them is a class or an
    enumeration (C++17, [over.oper]), so that the operator is not needed where none of them is declared.
    """

    start: int
    end: int
    declares: frozenset[str] | None
    mentions: frozenset[str]
    operands: frozenset[str] = frozenset()
    has_body: bool = False


class _Tokens(NamedTuple):
    """The tokens of a text, where each starts and ends, and which of them are names."""

    texts: list[str]
    spans: list[tuple[int, int]]
    names: frozenset[str]

    def names_in(self, first: int, last: int) -> frozenset[str]:
        """The names from one token to another."""
        return self.names.intersection(self.texts[first : last + 1])


class _Word(NamedTuple):
    """A token of a declaration, or a whole bracket, of which ``text`` is the opening one."""

    text: str
    first: int
    last: int


def declarations(unit: str) -> tuple[HeaderDeclaration, ...]:
    """The declarations of a preprocessed text, in order; raises ValueError where brackets do not match."""
    tokens = _tokens(unit)
    partners = _partners(tokens.texts)
    result: list[HeaderDeclaration] = []
    words: list[_Word] = []
    number = 0
    while number < len(tokens.texts):
        text = tokens.texts[number]
        opens_scope = text == "{" and _is_scope(words)
        if opens_scope or text in _CLOSING:
            words, number = [], number + 1
            continue
        last = partners.get(number, number)
        words.append(_Word(text, number, last))
        number = last + 1
        if text == ";" or (text == "{" and _is_function(words)):
            result.append(_declaration(tokens, words))
            words = []
    return tuple(result)


def _tokens(unit: str) -> _Tokens:
    matches = [match for match in _TOKEN.finditer(unit) if not match[0].startswith("#")]
    texts = [match[0] for match in matches]
    return _Tokens(texts, [match.span() for match in matches], frozenset(filter(_is_name, set(texts))))


def _partners(texts: list[str]) -> dict[int, int]:
    """The closing bracket of each opening one."""
    partners: dict[int, int] = {}
    waiting: list[int] = []
    for number, text in enumerate(texts):
        if text in _OPENING:
            waiting.append(number)
        elif text in _CLOSING:
            if not waiting:
                raise ValueError("a bracket is closed that was not opened")
            partners[waiting.pop()] = number
    if waiting:
        raise ValueError("a bracket is not closed")
    return partners


def _is_scope(words: list[_Word]) -> bool:
    """True if a brace behind these words opens a namespace or ``extern "C"``."""
    texts = [word.text for word in words]
    if "namespace" in texts:
        return True
    return len(texts) == _SCOPE_OF_C and texts[0] == "extern" and texts[1].startswith('"')


def _is_function(words: list[_Word]) -> bool:
    """True if a declaration whose last word is a brace is the definition of a function, and ends there."""
    texts = [word.text for word in _bare(words)]
    return "(" in texts and ("operator" in texts or "=" not in texts) and not _is_class(texts)


def _is_class(texts: list[str]) -> bool:
    """True if it is a class or an enumeration itself, and not something of such a type."""
    keys = [number for number, text in enumerate(texts[:_KEY_AMONG]) if text in _CLASS_KEYS]
    if not keys:
        return False
    number = keys[-1] + 1
    while number < len(texts) and (texts[number] in ("::", "final") or _is_name(texts[number])):
        number += 1
    if texts[number : number + 1] == ["<"]:
        number = _behind_angles(texts, number)
    return texts[number : number + 1] in ([":"], ["{"], [";"])


def _bare(words: list[_Word]) -> list[_Word]:
    """The words without attributes, and without what parameterises a template."""
    bare: list[_Word] = []
    number = 0
    while number < len(words):
        word = words[number]
        following = words[number + 1].text if number + 1 < len(words) else ""
        if word.text in _WITH_ARGUMENT and following == "(":
            number += 2
        elif word.text == "template" and following == "<":
            number = _behind_angles([word.text for word in words], number + 1)
        else:
            bare.append(word)
            number += 1
    return bare


def _behind_angles(texts: list[str], number: int) -> int:
    """The number of the word behind an angle bracket that opens at ``number``."""
    depth = 0
    while number < len(texts):
        depth += {"<": 1, ">": -1}.get(texts[number], 0)
        number += 1
        if not depth:
            break
    return number


def _declaration(tokens: _Tokens, words: list[_Word]) -> HeaderDeclaration:
    first, last = words[0].first, words[-1].last
    mentions = tokens.names_in(first, last)
    start, end = tokens.spans[first][0], tokens.spans[last][1]
    bare = _bare(words)
    has_body = any(word.text == "{" for word in words)
    return HeaderDeclaration(start, end, _declared(tokens, bare), mentions, _operands(tokens, bare), has_body)


def _operands(tokens: _Tokens, words: list[_Word]) -> frozenset[str]:
    """The names in the parameters of an overloaded operator that is no member and has a sign for its name."""
    texts = [word.text for word in words]
    at = texts.index("operator") if "operator" in texts else len(texts)
    sign, opening = texts[at + 1 : at + 2], texts.index("(", at) if "(" in texts[at:] else 0
    if not opening or texts[at - 1 : at] == ["::"] or not _SIGN.fullmatch("".join(sign)):
        return frozenset()
    return tokens.names_in(words[opening].first, words[opening].last)


def _declared(tokens: _Tokens, words: list[_Word]) -> frozenset[str] | None:
    """The names that a declaration may declare, rather too many of them; None where it is unknown."""
    texts = [word.text for word in words if word.text not in ("__extension__", "extern", "inline", "static")]
    start = texts[0] if texts else ""
    if start == "static_assert":
        return frozenset()
    if not start or start in ("asm", "__asm__", "namespace", "template") or "operator" in texts:
        return None
    if start == "using":
        return _by_using(texts)
    if start == "typedef":
        return _of_typedef(tokens, words)
    return _of_class(tokens, words, texts) if _is_class(texts) else _of_declarators(texts)


def _by_using(texts: list[str]) -> frozenset[str] | None:
    if "namespace" in texts:
        return None
    names = texts[: texts.index("=")] if "=" in texts else texts[-2:]
    return frozenset(filter(_is_name, names)) or None


def _of_typedef(tokens: _Tokens, words: list[_Word]) -> frozenset[str] | None:
    """The names of a typedef and of the class in it; every name in it where a declarator is more complex."""
    texts = [word.text for word in words]
    if "(" not in texts and "{" not in texts:
        return _of_declarators(texts)
    return frozenset().union(*(tokens.names_in(w.first, w.last) for w in words)) or None


def _of_declarators(texts: list[str]) -> frozenset[str] | None:
    """The name of a function, or the names of variables and of a class that they mention first.

    None for a member function, and where a declarator is more complex.
    """
    end = texts.index("=") if "=" in texts else len(texts)
    head, behind = texts[:end], texts[end:]
    if len(_outside_angles(behind)) > 1:
        return None
    pieces = _outside_angles([text for text in head if text not in ("[", ";")])
    if any("(" in piece for piece in pieces):
        before = pieces[0][: pieces[0].index("(")] if "(" in pieces[0] else []
        name = _without_arguments(before)
        return frozenset(name[-1:]) if name and name[-2:-1] != ["::"] else None
    names = [_without_arguments(piece[: piece.index("{")] if "{" in piece else piece) for piece in pieces]
    if not all(names):
        return frozenset(filter(_is_name, head)) or None
    tags = (text for key, text in pairwise(head) if key in _CLASS_KEYS and _is_name(text))
    return frozenset((*tags, *(name for piece in names for name in _qualified(piece))))


def _outside_angles(texts: list[str]) -> list[list[str]]:
    """Words between the commas outside of angle brackets; within these, words that are no brackets."""
    pieces: list[list[str]] = [[]]
    depth = 0
    for text in texts:
        depth += {"<": 1, ">": -1}.get(text, 0)
        if text == "," and not depth:
            pieces.append([])
        elif not depth or text != "(":
            pieces[-1].append(text)
    return pieces


def _without_arguments(texts: list[str]) -> list[str]:
    """The words up to a name, without a template's arguments behind it; none where no name stands there."""
    end, depth = len(texts), 0
    while end and (depth or texts[end - 1] == ">"):
        end -= 1
        depth += {"<": -1, ">": 1}.get(texts[end], 0)
    return texts[:end] if end and _is_name(texts[end - 1]) else []


def _qualified(texts: list[str]) -> Iterator[str]:
    """The name that words end with, and those that it is a member of."""
    yield texts[-1]
    while texts[-2:-1] == ["::"]:
        texts = _without_arguments(texts[:-2])
        if not texts:
            return
        yield texts[-1]


def _of_class(tokens: _Tokens, words: list[_Word], texts: list[str]) -> frozenset[str] | None:
    """The name of a class or an enumeration, its enumerators, and what is declared behind its braces."""
    end = min((texts.index(sign) for sign in (":", "<", "{") if sign in texts), default=len(texts))
    behind = texts[texts.index("{") :] if "{" in texts else []
    names = frozenset(filter(_is_name, (*texts[:end], *behind)))
    if "enum" in texts[:_KEY_AMONG]:
        names = names.union(*(tokens.names_in(w.first, w.last) for w in words if w.text == "{"))
    return names or None


def _is_name(text: str) -> bool:
    return (text[0].isalpha() or text[0] in "_$") and text not in _KEYWORDS
