"""A trace in a report: small, harmless, and there only where what is kept is a trace of ours."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from grader.reports import html, trace_files
from grader.reports.pages import hash_of
from tests.mistakes import mistake
from tests.reports.payloads import PAYLOADS
from tests.reports.sample_grades import SOURCE, missing_barrier
from tests.simulation.trace.tracing import MATMUL, product, scene, tiles

if TYPE_CHECKING:
    from grader.model.trace import TraceScene


@cache
def racy() -> TraceScene:
    """The trace of a kernel without its second barrier; its race is on the lines of the sample grade's."""
    source = mistake(MATMUL / "mistakes/no_second_barrier.cu").decode()
    shown = scene(product(source, tiles(8, 4), tiles(8, 4), 4), source)
    findings = tuple(replace(finding, line=9, other_line=13) for finding in shown.trace.findings)
    return replace(shown, case="tiny", trace=replace(shown.trace, findings=findings))


def watched(shown: TraceScene | None) -> str:
    """The report of a race that has a trace."""
    return html.render(missing_barrier(), source_lines=SOURCE, trace=trace_files.packed(shown))


def trace_in(report: str) -> str:
    """The trace that a report holds, unpacked."""
    data = re.search(r'id="trace-data">([^<]*)<', report)
    assert data is not None
    return gzip.decompress(b64decode(data[1])).decode()


def test_a_race_leads_to_the_trace_of_a_block_with_it() -> None:
    """Once; the command stays for who has no script. Its scripts are allowed by their hashes."""
    report = watched(racy())
    assert report.count('<p class="watch"') == 1
    assert "Watch block (0, 0) of case <code>tiny</code>" in report
    assert json.loads(trace_in(report))["case"]["id"] == "tiny"
    inner = json.loads(re.search(r'id="trace-page">(.*?)</script>', report)[1])  # type: ignore[index]
    script, style = (re.findall(rf"<{tag}>(.*?)</{tag}>", inner, re.DOTALL)[0] for tag in ("script", "style"))
    policy = report[: report.index("<style>")]
    assert hash_of(script) in policy
    assert hash_of(style) in policy
    assert ">" + trace_files.DATA + "<" in inner


def test_a_finding_of_another_line_does_not_lead_there() -> None:
    """The hazard to be watched is not in the trace."""
    elsewhere = replace(racy().trace, findings=())
    assert 'class="watch"' not in watched(replace(racy(), trace=elsewhere))


@pytest.mark.parametrize(
    "kept",
    [b"", b"\xff", b"\x1f\x8b", gzip.compress(b"[]"), gzip.compress(b'{"case": 1}')],
    ids=["nothing", "no gzip", "cut off", "no object", "no trace"],
)
def test_what_is_no_trace_of_ours_is_passed_over(kept: bytes) -> None:
    """A file in the folder of grades may be damaged or foreign: the report is as without it."""
    report = html.render(missing_barrier(), source_lines=SOURCE, trace=kept)
    assert report == html.render(missing_barrier(), source_lines=SOURCE)


def test_a_trace_that_unpacks_to_very_much_is_passed_over() -> None:
    """It is unpacked only as far as one of ours could be."""
    bomb = gzip.compress(b'{"case": "' + b"a" * trace_files.MOST_UNPACKED)
    assert trace_files.embedded(bomb) is None


def test_payloads_in_a_trace_are_text() -> None:
    """Nothing in the element with the page or in the data ends it, whoever packed it."""
    for words in PAYLOADS.values():
        document = trace_files.document(racy()) | {"heading": words, "source": [words], "file": words}
        kept = gzip.compress(json.dumps(document).encode())
        report = html.render(missing_barrier(), source_lines=SOURCE, trace=kept)
        inner = re.search(r'id="trace-page">(.*?)</script>', report)
        assert inner is not None
        assert "<" not in inner[1]
        assert not {"<", ">", "&"} & set(trace_in(report))
        (source,) = json.loads(trace_in(report))["source"]
        assert source.encode("utf-16", "surrogatepass") == words.encode("utf-16", "surrogatepass")


def test_a_trace_that_is_too_long_is_not_embedded() -> None:
    """A report stays small; where all is right there is no trace either."""
    long = replace(racy(), source=tuple(str(number**9) for number in range(100_000)))
    assert trace_files.packed(long) == b""
    assert trace_files.packed(None) == b""
    assert len(watched(racy())) < 500_000
