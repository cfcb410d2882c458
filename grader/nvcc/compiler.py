"""Running the toolchain on one submission: preprocess once, prune, compile twice side by side, assemble."""

from __future__ import annotations

import hashlib
import re
import shlex
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.errors import OurError, StorageError
from grader.model import Clause, Finding, FindingCode, Resources
from grader.nvcc import declarations, diagnostics, driver, preamble, pruning
from grader.nvcc.cache import is_writable, read_entry, write_entry
from grader.nvcc.diagnostics import CompileRefused
from grader.nvcc.problems import part, problem
from grader.nvcc.signature import read_name
from grader.nvcc.source import harmless
from grader.nvcc.toolchain import UNIT
from grader.sandbox import Job, Limits, Status
from grader.sandbox.last_words import own_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from grader.model import Named
    from grader.nvcc.diagnostics import Files, Message
    from grader.nvcc.toolchain import Toolchain, Tools
    from grader.sandbox import Outcome, Result, Sandbox

PREPROCESSED, PTX, DEPENDENCIES, CUBIN = f"{UNIT}.cpp1.ii", f"{UNIT}.ptx", f"{UNIT}.d", f"{UNIT}.cubin"

_PREPROCESSOR_OPTIONS = (
    *("-MD", "-MF", DEPENDENCIES, "-MT", UNIT),
    *("-idirafter", "."),
    "-fdiagnostics-color=never",
    "-fno-diagnostics-show-caret",
    f"-fmax-errors={diagnostics.MOST_FINDINGS + 5}",
)
_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
_DISK_FULL = b"No space left on device"
_KILLED = re.compile(
    rb"^\S{0,200}g\+\+\S{0,40}: fatal error: Killed signal terminated program \w+\n"
    rb"(?:compilation terminated\.\n)?\Z",
    re.MULTILINE,
)
"""The last words of g++ where what it started was killed. A source may speak so, but never last."""
_FILE_DIRECTIVE = re.compile(r'^(\s*\.file\s+\d+ ")([^"]*)(")', re.MULTILINE)
_LIBRARY_HEADER = re.compile(r"(?:.*/)?((?:cub|thrust|cooperative_groups)/.*)", re.DOTALL)
"""A header of a library, from the library's folder on: whose code it is matters, where it lies does not."""

_MEBIBYTE = 2**20
_DEFAULT_PTX = f"{UNIT}.default.ptx"


@dataclass(frozen=True, slots=True)
class Translation:
    """What cicc made of a compile unit; both texts are empty where a message is an error."""

    messages: tuple[Message, ...]
    preprocessed: str
    ptx: str = ""
    hazard_ptx: str = ""


