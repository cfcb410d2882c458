"""The compiler: where nvcc is, which version, and the three programs that `nvcc -ptx` would start.

nvcc is a driver. ``nvcc --dryrun`` prints what it would run: the host compiler's preprocessor, then
cicc. We take those commands from there, run the preprocessor once for both builds and cicc twice side by
side, and learn from the preprocessor which files were read before cicc can quote any of them.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from grader.base.errors import OurError, StorageError, ToolMissing, UsageError, exhausted
from grader.base.records import frozen
from grader.base.text import one_line
from grader.toolchain.sandbox import Job, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.model import Named
    from grader.toolchain.sandbox import Sandbox

UNIT = "grader_unit"
"""Base name of every file of a build: ``UNIT.cu`` is preprocessed to ``UNIT.cpp1.ii``, and so on."""

PTX, CUBIN = f"{UNIT}.ptx", f"{UNIT}.cubin"

ARCHITECTURE = "80"
"""Compute capability 8.0: the oldest with everything that courses teach. Newer GPUs take its PTX, too."""

DEFAULT_BUILD = ("-ptx", "-lineinfo", "--expt-relaxed-constexpr")
"""`-lineinfo` changes no instruction; the other lets device code call ``std::max`` and its like."""

HAZARD_BUILD = (*DEFAULT_BUILD, "-Xcicc", "-O0")

HOW_TO_GET_NVCC = (
    "get it with "
    '`pip install "nvidia-cuda-nvcc==13.0.*" "nvidia-nvvm==13.0.*" "nvidia-cuda-crt==13.0.*" '
    '"nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cccl==13.0.*"`, or name one in GRADER_NVCC'
)
_MAC: str = "darwin"  # no literal: mypy would skip what depends on it
_NO_MAC = "NVIDIA makes none for macOS: use your course's container image with Docker"
HOW_TO_GET_ANOTHER = f"if it cannot be mended, {HOW_TO_GET_NVCC.replace('get it', 'get another nvcc')}"
HOW_TO_GET_NVDISASM = 'get it with `pip install "nvidia-cuda-nvdisasm==13.2.*"`'
HOW_TO_GET_COMPILER = "g++ was not found, and nvcc needs it; get it with `apt-get install g++`"

_PLAN_LINE = re.compile(r"^#\$ (?P<text>.*)$", re.MULTILINE)
_ASSIGNMENT = re.compile(r"(?P<name>\w+)=(?P<value>.*)")
_TEMPORARY = re.compile(r"^.*tmpxft_[0-9a-f_]*-\d+_")
_ABSENT = re.compile(r'^ignoring nonexistent directory "([^"\n]*)"$', re.MULTILINE)
_EXECUTABLE = os.R_OK | os.X_OK


@frozen
class Toolchain:
    """A working nvcc and its plan; commands name files relative to the folder they run in.

    ``preprocess`` reads ``UNIT.cu`` and writes ``UNIT.cpp1.ii``; ``compile`` and ``compile_for_hazards``
    read that and write ``UNIT.ptx``. ``roots`` are the folders that headers may come from.
    """

    nvcc: Path
    host_compiler: str
    version: str
    host_version: str
    preprocess: tuple[str, ...]
    compile: tuple[str, ...]
    compile_for_hazards: tuple[str, ...]
    ptxas: str
    environment: Named[str]
    roots: tuple[str, ...]
    architecture: str = ARCHITECTURE
    """The compute capability that the PTX is made for, without its dot."""
    nvdisasm: str = ""
    """The disassembler; empty where there is none, and then speed is not estimated."""
    absent: tuple[str, ...] = ()
    """Folders that headers would come from, too, if they were there."""
    image: str = ""
    """The image that it is in, by its digest; empty for one of this machine."""


@frozen
class Tools:
    """The compiler, where it is let run, and the folder where builds are kept (None: nowhere)."""

    toolchain: Toolchain
    sandbox: Sandbox
    cache: Path | None = None


def find_toolchain(explicit: str | None = None, architecture: str = ARCHITECTURE) -> Toolchain:
    """The first nvcc of: ``explicit``, GRADER_NVCC, the pip wheels, PATH, /usr/local/cuda.

    Raises ToolMissing, saying how to get it, where there is no nvcc, no g++ or none that work together.
    """
    return _examine(ThisMachine(), *find_programs(explicit), architecture)


def find_programs(explicit: str | None = None) -> tuple[Path, Path]:
    """The nvcc of `find_toolchain` and its host compiler, before they are asked; raises ToolMissing."""
    named = explicit or os.environ.get("GRADER_NVCC")
    nvcc = _named_compiler(named) if named else next(_candidates(), None)
    if nvcc is None:
        raise ToolMissing(f"nvcc was not found; {_NO_MAC if sys.platform == _MAC else HOW_TO_GET_NVCC}")
    compiler = shutil.which("g++")
    if compiler is None:
        raise ToolMissing(HOW_TO_GET_COMPILER)
    return nvcc, Path(compiler)


def toolchain_in(sandbox: Sandbox, architecture: str = ARCHITECTURE) -> Toolchain:
    """The toolchain that a sandbox brings along; raises ToolMissing where it does not work."""
    has = sandbox.equipment
    with sandbox.stage(Stage()) as inside:
        toolchain = _examined(Within(inside), Path(has.nvcc), Path(has.compiler), architecture)
    return replace(toolchain, image=has.image)


def _named_compiler(name: str) -> Path:
    path = shutil.which(name)
    if path is None:
        raise UsageError(f"nvcc was named as {name!r}, but no program is there; name another, or none")
    return Path(path).absolute()


def _candidates() -> Iterator[Path]:
    """Paths of every nvcc in the usual places, best first."""
    places = [str(folder / "bin") for folder in _wheel_folders()]
    places += [os.environ.get("PATH", os.defpath), "/usr/local/cuda/bin"]
    for parent in places:
        path = shutil.which("nvcc", _EXECUTABLE, parent)
        if path is not None:
            yield Path(path).absolute()


def _wheel_folders() -> Iterator[Path]:
    """The toolkit folders of NVIDIA's wheels, newest first, located without importing them."""
    spec = find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        yield from sorted(Path(root).glob("cu[0-9]*"), reverse=True)
        yield Path(root) / "cuda_nvcc"


