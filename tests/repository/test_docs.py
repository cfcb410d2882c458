"""Commands in the documents work, links lead somewhere, and tables name all that there is."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.grading.assignment import load_assignment
from grader.grading.checks import CHECKS
from grader.model import CHANGES, DEVICES, LIMITS, PROBLEMS
from grader.simulation.analysis.subjects import SUBJECTS
from tests.documents import CODE, DOCUMENTS, ROOMS, ROOT, anchors, blocks, code, commands, links, prose, read
from tests.mistakes import mistake_file

if TYPE_CHECKING:
    from collections.abc import Iterator

SOLUTION = ROOT / "reference/matmul/solution.cu"
RACY = mistake_file(ROOT / "reference/matmul/mistakes/no_first_barrier.cu")
FOR_USERS = ["README.md", "docs/students.md", "docs/operating.md", "docs/clusters.md", "docs/format.md"]
"""The pages whose commands are typed, one after the other."""
GRADER = {page: [line for line in commands(page) if line.startswith("grader ")] for page in FOR_USERS}
SUBCOMMANDS = {
    *("list", "check", "trace", "grade", "gradebook", "feedback", "report", "rescore", "questions", "merge"),
    *("estimate", "new", "validate", "export-student", "export-gradescope", "doctor"),
}
NEED_AN_ENGINE = [
    line for lines in GRADER.values() for line in lines if "--build-image" in line or "--attack" in line
]
TAKE_MINUTES = [line for lines in GRADER.values() for line in lines if line.startswith("grader validate ")]
OTHERS = [
    line
    for document in DOCUMENTS
    for line in commands(document)
    if not line.startswith("grader ") and "versus_oclgrind" not in line
]
PROJECT = tomllib.loads(read("pyproject.toml"))
PATH = re.compile(r"^(?:grader|tests|docs|reference|sandbox|assignments|\.ci)/[\w./-]+$")
"""Code that names a file or folder of this repository."""


def test_the_pages_show_every_command() -> None:
    """The pages for users show each subcommand at least once."""
    assert {line.split()[1] for lines in GRADER.values() for line in lines} == SUBCOMMANDS


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A folder with `mine.cu`, `program.cu`, `submissions/`, and the commands that were typed in it."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copy(SOLUTION, folder / "mine.cu")
    shutil.copy(SOLUTION.with_name("matmul-program") / "solution.cu", folder / "program.cu")
    (folder / "submissions").mkdir()
    shutil.copy(SOLUTION, folder / "submissions/ada.cu")
    shutil.copy(RACY, folder / "submissions/bob.cu")
    (folder / "roster.csv").write_text("login,name\nada,Ada Lovelace\nbob,Bob Ross\ncy,Cy Young\n")
    rows = (
        "Student,ID,SIS Login ID,Section,Tiles (9)",
        "    Points Possible,,,,90",  # what can be reached without a GPU
        '"Lovelace, Ada",1,ada,A,',
    )
    (folder / "canvas.csv").write_text("\n".join(rows) + "\n")
    return folder, set()


@pytest.mark.parametrize("page", FOR_USERS)
def test_the_commands_of_a_page_work_in_its_order(page: str, reader: tuple[Path, set[str]]) -> None:
    """Typed one after the other, each exits 0; a command of an earlier page is not typed again."""
    folder, typed = reader
    for command in GRADER[page]:
        if command not in (*NEED_AN_ENGINE, *TAKE_MINUTES, *typed):
            _type(command, folder)
            typed.add(command)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_takes_minutes_works_too(tmp_path: Path) -> None:
    """A new assignment is sound as it stands."""
    _type("grader new my-kernel", tmp_path)
    assert [command.split()[-1] for command in TAKE_MINUTES] == ["assignments/my-kernel"]
    _type(TAKE_MINUTES[0], tmp_path)


def _type(command: str, folder: Path) -> None:
    """Run a command as a user would; it must end with 0."""
    arguments = [sys.executable, "-m", "grader", *shlex.split(command)[1:]]
    process = subprocess.run(arguments, cwd=folder, check=False, capture_output=True, text=True)
    assert process.returncode == 0, (command, process.stdout, process.stderr)


def test_make_runs_the_commands_that_need_an_engine() -> None:
    """They take minutes, so they are typed once: by `make test-docker`, word for word but for the target."""
    makefile = read("Makefile")
    assert len(NEED_AN_ENGINE) == 2
    assert all(f"$(BIN)/{command}" in makefile for command in NEED_AN_ENGINE)


@pytest.mark.parametrize("command", sorted(set(OTHERS)))
def test_the_other_commands_name_things_that_exist(command: str) -> None:
    """A make target, an extra of the package, a program of the set-up, a module or file of the repository."""
    program, *arguments = shlex.split(command)
    if program == "make":
        subprocess.run(["make", "-n", *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S607
    elif program == "pip":
        assert arguments[0] in ("install", "wheel")
        (extras,) = re.findall(r"^\.(?:\[([\w,]+)\])?$", arguments[-1])
        assert set(filter(None, extras.split(","))) <= PROJECT["project"]["optional-dependencies"].keys()
    else:
        assert Path(program).parent.as_posix() == ".venv/bin"
        assert (Path(sys.executable).parent / Path(program).name).exists()
        _names_files_that_exist(arguments)


def _names_files_that_exist(arguments: list[str]) -> None:
    """Each argument that looks like a path or a module of tests is one, or a recipe's diff makes it."""
    made = re.findall(r"^--- /dev/null\n\+\+\+ b/(\S+)$", read("docs/recipes.md"), re.MULTILINE)
    paths = [argument for argument in arguments if argument.startswith("tests/")]
    modules = [argument.replace(".", "/") + ".py" for argument in arguments if argument.startswith("tests.")]
    packages = [f"{module.removesuffix('.py')}/__main__.py" for module in modules]
    are_there = [
        (ROOT / module).exists() or (ROOT / package).exists()
        for module, package in zip(modules, packages, strict=True)
    ]
    assert all(are_there)
    assert all((ROOT / path).exists() or path in made for path in paths)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    """To a file that exists and, in a document, to one of its headings."""
    for path, anchor in links(document):
        assert path.exists(), path
        assert not anchor or anchor in anchors(path), f"{path}#{anchor}"


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name != "CHANGELOG.md"])
def test_paths_that_are_named_exist(document: str) -> None:
    """A path of this repository that stands as code; the changelog tells of files that are gone."""
    paths = [name for name in CODE.findall(prose(document)) if PATH.match(name)]
    invented = ("assignments/my-kernel", "reference/row-mean")
    assert [name for name in paths if not (ROOT / name).exists() and not name.startswith(invented)] == []


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name != "CHANGELOG.md"])
def test_modules_that_are_named_exist(document: str) -> None:
    """Also those that stand without their folder, or with a part of it only."""
    folders = ("grader", "tests", "sandbox", "reference", "docs")
    files = [file.as_posix() for folder in folders for file in (ROOT / folder).rglob("*.py")]
    names = [name for name in CODE.findall(prose(document)) if re.fullmatch(r"[\w./-]+\.py", name)]
    theirs = {"autograder.py", "reference/row-mean/oracle.py"}  # of a student's repository, of an example
    missing = [name for name in names if not any(file.endswith(f"/{name}") for file in files)]
    assert [name for name in missing if name not in theirs and not (ROOT / name).exists()] == []


