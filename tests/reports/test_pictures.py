"""Pictures made of numbers: what they draw, and that no text in them is markup."""

from __future__ import annotations

from lxml import etree

from grader.reports import pictures


def _drawn(picture: str, tag: str) -> list[etree._Element]:
    return list(etree.fromstring(picture).iter(tag))


def test_text_and_attributes_are_escaped() -> None:
    """Neither a child nor an attribute can end its element."""
    picture = pictures.element("text", "</text><script>", aria_label='" onload="x')
    assert picture == '<text aria-label="&#34; onload=&#34;x">&lt;/text&gt;&lt;script&gt;</text>'


def test_a_bar_has_its_parts_side_by_side() -> None:
    """Each part begins where the one before ends; none leaves the bar."""
    picture = pictures.bar(
        [pictures.Part(0.25, "pass"), pictures.Part(0, "fail"), pictures.Part(2, "lost")], mark=0.1
    )
    track, *parts = _drawn(picture, "rect")
    assert track.get("class") == "track"
    assert [(part.get("x"), part.get("width")) for part in parts] == [("0%", "25%"), ("25%", "100%")]
    assert _drawn(picture, "line")[0].get("x1") == "10%"


def test_a_histogram_counts_above_its_columns() -> None:
    """The tallest column is the largest count; an empty one has no number; the mark has its name."""
    picture = pictures.histogram([2, 0, 4], "scores", mark=(0.5, "mean"))
    heights = [float(str(column.get("height")).rstrip("%")) for column in _drawn(picture, "rect")]
    assert heights[0] * 2 == heights[2] == max(heights)
    assert [text.text for text in _drawn(picture, "text")] == ["2", "4", "mean"]
    assert len(_drawn(picture, "line")) == 1
    assert not _drawn(pictures.histogram([], "scores"), "rect")


def test_an_interval_has_two_ends_and_what_it_is_compared_with() -> None:
    """The value is a bar, the interval a line with ends, the reference a line across."""
    picture = pictures.interval(1.4, 1.5, 1.6, most=2, reference=1)
    assert [rect.get("width") for rect in _drawn(picture, "rect")] == ["100%", "75%"]
    assert [line.get("x1") for line in _drawn(picture, "line")] == ["70%", "70%", "80%", "50%"]
