"""The layers are enforced: imports that must not be are found, and the code as it stands has none."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest

from grader.cli.main import COMMANDS
from grader.running.backends import BACKENDS
from grader.toolchain.gpu import RaceJudge

ROOT = Path(__file__).parents[2]
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LINT]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_import_respects_the_layers() -> None:
    """Upper imports lower, nothing imports up or sideways, and the core does no input or output."""
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_the_table_of_layers_names_every_layer_from_the_top() -> None:
    """Newcomers read the table; the contract is what holds."""
    (layers, *_) = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    contract = [set(re.findall(r"\w+", layer)) for layer in layers["layers"]]
    section = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("## Layers")[1].split("\n## ")[0]
    rows = [set(re.findall(r"`(\w+)`", row)) for row in re.findall(r"(?m)^\| (`.*?) \|", section)]
    assert rows == contract


def test_every_command_is_held_to_import_no_other() -> None:
    """The contract lists them by name, so a new one must not be forgotten."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (listed,) = (
        contract["modules"]
        for contract in contracts
        if contract["name"] == "commands do not import each other"
    )
    assert set(listed) == {f"grader.cli.{command.name.replace('-', '_')}" for command in COMMANDS}


def _nodes(code: str) -> list[ast.AST]:
    """The nodes that the rules below look at; the rest, which takes much memory in all files, goes."""
    kinds = (ast.ClassDef, ast.Compare, ast.Import, ast.ImportFrom)
    nodes: list[ast.AST] = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, kinds) or _asks_for_a_type(node) or _vague_name(node)
    ]
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            node.body = []
    return nodes


def _asks_for_a_type(node: ast.AST) -> TypeGuard[ast.Call]:
    """Return whether a part of a file is a call of `isinstance`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"


VAGUE = frozenset({"each", "found", "known", "made", "place", "said", "told"})
"""Names that do not describe the value that they name."""


def _vague_name(node: ast.AST) -> str:
    """The name that a part of a file gives to a value, if it is a vague one."""
    if isinstance(node, ast.arg):
        name = node.arg
    else:
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else ""
    return name if name in VAGUE else ""


@cache
def _files(package: Path) -> dict[str, list[ast.AST]]:
    """These nodes of each file, by its path below the package: to find them in all takes a second."""
    return {
        file.relative_to(package).as_posix(): _nodes(file.read_text("utf-8"))
        for file in package.rglob("*.py")
    }


def _asking_for_types(package: Path, names: str) -> dict[str, int]:
    """Count by file the questions with `isinstance` whether something is one of the records so named."""
    asking: dict[str, int] = {}
    for file, nodes in _files(package).items():
        for node in nodes:
            if _asks_for_a_type(node) and re.search(
                rf"\b(Kernel|Program|Function|Answers){names}\b", ast.unparse(node.args[1])
            ):
                asking[file] = asking.get(file, 0) + 1
    return asking


def test_the_kind_of_an_assignment_is_asked_of_its_interface_or_of_the_table_of_kinds() -> None:
    """Only the model looks at an interface's type: a new kind is a package, a line and a record."""
    asking = _asking_for_types(ROOT / "grader", "Interface")
    assert asking.pop("model/assignment.py") > 0  # else nothing would have been found anywhere
    assert asking == {}


def test_the_parts_of_a_file_are_taken_apart_where_it_is_read() -> None:
    """Only `grader.grading.assignment` knows what a YAML file of some kind consists of."""
    asking = _asking_for_types(ROOT / "grader", "(File|Part)")
    assert {file.rpartition("/")[0] for file in asking} == {"grading/assignment"}


def _twice(package: Path) -> dict[str, set[str]]:
    """The files by the names of classes that more than one of them defines; the starter is a file to copy."""
    files: dict[str, set[str]] = {}
    for file, nodes in _files(package).items():
        for node in nodes:
            if isinstance(node, ast.ClassDef) and "starter" not in file.split("/"):
                files.setdefault(node.name, set()).add(file)
    return {name: places for name, places in files.items() if len(places) > 1}


