"""The notebook that students open in Colab, and what shows a report in it."""

from __future__ import annotations

import ast
import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement

from grader import __version__
from grader.notebook import CheckReport, check
from tests.documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CELLS: list[dict[str, Any]] = json.loads((ROOT / "docs/check.ipynb").read_text(encoding="utf-8"))["cells"]
SHOWN = re.compile(r'<iframe srcdoc="([^"]*)" sandbox="([^"]*)" style="[^"]*"></iframe>')


def executed(source: str) -> object:
    """The value of a cell: like IPython for the two magics that the notebook uses, and else like Python."""
    if source.startswith("%pip install"):
        assert f"./cuda_grader-{__version__}-py3-none-any.whl[nvcc]" in source
        return None
    if source.startswith("%%writefile "):
        name, _, content = source.removeprefix("%%writefile ").partition("\n")
        with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 - in the folder of the test
            file.write(content)
        return None
    *before, last = ast.parse(source).body
    assert isinstance(last, ast.Expr)
    names: dict[str, object] = {}
    exec(compile(ast.Module(before, []), "cell", "exec"), names)  # noqa: S102 - a cell of ours
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307 - the same


def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last cell shows the page of the file that another cell wrote, with what is wrong there."""
    monkeypatch.chdir(tmp_path)
    *_, report = (executed("".join(cell["source"])) for cell in CELLS if cell["cell_type"] == "code")
    assert isinstance(report, CheckReport)
    assert report.exit_code == 1
    shown = SHOWN.fullmatch(report._repr_html_())
    assert shown
    page = unescape(shown[1])
    assert page == report.page.replace("<head>", '<head><base href="about:srcdoc">')
    assert "mine.cu" in page
    assert "C[i] = A[i];" in page
    assert "points" in repr(report)


def test_a_wheel_with_an_address_is_asked_for_as_pip_understands_it() -> None:
    """An extra behind an address is a part of the address, so it stands before it."""
    text = "".join(CELLS[0]["source"])
    (asked,) = re.findall(r'`%pip install --quiet "(.+?)"`', text)
    wanted = Requirement(asked.replace("…", "course.example/a-1-py3-none-any.whl"))
    assert (wanted.name, wanted.extras) == ("cuda-grader", {"nvcc"})
    assert wanted.url == "https://course.example/a-1-py3-none-any.whl"


def test_it_is_a_notebook() -> None:
    """Version 4.5 of the format: each cell has an id of its own, and code has nothing left over of a run."""
    assert len({cell["id"] for cell in CELLS}) == len(CELLS)
    for cell in CELLS:
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_a_page_cannot_leave_its_frame() -> None:
    """It is text in an attribute, and the frame is of another origin than the notebook."""
    hostile = '<head></head>"></iframe><script>alert(1)</script>&quot;'
    shown = SHOWN.fullmatch(CheckReport(1, "", hostile)._repr_html_())
    assert shown
    assert unescape(shown[1]).removeprefix('<head><base href="about:srcdoc">') == hostile.removeprefix(
        "<head>"
    )
    assert "allow-same-origin" not in shown[2]


@pytest.mark.parametrize("name", ["-x.cu", "there is none.cu"])
def test_what_cannot_be_checked_is_reported_below_the_cell(name: str, tmp_path: Path) -> None:
    """There is no page then, but the sentence of the command."""
    report = check("vector-add", name if name.startswith("-") else tmp_path / name)
    assert (report.exit_code, report.page) == (2, "")
    assert "no such file" in report.text
    assert CheckReport(2, "a < b", "")._repr_html_() == "<pre>a &lt; b</pre>"


def test_its_text_has_no_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jupyter asks programs for them, and where no page can be shown there is the text."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    (tmp_path / "mine.cu").write_text("__global__ void vectorAdd(", encoding="utf-8")
    report = check("vector-add", tmp_path / "mine.cu")
    assert report.text.startswith("Vector addition: mine.cu")
    assert "\x1b" not in report.text


def test_a_module_of_the_student_s_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook lies beside all kinds of files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "numpy.py").write_text("raise SystemExit('mine')\n", encoding="utf-8")
    (tmp_path / "mine.cu").write_text("__global__ void vectorAdd(", encoding="utf-8")
    report = check("vector-add", "mine.cu", "--width=60")
    assert report.exit_code == 1, report.text
    assert max(map(len, report.text.splitlines())) <= 60


def test_a_module_where_a_variable_means_the_folder_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty entry of PYTHONPATH means the folder of the notebook."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ":/nowhere")
    (tmp_path / "encodings.py").write_text("raise SystemExit('mine')\n", encoding="utf-8")
    assert check("vector-add", "none.cu").exit_code == 2
