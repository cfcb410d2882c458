"""A compile unit without those declarations of CUDA's own headers that nothing in it mentions.

nvcc puts ``cuda_runtime.h`` before every file: 36,000 lines, which the compiler reads for each build, and
which take most of its time for a kernel. Kept is what declares a name that the file mentions, what that
mentions in turn, and whatever is not understood. Of what is left out the line breaks stay, so that all else
stands where it stood. A name that is looked up finds the very declarations that it finds in the whole unit,
so that the code is the same. What the compiler says might not be: where it says anything, the whole unit is
compiled (`Compiler.translate`).

Which declarations headers have is found out once for each toolchain, while the first unit is compiled as a
whole, and kept in the folder of builds: where each stands, what it declares, what it mentions. A declaration
here is one at namespace scope; namespaces and ``extern "C"`` are looked into. Tokens are matched, nothing is
parsed. Where it cannot be told what a declaration declares, that is said.
"""

from __future__ import annotations

import hashlib
import marshal
import re
import sys
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from grader.nvcc.cache import made_by, read_entry, write_entry
from grader.nvcc.preamble import parted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_UNIVERSAL_NAME = re.compile(r"\\[uU]")
"""A name spelled otherwise (C++17, [lex.charset]): it would not be seen."""

_IMPLICIT = (
    *("initializer_list", "type_info", "align_val_t", "nothrow_t", "bad_alloc", "size_t", "ptrdiff_t"),
    *("begin", "end", "tuple_size", "tuple_element", "get"),
    *("dim3", "uint3", "cudaStream_t", "cudaError_t", "cudaConfigureCall", "__cudaPushCallConfiguration"),
)
"""Names that are looked up without being written: by `new` and `typeid`, lists in braces, loops over ranges,
structured bindings, and launches of kernels."""

_ONE_BY_ONE = Lock()
"""Two threads that miss the same index need not both make it."""


class HeaderIndex(NamedTuple):
    """The declarations of a text by their numbers.

    ``pieces`` are where each starts and ends, and the line breaks and markers that stay without it;
    ``by_name`` are those that declare a name, ``needed`` those that each one needs, and ``always`` those that
    stay in any case.
    """

    pieces: list[tuple[int, int, str]]
    by_name: dict[str, list[int]]
    needed: list[list[int]]
    always: list[int]

    def kept(self, names: Iterable[str]) -> set[int]:
        """The declarations that stay where a text mentions these names."""
        waiting = [*self.always, *(number for name in names for number in self.by_name.get(name, ()))]
        kept: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number not in kept:
                kept.add(number)
                waiting += self.needed[number]
        return kept


def pruned(unit: str, folder: Path) -> str | None:
    """The unit without what it does not need, or None where it has to be compiled as it is.

    That is so also before `remember` was called for a unit with the same headers.
    """
    headers, own = _parted(unit)
    index = _kept_index(_path(folder, headers)) if headers else None
    if index is None or not index.pieces:
        return None
    kept = index.kept({*_IMPLICIT, *_NAME.findall(own)})
    texts: list[str] = []
    end = 0
    for number, (start, stop, blank) in enumerate(index.pieces):
        if number not in kept:
            texts += [headers[end:start], blank]
            end = stop
    return "".join((*texts, headers[end:], own))


def remember(unit: str, folder: Path) -> None:
    """Find out and keep what a unit's headers declare, unless it is kept; that takes about a second."""
    headers, _ = _parted(unit)
    if not headers:
        return
    path = _path(folder, headers)
    with _ONE_BY_ONE:
        if _kept_index(path) is None:
            write_entry(path, marshal.dumps(tuple(_index_or_nothing(headers))))


def _parted(unit: str) -> tuple[str, str]:
    """The headers that nvcc itself includes, and the rest; no headers where nothing may be left out."""
    headers, own = parted(unit)
    if not own or len(own) > len(headers) or _UNIVERSAL_NAME.search(own):
        return "", unit
    return headers, own


def _path(folder: Path, headers: str) -> Path:
    """The file where the index of a text is kept."""
    key = hashlib.sha256(f"{made_by()}\n{sys.version}\n{headers}".encode()).hexdigest()
    return folder / "headers" / f"{key}.index"