def test_no_two_files_have_a_class_of_one_name(tmp_path: Path) -> None:
    """So that a search for a name ends at one class; a name that is there twice is found."""
    assert _twice(ROOT / "grader") == {}
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("class Copy:\n    pass\n", "utf-8")
    assert _twice(tmp_path) == {"Copy": {"a.py", "b.py"}}


def _vague_names(package: Path) -> set[tuple[str, str]]:
    """The files of a package with the vague names that they give."""
    names = ((file, _vague_name(node)) for file, nodes in _files(package).items() for node in nodes)
    return {(file, name) for file, name in names if name}


def test_names_describe_what_values_are(tmp_path: Path) -> None:
    """Values are called finding, message or record, and not by a vague name; tests may choose any name."""
    assert _vague_names(ROOT / "grader") | _vague_names(ROOT / "sandbox") == set()
    (tmp_path / "a.py").write_text("def f(told):\n    for each in told:\n        found = each\n", "utf-8")
    assert _vague_names(tmp_path) == {("a.py", name) for name in ("each", "found", "told")}


def _comparisons_of_backends(nodes: list[ast.AST]) -> list[str]:
    """The comparisons with a backend's or a race judge's name, and those of whatever is called a backend."""
    names = {*BACKENDS, *map(str, RaceJudge)}
    offences = []
    for node in nodes:
        if not isinstance(node, ast.Compare):
            continue
        constants = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
        sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
        of_a_name = re.compile(r"(.*\.)?backend\.name|(evidence|grade|session|options)\.backend|.*\.NAME")
        if constants & names or any(of_a_name.fullmatch(side) for side in sides):
            offences.append(ast.unparse(node))
    return offences


def test_no_backend_is_known_by_its_name_outside_the_backends() -> None:
    """The abilities of a backend are attributes of its class; ``gpu`` is the name of an image as well."""
    files = _files(ROOT / "grader")
    outside = {name: nodes for name, nodes in files.items() if not name.startswith("backends/")}
    offences = {name: found for name, nodes in outside.items() if (found := _comparisons_of_backends(nodes))}
    assert offences.pop("toolchain/sandbox/image.py") == ["target == 'gpu'"]
    assert offences == {}


@pytest.mark.parametrize(
    "offence",
    [
        'backend == "gpu"',
        'evidence.backend == "emulator"',
        'options.backend in ("auto", "emulator")',
        'races != "both"',
        "plan.backend.name == other",
        "name == gpu.NAME",
    ],
)
def test_a_comparison_with_the_name_of_a_backend_is_found(offence: str) -> None:
    """As they stood before there was a table."""
    assert _comparisons_of_backends(_nodes(f"if {offence}:\n    pass")) == [ast.unparse(ast.parse(offence))]


FORBIDDEN = [
    ("model/terms.py", "grader.reports.text", "grader.model is not allowed to import grader.reports"),
    (
        "grading/checks/hazards.py",
        "grader.grading.score",
        "grader.grading.checks is not allowed to import grader.grading.score",
    ),
    ("grading/score.py", "subprocess", "grader.grading.score is not allowed to import subprocess"),
    ("reports/text.py", "yaml", "grader.reports is not allowed to import yaml"),
    ("simulation/ptx/tokens.py", "numba", "grader is not allowed to import numba"),
    (
        "simulation/emulator/machine/machine.py",
        "grader.simulation.emulator.instructions.bits",
        (
            "grader.simulation.emulator.machine.machine is not allowed to import "
            "grader.simulation.emulator.instructions"
        ),
    ),
    (
        "kinds/kernel/stages.py",
        "grader.kinds.program.stages",
        "grader.kinds.kernel is not allowed to import grader.kinds.program",
    ),
    (
        "kinds/function/stages.py",
        "grader.kinds.program.stages",
        "grader.kinds.function is not allowed to import grader.kinds.program",
    ),
    (
        "kinds/host_runs/running.py",
        "grader.kinds.answers.stages",
        "grader.kinds.host_runs is not allowed to import grader.kinds.answers",
    ),
    ("cli/grade.py", "grader.cli.report", "grader.cli.grade is not allowed to import grader.cli.report"),
]
"""Files, an import that each must not have, and the message about it."""


