"""JSON for readers."""

from __future__ import annotations

import json

from grader.base.json_rows import WIDTH, rows


def test_what_fits_is_on_one_line_and_the_rest_shares_lines() -> None:
    """A member of several lines shares none; the text reads as the document, keys in their order."""
    document = {"b": 1, "a": [], "long": {"numbers": list(range(60)), "é": "x"}, "c": None, "d": [{}, [2.5]]}
    text = rows(document)
    lines = text.splitlines()
    assert lines[:3] == ["{", ' "b": 1, "a": [],', ' "long": {']
    assert lines[-3:] == [" },", ' "c": null, "d": [{}, [2.5]]', "}"]
    assert '  "é": "x"' in lines
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) == 11
    assert json.dumps(json.loads(text)) == json.dumps(document)
    assert rows({"a": 1}) == '{"a": 1}'
    assert rows("x" * 200) == f'"{"x" * 200}"'