def _examined(machine: Host, nvcc: Path, compiler: Path, architecture: str) -> Toolchain:
    target = f"-arch=compute_{architecture}"
    with ThreadPoolExecutor(3) as pool:
        default = pool.submit(_plan, machine, nvcc, compiler, (*DEFAULT_BUILD, target))
        hazard = pool.submit(_plan, machine, nvcc, compiler, (*HAZARD_BUILD, target))
        folders = pool.submit(_header_folders, machine, compiler)
    plan, (looked_at, absent) = default.result(), folders.result()
    toolkit = os.path.normpath(plan.variables.get("TOP", str(nvcc.parent.parent)))
    beside = f"{nvcc.parent}{os.pathsep}{toolkit}/bin"
    ptxas = machine.which("ptxas", beside)
    cicc = machine.which(plan.commands[1][0], os.defpath)
    for name, program in (("ptxas", ptxas), ("cicc", cicc)):
        if not program:
            raise ToolMissing(f"the toolkit of {nvcc} has no {name}; {HOW_TO_GET_ANOTHER}")
    return Toolchain(
        nvcc=nvcc,
        host_compiler=str(compiler),
        version=plan.version,
        host_version=plan.host_version,
        preprocess=plan.commands[0],
        compile=plan.commands[1],
        compile_for_hazards=hazard.result().commands[1],
        ptxas=str(ptxas),
        environment=tuple((n, plan.variables[n]) for n in ("NVVMIR_LIBRARY_DIR",) if n in plan.variables),
        roots=_with_real_paths(machine, (toolkit, *looked_at)),
        architecture=architecture,
        nvdisasm=machine.which("nvdisasm", f"{beside}{os.pathsep}{os.defpath}"),
        absent=absent,
    )


_examine = lru_cache(maxsize=4)(_examined)
"""Cached result for this machine, whose compiler does not change while we run."""


