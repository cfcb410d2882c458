"""Running the toolchain on one submission: preprocess once, prune, compile twice side by side, assemble."""

from __future__ import annotations

import re
import shlex
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from typing import TYPE_CHECKING

from grader.base.errors import OurError, StorageError
from grader.base.records import frozen
from grader.model import Clause, FindingCode
from grader.toolchain.nvcc import declarations, diagnostics, driver, headers
from grader.toolchain.nvcc.cache import is_writable
from grader.toolchain.nvcc.diagnostics import CompileRefused
from grader.toolchain.nvcc.headers import Preprocessed
from grader.toolchain.nvcc.source import part, problem
from grader.toolchain.nvcc.toolchain import CUBIN, PTX, UNIT
from grader.toolchain.sandbox import Job, Limits, Status
from grader.toolchain.sandbox.exchange import own_words
from grader.toolchain.sandbox.local import check_room

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Named
    from grader.toolchain.nvcc.diagnostics import Files, Message
    from grader.toolchain.nvcc.toolchain import Toolchain
    from grader.toolchain.sandbox import Outcome, Result, Sandbox

PREPROCESSED, DEPENDENCIES = f"{UNIT}.cpp1.ii", f"{UNIT}.d"

_PREPROCESSOR_OPTIONS = (
    *("-MD", "-MF", DEPENDENCIES, "-MT", UNIT),
    *("-idirafter", "."),
    "-fdiagnostics-color=never",
    "-fno-diagnostics-show-caret",
    f"-fmax-errors={diagnostics.MOST_FINDINGS + 5}",
)
_LIMITS = {Status.TIME, Status.MEMORY, Status.OUTPUT}
_CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
_DISK_FULL = re.compile(rb"No space left on device|Disk quota exceeded")
_NO_PROCESS = b"Resource temporarily unavailable"
_KILLED = re.compile(
    rb"^\S{0,200}g\+\+\S{0,40}: fatal error: Killed signal terminated program \w+\n"
    rb"(?:compilation terminated\.\n)?\Z",
    re.MULTILINE,
)
"""The last words of g++ where what it started was killed. A source may speak so, but never last."""
_FILE_DIRECTIVE = re.compile(r'^(\s*\.file\s+\d+ ")([^"]*)(")', re.MULTILINE)
_LIBRARY_HEADER = re.compile(r"(?:.*/)?((?:cub|thrust|cooperative_groups)/.*)", re.DOTALL)
"""A header of a library, from the library's folder on: its library matters, its location does not."""

_MEBIBYTE = 2**20
_DEFAULT_PTX = f"{UNIT}.default.ptx"


@frozen
class Translation:
    """Output of cicc for a compile unit; both texts are empty where a message is an error."""

    messages: tuple[Message, ...]
    preprocessed: str
    ptx: str = ""
    hazard_ptx: str = ""


@frozen
class FastUnit:
    """A unit with headers from the cache, as it is compiled, and the preprocessed text behind them."""

    unit: str
    own: str


@frozen
class PrunedBuilds:
    """PTX of both builds of a pruned unit, empty where one failed; and True if no tool had a message."""

    ptx: str = ""
    hazard_ptx: str = ""
    silent: bool = False


