"""What `host` may be told to ignore, and where that is written down."""

from __future__ import annotations

import re
from pathlib import Path

from grader.checks.host import MISTAKES
from grader.device.errors import HostCode
from grader.kinds.program.on_emulator import CODES, severity_of

DOCS = Path(__file__).parents[2] / "docs" / "format.md"


def test_the_table_of_the_docs_names_all_mistakes_and_how_grave_they_are() -> None:
    """As the code has them."""
    rows = re.findall(r"^\| `([\w-]+)` \| (error|warning|remark) \|", DOCS.read_text(), re.MULTILINE)
    words = {"info": "remark"}
    codes = {str(shown).removeprefix("host-"): code for code, shown in CODES.items()}
    expected = {name: words.get(severity_of(codes[name]), severity_of(codes[name])) for name in MISTAKES}
    assert dict(rows) == expected
    assert set(codes) - set(MISTAKES) == {HostCode.UNSUPPORTED}