def _kept_index(path: Path) -> HeaderIndex | None:
    """The index in a file; None where there is none that is whole."""
    stored = read_entry(path)
    return None if stored is None else HeaderIndex(*marshal.loads(stored))  # noqa: S302 - our own, checked


def _index_or_nothing(headers: str) -> HeaderIndex:
    """The index of a text, one without declarations where the text is not understood."""
    try:
        return index_of(headers)
    except ValueError:
        return HeaderIndex([], {}, [], [])


def index_of(headers: str) -> HeaderIndex:
    """The index of a preprocessed text; raises ValueError where its brackets do not match."""
    every = declarations(headers)
    by_name: dict[str, list[int]] = {}
    for number, declaration in enumerate(every):
        for name in declaration.declares or ():
            by_name.setdefault(name, []).append(number)
    return HeaderIndex(
        [(d.start, d.end, _blank(headers[d.start : d.end])) for d in every],
        by_name,
        [sorted({n for name in d.mentions for n in by_name.get(name, ())}) for d in every],
        [number for number, declaration in enumerate(every) if declaration.declares is None],
    )


def _blank(text: str) -> str:
    """What stays of a declaration that is left out: its line breaks, and lines for the preprocessor."""
    return "\n".join(line if line.startswith("#") else "" for line in text.split("\n"))


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
"""What is followed by parentheses that are no list of parameters."""

_CLASS_KEYS = frozenset(("class", "enum", "struct", "union"))
_OPENING, _CLOSING = frozenset("({["), frozenset(")}]")
_SCOPE_OF_C = 2
_KEY_AMONG = 4
"""The words of a declaration among which the key of a class stands."""


@dataclass(frozen=True, slots=True)
class HeaderDeclaration:
    """Text from ``start`` to ``end``; ``declares`` is None where that cannot be told."""

    start: int
    end: int
    declares: frozenset[str] | None
    mentions: frozenset[str]


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
    """Whether a brace behind these words opens a namespace or ``extern "C"``."""
    texts = [word.text for word in words]
    if "namespace" in texts:
        return True
    return len(texts) == _SCOPE_OF_C and texts[0] == "extern" and texts[1].startswith('"')


def _is_function(words: list[_Word]) -> bool:
    """Whether a declaration whose last word is a brace is the definition of a function, and ends there."""
    texts = [word.text for word in _bare(words)]
    return "(" in texts and ("operator" in texts or "=" not in texts) and not _is_class(texts)


def _is_class(texts: list[str]) -> bool:
    """Whether it is a class or an enumeration itself, and not something of such a type."""
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
    return HeaderDeclaration(start, end, _declared(tokens, _bare(words)), mentions)


def _declared(tokens: _Tokens, words: list[_Word]) -> frozenset[str] | None:
    """The names that a declaration may declare, rather too many of them; None where it cannot be told."""
    texts = [word.text for word in words if word.text not in ("__extension__", "extern", "inline", "static")]
    start = texts[0] if texts else ""
    if start == "static_assert":
        return frozenset()
    if not start or start in ("asm", "__asm__", "namespace", "template") or "operator" in texts:
        return None
    if start == "using":
        return _by_using(texts)
    if start == "typedef":
        return frozenset().union(*(tokens.names_in(w.first, w.last) for w in words)) or None
    return _of_class(tokens, words, texts) if _is_class(texts) else _of_declarator(texts)


def _by_using(texts: list[str]) -> frozenset[str] | None:
    if "namespace" in texts:
        return None
    names = texts[: texts.index("=")] if "=" in texts else texts[-2:]
    return frozenset(filter(_is_name, names)) or None


def _of_declarator(texts: list[str]) -> frozenset[str] | None:
    """The name of a function or a variable; None for a member, and where a declarator is more complex."""
    head = texts[: texts.index("=")] if "=" in texts else texts
    if "(" not in head:
        return frozenset(filter(_is_name, head)) or None
    before = head[: head.index("(")]
    if not before or not _is_name(before[-1]) or before[-2:-1] == ["::"]:
        return None
    return frozenset(before[-1:])


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