def _with_real_paths(machine: Host, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Each folder as it is named and, where links lead to it, as it really is: gcc may name it either way."""
    pairs = zip(folders, machine.real_paths(folders), strict=True)
    return tuple(dict.fromkeys(path for pair in pairs for path in pair))


@frozen
class _Plan:
    """Commands of nvcc in a dry run: the variables it sets, and the two commands it runs."""

    variables: dict[str, str]
    commands: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def version(self) -> str:
        """The toolkit's version, as nvcc passes it to the preprocessor."""
        return ".".join(self._define(f"__CUDACC_VER_{part}__") for part in ("MAJOR", "MINOR", "BUILD"))

    @property
    def host_version(self) -> str:
        """The host compiler's version, as nvcc passes it to cicc."""
        options = (option.partition("=") for option in self.commands[1])
        return next((value for name, _, value in options if name == "--gnu_version"), "")

    def _define(self, name: str) -> str:
        options = (option.partition("=") for option in self.commands[0])
        return next((value for option, _, value in options if option == f"-D{name}"), "0")


def _plan(machine: Host, nvcc: Path, compiler: Path, build: tuple[str, ...]) -> _Plan:
    arguments = ("-ccbin", str(compiler), *build, "--dryrun", f"{UNIT}.cu", "-o", f"{UNIT}.ptx")
    text = _output_of(machine, (str(nvcc), *arguments))
    variables, commands = planned(text)
    expected = len(commands) == 2 and "-E" in commands[0] and Path(commands[1][0]).name == "cicc"  # noqa: PLR2004
    if not expected:
        answer = one_line(text, 300) or "nothing"
        raise ToolMissing(
            f"{nvcc} does not work with {compiler}: asked what it would run, it said: {answer}; "
            f"{HOW_TO_GET_ANOTHER}"
        )
    return _Plan(variables, (commands[0], commands[1]))


def planned(text: str) -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """The variables that nvcc sets and the commands that it runs, out of what a dry run prints."""
    variables: dict[str, str] = {}
    commands: list[tuple[str, ...]] = []
    for line in _PLAN_LINE.findall(text):
        assignment = _ASSIGNMENT.fullmatch(line)
        if assignment:
            variables[assignment["name"]] = assignment["value"]
        else:
            commands.append(_command(line, variables))
    return variables, commands


def _command(line: str, variables: dict[str, str]) -> tuple[str, ...]:
    """A line of the plan as an argument list whose temporary files lie in the current folder."""
    for name, value in variables.items():
        line = line.replace(f"${name}/", f"{value}/")
    return tuple(_TEMPORARY.sub("", _plain_name_of_unit(word)) for word in shlex.split(line))


def _plain_name_of_unit(word: str) -> str:
    return Path(word).name if word.endswith(f"/{UNIT}.cu") else word


def _header_folders(machine: Host, compiler: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Folders where the host compiler looks for system headers, and where it would (`g++ -v` lists both)."""
    text = _output_of(machine, (str(compiler), "-E", "-v", "-x", "c++", os.devnull))
    _, _, after = text.partition("#include <...> search starts here:")
    folders = after.partition("End of search list")[0].split("\n")
    looked_at = dict.fromkeys(os.path.normpath(f.strip()) for f in folders if f.strip())
    return tuple(looked_at), tuple(_ABSENT.findall(text))


def _output_of(machine: Host, argv: tuple[str, ...]) -> str:
    """Output of a program of the toolchain about itself."""
    try:
        return machine.output_of(argv)
    except subprocess.TimeoutExpired:
        reason = f"it did not answer within {_SECONDS} seconds"
    except (OSError, subprocess.SubprocessError) as problem:
        if limit := exhausted(problem):
            raise OurError(limit) from None
        reason = getattr(problem, "strerror", None) or str(problem)
    raise ToolMissing(f"{argv[0]} cannot be run: {reason}; {HOW_TO_GET_ANOTHER}")


_SECONDS = 60
_WHICH = "import shutil, sys; print(shutil.which(sys.argv[1], path=sys.argv[2]) or '')"
_REAL = "import os, sys; print(chr(10).join(map(os.path.realpath, sys.argv[1:])))"


class Host(Protocol):
    """Location of a compiler, this machine or the inside of a sandbox, and what can be asked there."""

    def output_of(self, argv: tuple[str, ...]) -> str:
        """Output of a program about itself, errors first; raises OSError or OurError if it cannot run."""

    def which(self, name: str, path: str) -> str:
        """Path of a program; empty where it does not exist."""

    def real_paths(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Paths without links, one for each path."""


def _empty_folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder; raises StorageError where none can be made."""
    try:
        return tempfile.TemporaryDirectory(prefix="grader-")
    except OSError as problem:
        if limit := exhausted(problem):
            raise StorageError(limit) from None
        raise StorageError(
            f"no temporary file can be written: {problem.strerror}; free some space, or set TMPDIR to "
            "another folder"
        ) from None


@frozen
class ThisMachine:
    """The grader's own machine."""

    def output_of(self, argv: tuple[str, ...]) -> str:
        """See `Host`; also raises subprocess.SubprocessError and StorageError."""
        with _empty_folder() as folder:
            done = subprocess.run(
                argv,
                cwd=folder,
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        return (done.stderr + done.stdout).decode(errors="replace")

    def which(self, name: str, path: str) -> str:
        """See `Host`."""
        return shutil.which(name, path=path) or ""

    def real_paths(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """See `Host`."""
        return tuple(map(os.path.realpath, paths))


@frozen
class Within:
    """The inside of a sandbox; nothing of a student's has run in it."""

    sandbox: Sandbox

    def output_of(self, argv: tuple[str, ...]) -> str:
        """See `Host`."""
        outcome = self.sandbox.run(Job(argv)).outcome
        return (outcome.stderr + outcome.stdout).decode(errors="replace")

    def which(self, name: str, path: str) -> str:
        """See `Host`."""
        return self._python_answer(_WHICH, name, path)

    def real_paths(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """See `Host`."""
        return tuple(self._python_answer(_REAL, *paths).split("\n"))

    def _python_answer(self, question: str, *arguments: str) -> str:
        python = self.sandbox.equipment.python
        outcome = self.sandbox.run(Job((python, "-I", "-S", "-c", question, *arguments))).outcome
        return outcome.stdout.decode(errors="replace").removesuffix("\n")
