"""nvcc at work on the sources of a whole program: each is compiled, and then they are linked.

nvcc starts half a dozen programs. Each preprocessor among them notes the files that it read, and so does the
assembler; no message of a compiler is shown before those lists are checked.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.model import FindingCode
from grader.toolchain.nvcc import diagnostics, driver, function, headers, openmp, program_headers
from grader.toolchain.nvcc.cache import is_writable
from grader.toolchain.nvcc.compiler import PREPROCESSED, Compiler
from grader.toolchain.nvcc.diagnostics import CompileRefused
from grader.toolchain.nvcc.program_headers import NOTED, READ
from grader.toolchain.nvcc.runtime import OBJECT as STAND_IN
from grader.toolchain.nvcc.source import EARLIER_CUDA, SOURCE_NAME, harmless, line_count, part, problem
from grader.toolchain.nvcc.toolchain import PTX, UNIT
from grader.toolchain.nvcc.units import require_no_nested_launch, sources_of, with_names_of
from grader.toolchain.sandbox import Job, Status
from grader.toolchain.sandbox.local import check_room

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.model import Named
    from grader.toolchain.nvcc.diagnostics import Message
    from grader.toolchain.nvcc.program_headers import Invocation, RuntimeHeader
    from grader.toolchain.nvcc.units import Unit
    from grader.toolchain.sandbox import Outcome, Result

OBJECT, PROGRAM, _ARCHIVE = f"{UNIT}.o", f"{UNIT}.out", "units.a"
_KEPT_PTX, _KEPT_UNIT = (SOURCE_NAME.removesuffix("cu") + ending for ending in ("ptx", "cpp1.ii"))
"""The device code as it goes into the object file, and what it is made of: nvcc keeps both if asked."""
_ASSEMBLED = f"{UNIT}.asm.d"

_LANGUAGE = ("-std=c++17", "-O2", "-lineinfo")
_HOST_OPTIONS = (
    *("-idirafter", "."),
    "-g1",  # the linker reports lines from it; it is stripped from the program
    "-fdiagnostics-color=never",
    "-fno-diagnostics-show-caret",
    f"-fmax-errors={diagnostics.MOST_FINDINGS + 5}",
    *("-Xassembler", "--MD", "-Xassembler", _ASSEMBLED),
)
_EMULATED_LANGUAGE = ("-std=c++17", "-O1", "-lineinfo")
_EMULATED_HOST_OPTIONS = ("-fno-crossjumping", "-fno-tree-tail-merge", "-fno-optimize-sibling-calls")
"""Options that give every call of a program for the emulator its own line: merged ends would share one."""

_RELAXED, _LAMBDAS = "--expt-relaxed-constexpr", "--extended-lambda"
"""Options of many makefiles that no program can ask for by itself: device code may call ``constexpr``
functions (``std::max``, ``std::numeric_limits``), and lambdas may be device code."""

_LAMBDA_FOR_DEVICE = re.compile(rb"\]\s*__(?:host|device)__")
"""``[=] __device__ (int i) {…}``: such lambdas include headers of the host, which take 0.4 s to compile."""


class Objects(NamedTuple):
    """The object files of a program, and an archive of others from which the linker takes what it needs."""

    linked: tuple[bytes, ...]
    archive: bytes = b""


class Compiled(NamedTuple):
    """Object file, its device code and what that is made of if nvcc kept them, and the messages."""

    code: bytes
    ptx: bytes | None
    unit: bytes | None
    messages: tuple[Message, ...]


class Caller(NamedTuple):
    """The object file of a program that calls a function, and the symbol of that function."""

    code: bytes
    symbol: str


@frozen
class ProgramCompiler(Compiler):
    """nvcc as the driver of a whole build; ``architecture`` is what its ``-arch`` gets."""

    architecture: str = ""
    emulated: bool = False
    """True if the program is to be linked with the stand-in for the runtime, if it calls that."""
    label: str = SOURCE_NAME
    """Name of the source in debug information: of several in one program each has its own."""
    language: str = "cu"
    units: tuple[Unit, ...] = ()
    """The further sources of the program."""

    def compile(self) -> Compiled:
        """Compile the source; raises CompileRefused where there is no object file."""
        host = (
            *_HOST_OPTIONS,
            *openmp.compiling(self.sources),
            *(_EMULATED_HOST_OPTIONS if self.emulated else ()),
        )
        options = ("-Xcompiler", ",".join(host), "-x", self.language, "-c", SOURCE_NAME, "-o", OBJECT)
        language: tuple[str, ...] = _EMULATED_LANGUAGE if self.emulated else _LANGUAGE
        if self.language == "c":
            language = language[1:]  # which names a standard of C++
        call = program_headers.Invocation(self._nvcc(), (*language, *options))
        return self._compiled_with_less(call) or self._compiled_whole(call)

    def _compiled_with_less(self, call: Invocation) -> Compiled | None:
        """The object file with what is needed of CUDA's header; None where it has to be whole, or it fails.

        Warnings are about what the file itself says, of which nothing is missing.
        """
        cache = self.cache
        if cache is None or not self._may_have_less():
            return None
        header = self._runtime_header(cache, call)
        if header is None:
            return None
        own = self._run("preprocess", program_headers.own_text_job(header, self.sources, self.limits))
        self._require_end(driver.revealed(own.outcome))
        reduced = program_headers.reduced(header, own, cache)
        if reduced is None:
            return None
        result = self._compile_program(call, ((program_headers.HEADER, reduced),))
        self._require_end(driver.revealed(result.outcome))
        self._check_files(result)
        messages = self._messages(result.outcome)
        code = result.file(OBJECT)
        if not (result.outcome.ok and code) or any(message.error for message in messages):
            return None
        return Compiled(code, result.file(_KEPT_PTX), result.file(_KEPT_UNIT), messages)

    @staticmethod
    def _messages(outcome: Outcome) -> tuple[Message, ...]:
        """The errors and warnings of all tools but nvcc itself."""
        return diagnostics.read_messages(driver.without_own_words(_text(outcome.stdout + outcome.stderr)))

    def _compiled_whole(self, call: Invocation) -> Compiled:
        """The object file, and the messages of the tools, with the whole of CUDA's header."""
        result = self._compile_program(call)
        outcome = driver.revealed(result.outcome)
        self._check_limits(outcome)
        noted = self._check_files(result)
        messages = self._messages(outcome)
        if not outcome.ok:
            log = _text(outcome.stdout + outcome.stderr)
            require_no_nested_launch(self.files.source, messages)
            diagnostics.require_libraries(messages, replace(self.files, checked=True))
            raise self._not_compiled(log, messages, noted, outcome)
        code = self._output_file(result.file(OBJECT), "what-is-compiled")
        return Compiled(code, result.file(_KEPT_PTX), result.file(_KEPT_UNIT), messages)

    def _compile_program(self, call: Invocation, files: Named[bytes] = ()) -> Result:
        """Run nvcc on the source, with ``files`` beside it."""
        label = f"-fdebug-prefix-map={SOURCE_NAME}={self.label}"
        labelled = ("-Xcompiler", label) if self.label != SOURCE_NAME else ()
        kept = (_KEPT_PTX, _KEPT_UNIT) if self.emulated and self.language == "cu" else ()
        argv = (*call.nvcc, *call.options, *labelled, *(("--keep",) if kept else ()))
        wanted = (OBJECT, READ, _ASSEMBLED, *kept)
        return self._run("compile", Job(argv, (*self.sources, *files), wanted, self.limits, (NOTED,)))

    def _may_have_less(self) -> bool:
        """True if nothing in the program could show that parts of CUDA's header are missing.

        cudafe++ puts what lambdas for the device need behind a place in the header. On a GPU no program
        was run that was compiled so.
        """
        return (
            self.emulated
            and self.language == "cu"
            and not self._has_lambdas
            and headers.may_be_kept(self.sandbox)
            and program_headers.may_be_reduced(self.sources)
        )

    def _runtime_header(self, cache: Path, call: Invocation) -> RuntimeHeader | None:
        """CUDA's header as it is kept; the first time it is read for all programs that follow."""
        header = program_headers.load(cache, self.toolchain, call)
        if header is None and is_writable(cache / "headers"):
            program_headers.remember(cache, self.toolchain, call, self.sandbox.run)
            header = program_headers.load(cache, self.toolchain, call)
        return header

    def both_ptx(self, compiled: Compiled) -> tuple[str, str]:
        """The PTX of a file that compiles, as it is optimised and as hazards are looked for in."""
        default = _text(self._output_file(compiled.ptx, "device-code"))
        words = (SOURCE_NAME if word == f"{UNIT}.cu" else word for word in self.toolchain.compile_for_hazards)
        argv = (*words, *((_LAMBDAS,) if self._has_lambdas else ()))
        files = ((PREPROCESSED, self._output_file(compiled.unit, "device-code")),)
        result = self._run("hazards", Job(argv, files, (PTX,), self.limits, self.toolchain.environment))
        self._check_limits(result.outcome)
        return default, with_names_of(default, _text(self._output_file(result.file(PTX), "device-code")))

    def link(self, code: Objects, stand_in: bytes = b"", caller: Caller | None = None) -> bytes:
        """The program, with its debug information if it has a ``stand_in``; raises CompileRefused.

        A ``caller`` is the ``main`` of a file that has a function instead.
        """
        files: tuple[tuple[str, bytes], ...] = tuple((f"{n}{OBJECT}", c) for n, c in enumerate(code.linked))
        objects = tuple(name for name, _ in files)
        if code.archive:
            files, objects = (*files, (_ARCHIVE, code.archive)), (*objects, _ARCHIVE)
        # NVIDIA's wheels have the runtime in this folder.
        options: tuple[str, ...] = (f"-L{self.toolchain.roots[0]}/lib", "-Xlinker", "-s")
        if stand_in:
            files = (*files, (STAND_IN, stand_in))
            options = ("-cudart", "none", "-Xcompiler", "-no-pie", STAND_IN)
        if caller:
            files = (*files, (function.OBJECT, caller.code))
            symbols = ("--wrap=main", f"--defsym={function.CALLED}={caller.symbol}")
            options = (*options, function.OBJECT, *(o for symbol in symbols for o in ("-Xlinker", symbol)))
        options = (*options, *openmp.linking(self.sources), "-o", PROGRAM)
        argv = (*self._nvcc(), "-nodlink", *objects, *options)
        result = self._run("link", Job(argv, files, (PROGRAM,), self.limits))
        outcome = driver.revealed(result.outcome)
        log = _text(outcome.stdout + outcome.stderr)
        if driver.fatal(log):
            raise OurError(f"nvcc cannot link: {harmless(driver.fatal(log))}")
        if (outcome.status is Status.EXIT and not outcome.ok) or driver.too_large(log):
            labels = {unit.label: unit.file for unit in self.units}
            messages = driver.linker_messages(log, (*self.files.headers, *labels))
            if self.units and [m.problem and m.problem.code for m in messages] == [FindingCode.NO_MAIN]:
                messages = (driver.problem_message(problem(FindingCode.NO_MAIN_ANYWHERE)),)
            raise self.refused(tuple(replace(m, file=labels.get(m.file, m.file)) for m in messages))
        self._check_limits(outcome)
        return self._output_file(result.file(PROGRAM), "the-program")

    def archive(self, objects: Iterable[bytes]) -> bytes:
        """Object files of which a linker takes what it needs."""
        files = tuple((f"{number}{OBJECT}", code) for number, code in enumerate(objects))
        argv = ("ar", "rcs", _ARCHIVE, *(name for name, _ in files))
        result = self._run("archive", Job(argv, files, (_ARCHIVE,), self.limits))
        return self._output_file(result.file(_ARCHIVE), "what-is-compiled")

    def of_unit(self, unit: Unit) -> ProgramCompiler:
        """The compiler of a further source."""
        sources = sources_of(unit, self.sources)
        lines = line_count(dict(sources)[SOURCE_NAME])
        files = replace(self.files, source=harmless(unit.file), lines=lines)
        return replace(self, sources=sources, files=files, label=unit.label, language=unit.language)

    @property
    def _has_lambdas(self) -> bool:
        return any(_LAMBDA_FOR_DEVICE.search(text) for _, text in self.sources)

    def _nvcc(self) -> tuple[str, ...]:
        compiler = ("-ccbin", self.toolchain.host_compiler)
        device_code = (_RELAXED, _LAMBDAS) if self._has_lambdas else (_RELAXED,)
        earlier = ("-include", EARLIER_CUDA) if EARLIER_CUDA in dict(self.sources) else ()
        return (str(self.toolchain.nvcc), *compiler, f"-arch={self.architecture}", *device_code, *earlier)

    def _check_files(self, result: Result) -> str:
        """Refuse a file that read a foreign one; gives what the preprocessors noted."""
        noted = _text(result.file(READ))
        lists = (noted, _text(result.file(_ASSEMBLED)))
        read = (path for path in driver.files_read(lists) if path not in (self.label, program_headers.HEADER))
        foreign = [path for path in read if self.files.is_foreign(path)]
        if foreign:
            raise CompileRefused(
                tuple(diagnostics.foreign_file(path, self.files, self._mention(path)) for path in foreign)
            )
        return noted

    def _mention(self, path: str) -> tuple[str, int] | None:
        """The student's file and line that name a file, for what they include plainly."""
        name = path.rsplit("/", 1)[-1]
        for file, text in self.sources:
            for number, line in enumerate(_text(text).split("\n"), 1):
                if name in line and "inc" in line:
                    return file, number
        return None

    def _not_compiled(
        self, log: str, messages: tuple[Message, ...], noted: str, outcome: Outcome
    ) -> CompileRefused:
        """Error for a missing object file; raises OurError where nvcc itself is at a loss."""
        if driver.fatal(log) and not noted:
            raise OurError(f"nvcc cannot compile: {harmless(driver.fatal(log))}")
        reasons = messages if any(message.error for message in messages) else driver.assembler_messages(log)
        if not reasons:
            return self._gave_up(outcome)
        return self.refused(reasons, preprocessing=not driver.is_preprocessed(noted, log))

    def _output_file(self, content: bytes | None, what: str) -> bytes:
        """A file that a step must have left; raises CompileRefused where it was too large to come back."""
        if not content:
            check_room(self.sandbox)
            most = self.limits.file_bytes // 2**20
            finding = problem(FindingCode.TOO_LARGE_TO_KEEP, self.files.source, what=part(what), most=most)
            raise CompileRefused((finding,))
        return content


def _text(content: bytes | None) -> str:
    return (content or b"").decode(errors="replace")