@frozen
class Compiler:
    """The toolchain at work on one submission; ``seconds`` collects wall time by step."""

    toolchain: Toolchain
    sandbox: Sandbox
    limits: Limits
    sources: Named[bytes]
    files: Files
    seconds: dict[str, float] = field(default_factory=dict)
    edit: Callable[[str], str] | None = None
    """Change of a preprocessed unit before it is compiled; None where it stays as it is."""
    cache: Path | None = None
    """The folder of builds, which has what is known of headers, too; None where units are compiled whole."""

    def translate(self, wrapper: bytes) -> Translation:
        """Preprocess and compile; raises CompileRefused where the preprocessor or a limit ends it."""
        fast = self._fast_unit(wrapper)
        pruned = self._compile_pruned(fast.unit) if fast else None
        if fast and pruned and pruned.silent:
            return Translation((), fast.own, pruned.ptx, pruned.hazard_ptx)
        preprocessed = self.preprocess(wrapper)
        unit, text = self._edited(preprocessed), _decoded(preprocessed)
        pruned = pruned or self._compile_pruned(unit)
        if pruned and pruned.silent:
            self._cache_headers(unit)
            return Translation((), text, pruned.ptx, pruned.hazard_ptx)
        return self._translate_whole(unit, text, pruned)

    def _translate_whole(self, unit: str, text: str, pruned: PrunedBuilds | None) -> Translation:
        """Compile all of a unit, for the compiler's messages; side by side where nothing is known of it.

        Where a tool had messages on the pruned unit, an error ends it after one build. So does the same code:
        then that of the other build is the same, too.
        """
        content = unit.encode("latin-1")
        with ThreadPoolExecutor(2) as pool:
            default = pool.submit(self._compile, "compile", self.toolchain.compile, content)
            hazard = None if pruned else pool.submit(self._compile_for_hazards, content)
            self._cache_headers(unit)
        messages, ptx = self._outcome_of(default.result())
        if ptx is None:
            return Translation(messages, text)
        warnings = diagnostics.read_messages(_decoded(default.result().outcome.stderr))
        if pruned and pruned.ptx == ptx:
            return Translation(warnings, text, ptx, pruned.hazard_ptx)
        messages, hazard_ptx = self._outcome_of(
            hazard.result() if hazard else self._compile_for_hazards(content)
        )
        if hazard_ptx is None:
            return Translation(messages, text)
        return Translation(warnings, text, ptx, hazard_ptx)

    def _outcome_of(self, result: Result) -> tuple[tuple[Message, ...], str | None]:
        """Messages of a compiler, and its PTX; None where it reports an error."""
        self._check_limits(result.outcome)
        messages = diagnostics.read_messages(_decoded(result.outcome.stdout + result.outcome.stderr))
        if any(message.error for message in messages):
            return messages, None
        ptx = result.file(PTX)
        if not result.outcome.ok or ptx is None:
            raise self._gave_up(result.outcome)
        return messages, self._ptx(ptx)

    def _edited(self, preprocessed: bytes) -> str:
        unit = preprocessed.decode("latin-1")
        return self.edit(unit) if self.edit else unit

    def _fast_unit(self, wrapper: bytes) -> FastUnit | None:
        """The unit with headers from the cache; None without them, or where the preprocessor has a message.

        Raises CompileRefused where it reaches a limit.
        """
        fast = headers.fast_path(self.cache, self.toolchain, self.sandbox, self.sources)
        if fast is None:
            return None
        files = (*self.sources, (f"{UNIT}.cu", wrapper), fast.macros)
        result = self._run("preprocess", self._preprocessing(fast.command, files))
        self._require_end(result.outcome)
        text, dependencies = result.file(PREPROCESSED), result.file(DEPENDENCIES)
        if not result.outcome.ok or result.outcome.stderr or text is None or dependencies is None:
            return None
        self._check_origins(_decoded(dependencies), text)
        _, own = headers.headers_and_own_text(text.decode("latin-1"))
        if not own:
            return None
        unit = (fast.headers + own).encode("latin-1")
        return FastUnit(self._edited(unit), _decoded(own.encode("latin-1")))

    def _cache_headers(self, unit: str) -> None:
        """Keep what will be the same in the next unit, unless it is kept, or there is nowhere to."""
        if self.cache is None or not is_writable(self.cache / "headers"):
            return
        headers.remember_preamble(self.cache, self.toolchain, self.sandbox, self._preprocess_empty)
        headers.remember_declarations(unit, self.cache)

    def _preprocess_empty(self, command: tuple[str, ...]) -> Preprocessed | None:
        """Output of a command of the preprocessor for an empty unit; None where it fails."""
        result = self.sandbox.run(self._preprocessing(command, ((f"{UNIT}.cu", b""),)))
        text, dependencies = result.file(PREPROCESSED), result.file(DEPENDENCIES)
        if not (text and dependencies and result.outcome.ok):
            return None
        return Preprocessed(text.decode("latin-1"), tuple(driver.paths_of(dependencies.decode("latin-1"))))

    def _compile_pruned(self, unit: str) -> PrunedBuilds | None:
        """Both builds of what is needed of a unit, in one job, for a compiler takes no longer than a sandbox.

        None where nothing can be left out. Messages and failures must come from the whole unit.
        """
        pruned = headers.pruned(unit, self.cache) if self.cache else None
        if pruned is None:
            return None
        default_build = tuple(_DEFAULT_PTX if word == PTX else word for word in self.toolchain.compile)
        builds = (default_build, self.toolchain.compile_for_hazards)
        argv = ("sh", "-c", " && ".join(map(shlex.join, builds)))  # a sandbox need not have any other program
        files = ((PREPROCESSED, pruned.encode("latin-1")),)
        job = Job(argv, files, (_DEFAULT_PTX, PTX), self.limits, self.toolchain.environment)
        result = self._run("compile", job)
        default, hazard = result.file(_DEFAULT_PTX), result.file(PTX)
        if not result.outcome.ok or default is None or hazard is None:
            return PrunedBuilds()
        spoken = result.outcome.stdout + result.outcome.stderr
        return PrunedBuilds(self._ptx(default), self._ptx(hazard), silent=not spoken)

    def assemble(self, ptx: str) -> Outcome:
        """Run ptxas on a PTX text: see `grader.toolchain.nvcc.ptxas`."""
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
        findings = diagnostics.errors(messages, files)
        if all(finding.line is None for finding in findings):
            check_room(self.sandbox)
        return CompileRefused(findings, log, messages=named)

    def _gave_up(self, outcome: Outcome) -> CompileRefused:
        check_room(self.sandbox)
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
        """Refuse a unit that read a foreign file; the dependency list cannot be forged."""
        ours = headers.MACROS
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

    def _compile_for_hazards(self, preprocessed: bytes) -> Result:
        return self._compile("compile-for-hazards", self.toolchain.compile_for_hazards, preprocessed)

    def _compile(self, step: str, argv: tuple[str, ...], preprocessed: bytes) -> Result:
        job = Job(argv, ((PREPROCESSED, preprocessed),), (PTX,), self.limits, self.toolchain.environment)
        return self._run(step, job)

    def _run(self, step: str, job: Job) -> Result:
        result = self.sandbox.run(job)
        self.seconds[step] = self.seconds.get(step, 0.0) + result.outcome.seconds
        return result

    def _require_end(self, outcome: Outcome) -> None:
        """Refuse a file that reaches a limit without all headers: with them it would take no less."""
        if outcome.status in _LIMITS:
            self._check_limits(outcome)

    def _check_limits(self, outcome: Outcome) -> None:
        """Raise for a step that did not end by itself: CompileRefused, or OurError where it is our fault."""
        words = own_words(outcome.stderr)
        if _DISK_FULL.search(words):
            raise self._full()
        if _NO_PROCESS in words:
            raise OurError("the compiler could not start its programs: this machine runs as many as it may")
        # cudafe++ says so in a line that a source can forge: then the disk itself is asked.
        if _DISK_FULL.search(outcome.stdout + outcome.stderr):
            check_room(self.sandbox)
        if outcome.status is Status.EXIT and _KILLED.search(outcome.stderr):
            raise OurError(f"the compiler was killed from outside (signal {signal.SIGKILL})")
        if outcome.status is Status.EXIT:
            return
        if outcome.status is Status.SIGNAL:
            if -outcome.returncode not in _CRASHES:
                raise OurError(f"the compiler was killed from outside (signal {-outcome.returncode})")
            check_room(self.sandbox)
        if outcome.starved:
            raise OurError(
                f"the compiler was not done after {outcome.seconds:.0f} s, for this machine was too busy to "
                "let it work; try again while less runs here"
            )
        raise self._stopped(self._why_stopped(outcome))

    def _full(self) -> Exception:
        """Error for a lack of room: the job's own folder is full, or this machine's disk."""
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