def test_every_page_is_linked_from_the_readme() -> None:
    """Or, of the package, from the page of what holds it; what has no link to it is not read."""
    linked = {path.resolve() for path, _ in links("README.md")}
    pages = {(ROOT / page).resolve() for page in DOCUMENTS if page not in ROOMS[1:]}
    elsewhere = {"tests/bench/README.md": "docs/measurements.md", "docs/recipes.md": "CONTRIBUTING.md"}
    assert pages - linked == {ROOT / page for page in ("README.md", *elsewhere)}
    for page, linking in elsewhere.items():
        assert any(path.resolve() == ROOT / page for path, _ in links(linking)), page
    for page in ROOMS[1:]:
        above = (ROOT / page).parents[1] / "README.md"
        assert (ROOT / page).resolve() in {path.resolve() for path, _ in links(str(above.relative_to(ROOT)))}


def test_the_map_of_the_package_has_every_room_in_its_order() -> None:
    """As the contract on imports has them; `notebook` is a file beside the uppermost."""
    (rooms, *_) = PROJECT["tool"]["importlinter"]["contracts"]
    contract = [re.findall(r"\w+", layer)[0] for layer in rooms["layers"]]
    assert re.findall(r"^\| \[`(\w+)`\]\(\1/README\.md\)", read("grader/README.md"), re.MULTILINE) == contract


@pytest.mark.parametrize(
    "room", [path.parent.name for path in sorted(ROOT.glob("grader/[a-z]*/__init__.py"))]
)
def test_the_page_of_a_room_names_all_that_is_in_it(room: str) -> None:
    """Its packages, its folders and its files."""
    page = f"grader/{room}/README.md"
    held = {path.name for path in (ROOT / page).parent.iterdir()} - {
        "__init__.py",
        "__pycache__",
        "README.md",
    }
    assert held - set(CODE.findall(prose(page))) == set()


