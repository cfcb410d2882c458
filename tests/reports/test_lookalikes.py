"""Ids that no reader can distinguish are named to the staff, with the letters in which they differ."""

from __future__ import annotations

from dataclasses import replace

from grader.grading.submission.items import ids
from grader.reports import class_page
from grader.reports.class_table import lookalikes, render_class
from tests.reports.sample_grades import compile_error

CYRILLIC = "\u0430dmin"
GREEK = "t\u03bfm"


def test_an_id_in_another_script_is_named_with_its_letters() -> None:
    """Also with the number that it got behind it because another looks the same."""
    names = list(ids({"admin": "admin", CYRILLIC: CYRILLIC, "tom": "tom", GREEK: GREEK}).values())
    assert sorted(lookalikes(names)) == [
        f"`{GREEK}-2` looks like `tom`, but has U+03BF GREEK SMALL LETTER OMICRON",
        f"`{CYRILLIC}-2` looks like `admin`, but has U+0430 CYRILLIC SMALL LETTER A",
    ]
    both = [GREEK, "t\u043em-2"]
    assert list(lookalikes(both)) == [
        f"`{both[1]}` looks like `{GREEK}`, but has U+043E CYRILLIC SMALL LETTER O"
    ]


def test_names_of_one_script_are_no_lookalikes() -> None:
    """Nor are numbered ones of the same letters, letters with accents, or a name that stands alone."""
    assert not list(lookalikes(["anna", "anna-2", "Ann\u00e1", "\u0418\u0432\u0430\u043d", CYRILLIC, "ada"]))


def test_the_class_s_table_and_page_say_so() -> None:
    """Below the table; nothing where no two look alike."""
    one = replace(compile_error(), submission_id="admin")
    other = replace(compile_error(), submission_id=f"{CYRILLIC}-2")
    words = "looks like `admin`, but has U+0430 CYRILLIC SMALL LETTER A"
    assert words in " ".join(render_class([one, other]).plain.split())
    assert words in class_page.render([one, other])
    assert "\\u0430dmin" in render_class([one, other], ascii_only=True).plain
    assert "looks like" not in render_class([one]).plain + class_page.render([one])