def _copied(folder: Path) -> Path:
    """A copy of the package, with its contracts."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    ignored = shutil.ignore_patterns("__pycache__", "_data")
    return Path(shutil.copytree(ROOT / "grader", folder / "grader", ignore=ignored))


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The messages about the package with all of these imports, in one line."""
    folder = tmp_path_factory.mktemp("forbidden")
    package = _copied(folder)
    for module, forbidden, _ in FORBIDDEN:
        with (package / module).open("a") as file:
            file.write(f"\nimport {forbidden}\n")
    result = _lint(folder)
    assert result.returncode == 1
    return " ".join(result.stdout.split())


@pytest.mark.parametrize(("module", "forbidden", "complaint"), FORBIDDEN)
def test_a_forbidden_import_is_found(module: str, forbidden: str, complaint: str, complaints: str) -> None:
    """Each rule of the contract catches its offence, and names that very import as the reason."""
    importing = f"grader.{module.removesuffix('.py').replace('/', '.')}"
    _, named, chains = complaints.partition(f"{complaint}: - ")
    assert named
    chains = chains.partition(" is not allowed to import ")[0]  # which of several is the first is open
    assert f"{importing} -> {forbidden} (l." in chains


def test_a_module_that_is_no_layer_is_found(tmp_path: Path) -> None:
    """It must be put somewhere."""
    (_copied(tmp_path) / "helpers.py").write_text("", "utf-8")
    result = _lint(tmp_path)
    assert result.returncode == 1
    assert "not listed as layers" in result.stdout


def _imports(module: str, nodes: list[ast.AST], modules: set[str]) -> set[str]:
    """The modules of the package that one of them imports, for type checking or otherwise."""
    targets = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            targets |= (named & modules) or {str(node.module)}
    return (targets & modules) - {module}


def _graph(root: Path) -> dict[str, set[str]]:
    """By module of ``grader`` below a folder what it imports."""
    modules = {
        f"grader.{path.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__"): nodes
        for path, nodes in _files(root / "grader").items()
        if not {"starter", "_data"} & {*path.split("/")}
    }
    return {name: _imports(name, nodes, set(modules)) for name, nodes in modules.items()}


def _cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that import each other, directly or by way of others: what no order can sort."""
    remaining = dict(graph)
    while leaves := [name for name, targets in remaining.items() if not targets & remaining.keys()]:
        for name in leaves:
            del remaining[name]
    reachable = {name: _reachable(name, remaining) for name in remaining}
    groups = ({other for other in reachable[name] if name in reachable[other]} for name in remaining)
    return [set(group) for group in {frozenset(group) for group in groups if group}]


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    """The modules that one imports, directly or by way of others."""
    visited: set[str] = set()
    waiting = [start]
    while waiting:
        targets = graph.get(waiting.pop(), set()) & graph.keys()
        waiting += targets - visited
        visited |= targets
    return visited


def test_no_modules_import_each_other() -> None:
    """Imports for type checking count as well, so that every file can be read after those it builds on."""
    assert _cycles(_graph(ROOT)) == []


def test_a_cycle_of_imports_for_type_checking_is_found(tmp_path: Path) -> None:
    """The rule sees what no import at run time shows, also by way of a third module."""
    shutil.copytree(ROOT / "grader/simulation/ptx", tmp_path / "grader/simulation/ptx")
    nodes = tmp_path / "grader/simulation/ptx/nodes.py"
    nodes.write_text(
        nodes.read_text("utf-8") + "\nif TYPE_CHECKING:\n    from grader.simulation.ptx.parser import Body\n",
        "utf-8",
    )
    (cycle,) = _cycles(_graph(tmp_path))
    assert {
        "grader.simulation.ptx.nodes",
        "grader.simulation.ptx.parser",
        "grader.simulation.ptx.declarations",
    } <= cycle


def test_no_file_is_longer_than_600_lines() -> None:
    """A reader goes through one in a few minutes; a longer one holds two things."""
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in (ROOT / "grader").rglob("*.py")}
    assert len(lengths) > 300
    assert [f"{path}: {length}" for path, length in lengths.items() if length > 600] == []