def test_decisions_stand_newest_first() -> None:
    """In each part, and an entry has five lines at most, of 128 characters at most."""
    parts = re.split(r"^## ", read("docs/decisions.md"), flags=re.MULTILINE)[1:]
    entries = [re.findall(r"^- .*(?:\n  .*)*", part, re.MULTILINE) for part in parts]
    assert all(entries)
    for part in entries:
        dates = [re.match(r"- \*\*(\d{4}-\d\d-\d\d): ", entry) for entry in part]
        assert all(dates)
        assert (days := [date[1] for date in dates if date]) == sorted(days, reverse=True)
    lines = [entry.splitlines() for part in entries for entry in part]
    assert [entry[0] for entry in lines if len(entry) > 5 or max(map(len, entry)) > 128] == []


def test_every_bundled_assignment_is_listed() -> None:
    """By its id, in the table of assignments."""
    cells = re.findall(r"^\| (`.+?) \|", read("docs/assignments.md"), re.MULTILINE)
    listed = re.findall(r"`([\w-]+)`", "\n".join(cells))
    bundled = [path.parent.name for path in ROOT.glob("assignments/*/assignment.yaml")]
    assert sorted(listed) == sorted(bundled)


def _keys_of_the_schema() -> set[str]:
    """All keys that an assignment file may have, by the schema that editors use."""
    schema = json.loads(read("assignments/schema.json"))

    def reachable(node: Any, seen: set[str]) -> Iterator[str]:  # noqa: ANN401 - JSON
        if isinstance(node, list):
            for item in node:
                yield from reachable(item, seen)
        elif isinstance(node, dict):
            yield from node.get("properties", {})
            name = str(node.get("$ref", "")).removeprefix("#/$defs/")
            if name and name not in seen:
                seen.add(name)
                yield from reachable(schema["$defs"][name], seen)
            for key, item in node.items():
                if key != "$defs":
                    yield from reachable(item, seen)

    return set(reachable(schema, set()))


def test_the_format_describes_every_check() -> None:
    """In a table of the items, or where questions are described."""
    text = read("docs/format.md")
    described = [check.name for check in CHECKS if f"| `{check.name}` |" in text]
    assert [check.name for check in CHECKS if check.name not in described] == ["answers"]
    assert "check: answers" in text


def test_the_format_names_every_key() -> None:
    """And every setting of questions with its numbers and quantities."""
    written = set(re.findall(r"\w+", code("docs/format.md")))
    quantities = {
        name for subject in SUBJECTS.values() for name in (*subject.parameters, *subject.quantities)
    }
    assert sorted((_keys_of_the_schema() | quantities | SUBJECTS.keys()) - written) == []


REST = {
    "kind: kernel": """
reference: x
cases: [{id: one, shape: {N: 1}}]
rubric: [{id: compiles, points: 1, check: compile}]
""",
    "kind: answers": "",
}
"""The parts of an assignment that the examples of the format leave out, by its kind."""


@pytest.mark.parametrize("kind", REST)
def test_an_example_of_the_format_is_an_assignment(kind: str, tmp_path: Path) -> None:
    """An assignment with the example that staff copy from there loads."""
    (example,) = [block for block in blocks("docs/format.md", "yaml") if kind in block]
    (tmp_path / "assignments/example").mkdir(parents=True)
    (tmp_path / "reference/x").mkdir(parents=True)
    (tmp_path / "reference/x/oracle.py").touch()
    path = tmp_path / "assignments/example/assignment.yaml"
    path.write_text(f"id: example\ntitle: Example\n{REST[kind]}{example}", encoding="utf-8")
    assert load_assignment(path.parent).id == "example"


FREE = {
    "kernels",
    "counters",
    "shape",
    "details",
    "versions",
    "witnesses",
    "milliseconds",
    "gflops",
    "case_verdicts",
}
"""Keys of grade.json whose own keys are names of cases, counters, kernels or programs."""


def _keys(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        for item in value:
            yield from _keys(item)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in FREE:
                yield from _keys(inner)


@pytest.mark.parametrize(
    "grade",
    ["missing-barrier", "our-error", "partial-credit", "compile-error", "program", "timed", "estimated"],
)
def test_the_format_of_grades_names_every_key(grade: str) -> None:
    """They are the keys that are written; `_exact` beside a key is explained once."""
    written = set(re.findall(r"\w+", code("docs/grade-json.md")))
    keys = set(_keys(json.loads(read(f"tests/golden/reports/{grade}.json"))))
    assert sorted(key for key in keys - written if not key.endswith("_exact")) == []


def test_the_format_of_grades_names_every_code_of_an_estimate() -> None:
    """Devices, limits, changes, and why there is none."""
    named = set(re.findall(r"`([\w-]+)`", read("docs/grade-json.md")))
    assert [code for code in (*DEVICES, *LIMITS, *CHANGES, *PROBLEMS) if code not in named] == []
