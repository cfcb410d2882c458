"""Ids from names, and text from bytes."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.base.text import escaped
from grader.grading.submission import decode, lines
from grader.grading.submission.items import ids, safe

NAMES = st.binary(min_size=1, max_size=90).map(os.fsdecode) | st.text(max_size=90)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("alice", "alice"),
        ("Ann Lee (2)", "Ann_Lee__2_"),
        ("../../etc/passwd", "_.._etc_passwd"),
        ("-rf", "rf"),
        (".hidden", "hidden"),
        ("...", "submission"),
        ("", "submission"),
        ("José", "José"),
        ("Jose\u0301", "José"),
        ("नमस्ते", "नमस्ते"),
        ("a\u202eb\x00c\udcffd", "a_b_c_d"),
        ("\u3164", "_"),
        ("a\ufe0fb\u034f", "a_b_"),
        ("x" * 300, "x" * 60),
    ],
)
def test_an_id_is_safe_as_the_name_of_a_folder(label: str, expected: str) -> None:
    """Letters of every script stay; separators, controls and what is no text do not."""
    assert safe(label) == expected


@given(st.lists(NAMES, unique=True, max_size=12))
def test_ids_are_safe_unique_and_independent_of_order(labels: list[str]) -> None:
    """Whatever students call their files."""
    given_ids = ids({label: label for label in labels})
    assert given_ids == ids({label: label for label in reversed(labels)})
    assert len({one.casefold() for one in given_ids.values()}) == len(labels)
    for one in given_ids.values():
        assert one.isprintable()
        assert not set(one) & set("/\\:*?\"<>|'`$ ")
        assert one[0] not in ".-"
        assert 0 < len(one.encode()) <= 255


def test_ids_that_look_alike_are_distinguished() -> None:
    """A reader of a report could not do so, whatever script their letters are of."""
    other = "\u0430dmin"  # Cyrillic
    assert ids({"admin": "admin", other: other}) == {"admin": "admin", other: f"{other}-2"}
    assert ids({"A": "A", "\u0391": "\u0391", "\uff21": "\uff21"}) == {
        "A": "A",
        "\u0391": "\u0391-2",
        "\uff21": "\uff21-3",
    }
    assert ids({"A\u0501a": "A\u0501a", "ada": "ada"}) == {"ada": "ada", "A\u0501a": "A\u0501a-2"}
    assert ids({"1": "ada", "2": "ada", "3": "ada-2"}) == {"1": "ada", "2": "ada-3", "3": "ada-2"}
    assert list(ids({"Иван": "Иван", "ada": "ada"}).values()) == ["ada", "Иван"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"// caf\xc3\xa9\n", "// café\n"),
        (b"\xef\xbb\xbf// caf\xc3\xa9", "// café"),
        (b"// caf\xe9\n", "// café\n"),
        ("// ✓\r\n".encode("utf-16"), "// ✓\n"),
        (b"\xfe\xff\0/\0/", "//"),
        (b"\xff\xfeodd", "ÿþodd"),
        (b"a\r\nb\rc\n", "a\nb\rc\n"),
        (b"", ""),
    ],
)
def test_source_text_is_decoded_whatever_its_encoding(source: bytes, text: str) -> None:
    """UTF-8 and UTF-16 with their marks, else Latin-1."""
    assert decode(source) == text


@given(st.binary(max_size=60))
def test_decoding_never_fails_and_keeps_the_lines(source: bytes) -> None:
    """Every byte string is some text, with as many lines as nvcc counts."""
    if not source.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert len(lines(source)) == source.count(b"\n") + 1


def test_only_a_newline_ends_a_line() -> None:
    """Form feeds, lone carriage returns and Latin-1's next-line character are inside a line."""
    assert lines(b"a\x0cb\rc\x85d\r\ne") == ["a\x0cb\rc\x85d", "e"]


@given(NAMES)
def test_shown_text_controls_nothing(text: str) -> None:
    """One printable line of bounded length that can be written anywhere."""
    shown = escaped(text, 40)
    assert shown.isprintable()
    assert len(shown) <= 12 * 41
    assert shown.encode().decode() == shown


def test_long_text_is_cut() -> None:
    """The ellipsis shows that there was more."""
    assert escaped("x" * 500, 10) == "x" * 9 + "…"
    assert escaped("x" * 10, 10) == "x" * 10