@dataclass(frozen=True, slots=True)
class Compiler:
    """The toolchain at work on one submission; ``seconds`` collects wall time by step."""

    toolchain: Toolchain
    sandbox: Sandbox
    limits: Limits
    sources: Named[bytes]
    files: Files
    seconds: dict[str, float] = field(default_factory=dict)
    edit: Callable[[str], str] | None = None
    """What becomes of a preprocessed unit before it is compiled; None where it stays as it is."""
    memo: Path | None = None
    """The folder where it is kept which declarations headers have; None where units are compiled whole."""

    def translate(self, wrapper: bytes) -> Translation:
        """Preprocess and compile; raises CompileRefused where the preprocessor or a limit ends it."""
        quick = self._translate_quickly(wrapper)
        if quick is not None:
            return quick
        preprocessed = self.preprocess(wrapper)
        unit = self._edited(preprocessed)
        text = _decoded(preprocessed)
        silent = self._compile_pruned(unit)
        if silent is not None:
            self._remember_headers(unit)
            return Translation((), text, *silent)
        with ThreadPoolExecutor(2) as pool:
            content = unit.encode("latin-1")
            default = pool.submit(self._compile, "compile", self.toolchain.compile, content)
            hazard = pool.submit(
                self._compile, "compile-for-hazards", self.toolchain.compile_for_hazards, content
            )
            self._remember_headers(unit)
        texts = []
        for result in (default.result(), hazard.result()):
            self._check_limits(result.outcome)
            messages = diagnostics.read_messages(_decoded(result.outcome.stdout + result.outcome.stderr))
            failed = Translation(messages, text)
            if any(message.error for message in messages):
                return failed
            ptx = result.file(PTX)
            if not result.outcome.ok or ptx is None:
                raise self._gave_up(result.outcome)
            texts.append(self._ptx(ptx))
        messages = diagnostics.read_messages(_decoded(default.result().outcome.stderr))
        return Translation(messages, text, *texts)

    def _edited(self, preprocessed: bytes) -> str:
        unit = preprocessed.decode("latin-1")
        return self.edit(unit) if self.edit else unit

    def _translate_quickly(self, wrapper: bytes) -> Translation | None:
        """Both builds with CUDA's own headers from the memo; None without it, or where a tool says a word."""
        command = preamble.without_headers(self.toolchain.preprocess)
        if not (command and self._keeps_preamble() and preamble.bears_exchange(self.sources) and self.memo):
            return None
        headers = preamble.load(self.memo, self.toolchain)
        if headers is None:
            return None
        files = (*self.sources, (f"{UNIT}.cu", wrapper), (preamble.MACROS, headers.macros.encode("latin-1")))
        result = self._run("preprocess", self._preprocessing(command, files))
        text, dependencies = result.file(PREPROCESSED), result.file(DEPENDENCIES)
        if not result.outcome.ok or result.outcome.stderr or text is None or dependencies is None:
            return None
        self._check_origins(_decoded(dependencies), text)
        _, own = preamble.parted(text.decode("latin-1"))
        unit = (headers.text + own).encode("latin-1")
        silent = self._compile_pruned(self._edited(unit)) if own else None
        return None if silent is None else Translation((), _decoded(own.encode("latin-1")), *silent)

    def _keeps_preamble(self) -> bool:
        """Whether the toolchain is this machine's own: of an image's files nobody would see a change."""
        return not self.sandbox.equipment.nvcc

    def _remember_headers(self, unit: str) -> None:
        """Keep what will be the same in the next unit, unless it is kept, or there is nowhere to."""
        memo = self.memo
        if memo is None or not is_writable(memo / "headers"):
            return
        if self._keeps_preamble() and preamble.load(memo, self.toolchain) is None:
            empty = ((f"{UNIT}.cu", b""),)
            argv = self.toolchain.preprocess
            plain, with_macros = (
                self.sandbox.run(self._preprocessing(command, empty)) for command in (argv, (*argv, "-dD"))
            )
            texts = (plain.file(PREPROCESSED), with_macros.file(PREPROCESSED), plain.file(DEPENDENCIES))
            if all(texts) and plain.outcome.ok and with_macros.outcome.ok:
                text, defining, dependencies = (content.decode("latin-1") for content in texts if content)
                preamble.store(memo, self.toolchain, text, defining, driver.paths_of(dependencies))
        pruning.remember(unit, memo)

    def _compile_pruned(self, unit: str) -> tuple[str, str] | None:
        """Both builds of what is needed of a unit, in one job, for a compiler takes no longer than a sandbox.

        None where something is said, or goes wrong: that is to be said of the whole unit.
        """
        pruned = pruning.pruned(unit, self.memo) if self.memo else None
        if pruned is None:
            return None
        default_build = tuple(_DEFAULT_PTX if word == PTX else word for word in self.toolchain.compile)
        both = (default_build, self.toolchain.compile_for_hazards)
        argv = ("sh", "-c", " && ".join(map(shlex.join, both)))  # a sandbox need not have any other program
        files = ((PREPROCESSED, pruned.encode("latin-1")),)
        job = Job(argv, files, (_DEFAULT_PTX, PTX), self.limits, self.toolchain.environment)
        result = self._run("compile", job)
        default, hazard = result.file(_DEFAULT_PTX), result.file(PTX)
        spoken = result.outcome.stdout + result.outcome.stderr
        if not result.outcome.ok or spoken or default is None or hazard is None:
            return None
        return self._ptx(default), self._ptx(hazard)

    def assemble(self, ptx: str) -> Outcome:
        """What ptxas says about a PTX text."""
        argv = (self.toolchain.ptxas, f"-arch=sm_{self.toolchain.architecture}", "-v", PTX, "-o", CUBIN)
        result = self._run("assemble", Job(argv, ((PTX, ptx.encode()),), (), self.limits))
        self._check_limits(result.outcome)
        return result.outcome

    def refused(self, messages: tuple[Message, ...], *, preprocessing: bool = False) -> CompileRefused:
        """The refusal that the errors among ``messages`` make; raises ToolMissing for a broken toolchain."""
        files = replace(self.files, checked=not preprocessing)
        diagnostics.check_toolchain(messages, files)
        log = diagnostics.plain_log(messages, files)
        named = () if preprocessing and not any(map(diagnostics.missing_header, messages)) else messages
        return CompileRefused(diagnostics.errors(messages, files), log, messages=named)

    def _gave_up(self, outcome: Outcome) -> CompileRefused:
        status = outcome.returncode
        return CompileRefused((problem(FindingCode.COMPILER_GAVE_UP, self.files.source, status=status),))

    def preprocess(self, wrapper: bytes) -> bytes:
        """The unit as the compiler gets it; raises CompileRefused, for one where a header is missing."""
        files = (*self.sources, (f"{UNIT}.cu", wrapper))
        result = self._run("preprocess", self._preprocessing(self.toolchain.preprocess, files))
        self._check_limits(result.outcome)
        text, dependencies = result.file(PREPROCESSED), result.file(DEPENDENCIES)
        if not result.outcome.ok or text is None or dependencies is None:
            messages = diagnostics.read_messages(_decoded(result.outcome.stderr))
            if any(message.error for message in messages):
                raise self.refused(messages, preprocessing=True)
            raise self._gave_up(result.outcome)
        self._check_origins(_decoded(dependencies), text)
        return text

    def _preprocessing(self, command: tuple[str, ...], files: Named[bytes]) -> Job:
        argv = (*command, *_PREPROCESSOR_OPTIONS)
        return Job(argv, files, (PREPROCESSED, DEPENDENCIES), self.limits, self.toolchain.environment)

    def _check_origins(self, dependencies: str, preprocessed: bytes) -> None:
        """Refuse a unit that read a file of nobody's business; the dependency list cannot be forged."""
        ours = preamble.MACROS
        foreign = [
            path for path in driver.paths_of(dependencies) if path != ours and self.files.is_foreign(path)
        ]
        if foreign:
            text = _decoded(preprocessed)
            findings = (
                diagnostics.foreign_file(path, self.files, declarations.included_at(text, path))
                for path in foreign
            )
            raise CompileRefused(tuple(findings))

    def _compile(self, step: str, argv: tuple[str, ...], preprocessed: bytes) -> Result:
        job = Job(argv, ((PREPROCESSED, preprocessed),), (PTX,), self.limits, self.toolchain.environment)
        return self._run(step, job)

    def _run(self, step: str, job: Job) -> Result:
        result = self.sandbox.run(job)
        self.seconds[step] = self.seconds.get(step, 0.0) + result.outcome.seconds
        return result

    def _check_limits(self, outcome: Outcome) -> None:
        """Raise for a step that did not end by itself: CompileRefused, or OurError where it is our fault."""
        if _DISK_FULL in own_words(outcome.stderr):
            raise self._full()
        if outcome.status is Status.EXIT and _KILLED.search(outcome.stderr):
            raise OurError(f"the compiler was killed from outside (signal {signal.SIGKILL})")
        if outcome.status is Status.EXIT:
            return
        if outcome.status is Status.SIGNAL and -outcome.returncode not in _CRASHES:
            raise OurError(f"the compiler was killed from outside (signal {-outcome.returncode})")
        raise self._stopped(self._why_stopped(outcome))

    def _full(self) -> Exception:
        """What it means that there is no room left: the job's own folder is full, or this machine's disk."""
        if self.sandbox.shuts_in:
            most = self.limits.disk_bytes // _MEBIBYTE
            return self._stopped(part("compiler-disk", most=most))
        return StorageError("the compiler cannot write its files: the temporary folder's disk is full")

    def _why_stopped(self, outcome: Outcome) -> tuple[Clause, ...]:
        limits = self.limits
        if outcome.status is Status.TIME:
            return part("compiler-time", seconds=f"{outcome.seconds:.0f}")
        if outcome.status is Status.MEMORY:
            return part("compiler-memory", most=limits.memory_bytes // _MEBIBYTE)
        if outcome.status is Status.OUTPUT:
            return part("compiler-output", most=limits.file_bytes // _MEBIBYTE)
        return part("compiler-crashed", signal=-outcome.returncode)

    def _stopped(self, why: tuple[Clause, ...]) -> CompileRefused:
        """The refusal of a file with which the compiler did not come to its end."""
        finding = problem(FindingCode.COMPILER_STOPPED, self.files.source, why=why)
        return CompileRefused((finding,), lasting=False)

    def _ptx(self, content: bytes) -> str:
        """The PTX with every file by its plain name, so that it does not depend on where it was made."""
        return _FILE_DIRECTIVE.sub(self._plain_name, _decoded(content))

    def _plain_name(self, directive: re.Match[str]) -> str:
        path = directive[2]
        student_names = (name for name, _ in self.sources if path.endswith(f"/{name}"))
        library = _LIBRARY_HEADER.fullmatch(path)
        name = max(student_names, key=len, default=library[1] if library else path.rsplit("/", 1)[-1])
        return f"{directive[1]}{name}{directive[3]}"


def _decoded(text: bytes) -> str:
    """UTF-8 where it is, else byte by byte: a compiler repeats what the student wrote."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


_TOO_MUCH_SHARED = re.compile(
    r"Entry function '(?P<name>[^']+)' uses too much shared data \(0x(?P<used>[0-9a-f]+) bytes, "
    r"0x(?P<most>[0-9a-f]+) max\)"
)
_AT_LINE = re.compile(r"ptxas \S+, line (?P<line>\d+); (?:error|fatal)\s*: (?P<text>.*)")
_ERROR = re.compile(r"ptxas (?:error|fatal)\s*: (?P<text>.*)")
_ABORTED = "Ptx assembly aborted"
_FUNCTION = re.compile(
    r"ptxas info\s*: (?:Compiling entry function '|Function properties for )(?P<name>[\w$]+)"
)
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"(\d+) (registers|bytes smem|bytes cmem)")
_LOCATION = re.compile(r"\s*\.loc\s+\d+\s+(?P<line>\d+)")


def refusals(log: str, hazard_ptx: str, file: str, lines: Mapping[str, int]) -> tuple[Finding, ...]:
    """A finding for each error of ptxas.

    ``log`` is what it said about ``hazard_ptx``, whose ``.loc`` directives give the student's lines;
    ``lines`` says where kernels are declared, by their plain names.
    """
    findings: list[Finding] = []
    ptx = hazard_ptx.splitlines()
    for text in log.splitlines():
        shared, placed, other = _TOO_MUCH_SHARED.search(text), _AT_LINE.match(text), _ERROR.match(text)
        if shared:
            findings.append(_too_much_shared(shared, file, lines))
        elif placed:
            findings.append(_refused(placed, ptx, file))
        elif other and _ABORTED not in text:
            what = part("asm-text", text=harmless(other["text"]))
            findings.append(problem(FindingCode.ASM_REFUSED, file, what=what))
    return tuple(dict.fromkeys(findings))


def _too_much_shared(match: re.Match[str], file: str, lines: Mapping[str, int]) -> Finding:
    signature = read_name(match["name"])
    return problem(
        FindingCode.STATIC_SHARED_MEMORY,
        file,
        lines.get(signature.name),
        named=f"`{harmless(str(signature))}`",
        bytes=int(match["used"], 16),
        most=int(match["most"], 16),
    )


def _refused(match: re.Match[str], ptx: list[str], file: str) -> Finding:
    number = int(match["line"])
    before = (_LOCATION.match(line) for line in reversed(ptx[: number - 1]))
    location = next((location_above for location_above in before if location_above), None)
    instruction = ptx[number - 1].strip() if 0 < number <= len(ptx) else ""
    what = part("asm-instruction", instruction=harmless(instruction), text=harmless(match["text"]))
    return problem(FindingCode.ASM_REFUSED, file, int(location["line"]) if location else None, what=what)


def resources_of(log: str, entry: str) -> Resources:
    """What ``ptxas -v`` says of the kernel ``entry``, in bytes and registers per thread or block."""
    numbers: dict[str, int] = {}
    current = ""
    for line in log.splitlines():
        function = _FUNCTION.search(line)
        if function:
            current = function["name"]
        if current != entry:
            continue
        stack = _STACK.search(line)
        if stack:
            numbers["stack"] = int(stack[1])
            numbers["spill"] = int(stack[2]) + int(stack[3])
        for amount, what in _USED.findall(line):
            numbers[what] = numbers.get(what, 0) + int(amount)
    return Resources(
        registers=numbers.get("registers", 0),
        shared_bytes=numbers.get("bytes smem", 0),
        stack_bytes=numbers.get("stack", 0),
        spill_bytes=numbers.get("spill", 0),
        constant_bytes=numbers.get("bytes cmem", 0),
    )


OWN_SOURCE = "own.cu"
_LIMITS = Limits()
_LAST_WORDS = 300


def assemble(tools: Tools, ptx: str, architecture: str, *, optimised: bool = True) -> bytes:
    """What ptxas makes of a PTX text for an architecture such as ``sm_90``, with source lines.

    Raises OurError where it makes nothing: the same text was assembled for its own architecture before.
    """
    options = ("-lineinfo",) if optimised else ("-lineinfo", "-O0")
    argv = (tools.toolchain.ptxas, f"-arch={architecture}", *options, PTX, "-o", CUBIN)
    return _made(tools, argv, (PTX, ptx.encode()))


def compile_own(tools: Tools, source: bytes, architecture: str, *, optimised: bool = True) -> bytes:
    """A cubin of our own device code, which it calls `OWN_SOURCE`; raises OurError if nvcc refuses it."""
    options = ("-ccbin", tools.toolchain.host_compiler, "-cubin", f"-arch={architecture}", "-lineinfo")
    plain = () if optimised else ("-Xcicc", "-O0", "-Xptxas", "-O0")
    argv = (str(tools.toolchain.nvcc), *options, *plain, OWN_SOURCE, "-o", CUBIN)
    return _made(tools, argv, (OWN_SOURCE, source))


def _made(tools: Tools, argv: tuple[str, ...], file: tuple[str, bytes]) -> bytes:
    """The cubin that a command makes of a file, from the cache where it is known."""
    key = hashlib.sha256(repr((argv, tools.toolchain.version, file)).encode()).hexdigest()
    path = tools.cache / "cubins" / key[:2] / f"{key}.cubin" if tools.cache else None
    stored = read_entry(path) if path else None
    if stored is not None:
        return stored
    result = tools.sandbox.run(Job(argv, (file,), (CUBIN,), _LIMITS))
    cubin = result.file(CUBIN)
    if not result.outcome.ok or not cubin:
        words = " ".join((result.outcome.stdout + result.outcome.stderr).decode(errors="replace").split())
        raise OurError(f"no cubin could be made ({result.outcome.status}): {words[-_LAST_WORDS:]}")
    if path:
        write_entry(path, cubin)
    return cubin
