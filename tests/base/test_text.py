"""Text in which nothing acts, and lists and counts in English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.base.text import capital, count, escaped, is_visible, listed, one_line, sentence, suggestion


@pytest.mark.parametrize("make", [one_line, escaped, sentence])
@given(words=st.text(alphabet=st.characters(codec=None)))
def test_every_character_stands_for_itself(make: object, words: str) -> None:
    """Whatever a text holds, what is shown is one line of characters that a reader sees."""
    assert callable(make)
    assert all(map(is_visible, make(words, 50)))


def test_what_is_not_visible_is_written_out() -> None:
    """Blanks, controls, letters that are not seen, and bytes of a name that are no text."""
    assert escaped("a\tb\x1b[1m\u3164\udcff\u00a0c") == "a\\tb\\x1b[1m\\u3164\\xff\\xa0c"


def test_a_sentence_is_one_line_without_runs_of_blanks() -> None:
    """Line ends of a compiler's message are blanks."""
    assert sentence("  expected\r\n\n a\t`;` \x07") == "expected a `;` \\x07"
    assert sentence("x" * 600) == "x" * 399 + "…"


def test_a_message_of_an_engine_is_one_short_line() -> None:
    """Sequences that colour a terminal are dropped, and control characters are written out."""
    assert one_line("a\x1b[31mb\r\nc\x00" + "d" * 1000, 12) == "ab c\\x00ddd…"


def test_lists_and_counts_read_as_people_write_them() -> None:
    """One, two and three words; one thing, none and many."""
    assert [listed("abc"[:length]) for length in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listed("abc", "or") == "a, b or c"
    assert [count(number, "case") for number in (0, 1, 2365)] == ["0 cases", "1 case", "2,365 cases"]
    assert count(2, "more pair of lines", "more pairs of lines") == "2 more pairs of lines"


def test_a_sentence_that_begins_with_a_launch_begins_with_the_kernel_s_name() -> None:
    """There a capital would be another name."""
    assert capital("matMul<<<(2, 3, 1), (64, 64, 1)>>> never ran") == (
        "matMul<<<(2, 3, 1), (64, 64, 1)>>> never ran"
    )
    assert capital("cudaMemset sets each byte") == "cudaMemset sets each byte"
    assert capital("device_x is never freed") == "device_x is never freed"
    assert capital("copies dC, which was freed") == "Copies dC, which was freed"


def test_a_word_in_another_case_is_the_one_that_is_proposed() -> None:
    """`w` is all of `W`, which no measure of likeness sees."""
    assert suggestion("W", ("H", "w")) == "did you mean `w`?"
    assert suggestion("BLOCK_SIZE", ("block_sizes", "block_size")) == "did you mean `block_size`?"
