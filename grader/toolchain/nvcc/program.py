"""Building a whole program: nvcc compiles the student's file and links it, and we learn what it calls.

    submission ─nvcc -c▶ object ─┬─ nvcc ──────▶ program
                                 └─ its symbols▶ does it call the CUDA runtime?

nvcc starts half a dozen programs. Each preprocessor among them notes the files that it read, and so does the
assembler; no message of a compiler is shown before those lists are checked.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.base.errors import NotDoneHereError, OurError
from grader.base.records import frozen
from grader.model import Build, FindingCode, FunctionInterface, ProgramInterface
from grader.toolchain.nvcc import cache as cache_folder
from grader.toolchain.nvcc import diagnostics, driver, function, openmp
from grader.toolchain.nvcc.compiler import PREPROCESSED, Compiler
from grader.toolchain.nvcc.diagnostics import CompileRefused, Files, Message
from grader.toolchain.nvcc.kernel import student_names
from grader.toolchain.nvcc.macros import replaced_names
from grader.toolchain.nvcc.runtime import OBJECT as STAND_IN
from grader.toolchain.nvcc.runtime import call_lines, calls_of_runtime, stand_in
from grader.toolchain.nvcc.source import (
    EARLIER_CUDA,
    SOURCE_NAME,
    compile_files,
    harmless,
    line_count,
    part,
    problem,
    remarks,
    undefined_sizes,
    with_remarks,
)
from grader.toolchain.nvcc.toolchain import PTX, UNIT
from grader.toolchain.nvcc.units import (
    require_no_nested_launch,
    require_whole,
    sources_of,
    units_of,
    with_names_of,
)
from grader.toolchain.sandbox import COMPILING, Job, Stage, Status
from grader.toolchain.sandbox.local import check_room

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.model import Named, Submission
    from grader.toolchain.nvcc.toolchain import Tools
    from grader.toolchain.nvcc.units import Unit
    from grader.toolchain.sandbox import Outcome, Result, Sandbox

    _Asked: TypeAlias = "ProgramInterface | FunctionInterface"

OBJECT, PROGRAM, _ARCHIVE = f"{UNIT}.o", f"{UNIT}.out", "units.a"
_KEPT_PTX, _KEPT_UNIT = (SOURCE_NAME.removesuffix("cu") + ending for ending in ("ptx", "cpp1.ii"))
"""The device code as it goes into the object file, and what it is made of: nvcc keeps both if asked."""
_READ, _ASSEMBLED = f"{UNIT}.d", f"{UNIT}.asm.d"

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

_NOTED = ("SUNPRO_DEPENDENCIES", _READ)
"""Variable for the file to which preprocessors add what they read (GCC manual, "Environment Variables")."""

_RELAXED, _LAMBDAS = "--expt-relaxed-constexpr", "--extended-lambda"
"""Options of many makefiles that no program can ask for by itself: device code may call ``constexpr``
functions (``std::max``, ``std::numeric_limits``), and lambdas may be device code."""

_LAMBDA_FOR_DEVICE = re.compile(rb"\]\s*__(?:host|device)__")
"""``[=] __device__ (int i) {…}``: such lambdas include headers of the host, which take 0.4 s to compile."""

_CALLS_DEVICE = re.compile(r"cuda[A-Z]\w*|__cudaPushCallConfiguration|cu[A-Z]\w*|cu(?:blas|rand)[A-Z]\w*")
"""Names that a program needs only if it calls the runtime or the driver: ``<<<…>>>`` pushes a configuration.

The code that nvcc adds by itself, to register kernels and to launch each of them, has other names.
"""


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
        if self.label != SOURCE_NAME:
            host = (*host, f"-fdebug-prefix-map={SOURCE_NAME}={self.label}")
        options = ("-Xcompiler", ",".join(host), "-x", self.language, "-c", SOURCE_NAME, "-o", OBJECT)
        language: tuple[str, ...] = _EMULATED_LANGUAGE if self.emulated else _LANGUAGE
        if self.language == "c":
            language = language[1:]  # which names a standard of C++
        kept = (_KEPT_PTX, _KEPT_UNIT) if self.emulated and self.language == "cu" else ()
        argv = (*self._nvcc(), *language, *options, *(("--keep",) if kept else ()))
        job = Job(argv, self.sources, (OBJECT, _READ, _ASSEMBLED, *kept), self.limits, (_NOTED,))
        result = self._run("compile", job)
        outcome = driver.revealed(result.outcome)
        self._check_limits(outcome)
        noted = self._check_files(result)
        log = _text(outcome.stdout + outcome.stderr)
        messages = diagnostics.read_messages(driver.without_own_words(log))
        if not outcome.ok:
            require_no_nested_launch(self.files.source, messages)
            diagnostics.require_libraries(messages, replace(self.files, checked=True))
            raise self._not_compiled(log, messages, noted, outcome)
        code = self._output_file(result.file(OBJECT), "what-is-compiled")
        return Compiled(code, result.file(_KEPT_PTX), result.file(_KEPT_UNIT), messages)

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
        noted = _text(result.file(_READ))
        lists = (noted, _text(result.file(_ASSEMBLED)))
        read = (path for path in driver.files_read(lists) if path != self.label)
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


def calls_device(code: bytes) -> bool:
    """True if the student's own code calls the CUDA runtime or driver, by the names that it leaves open.

    What a program loads for itself (`dlopen` of libcuda) is not seen: without a GPU it runs and fails by
    itself. Raises OurError where the compiler made no object file.
    """
    try:
        return any(map(_CALLS_DEVICE.fullmatch, driver.undefined_names(code)))
    except ValueError as problem:
        raise OurError(f"the object file that the compiler made cannot be read: {problem}") from None


def _text(content: bytes | None) -> str:
    return (content or b"").decode(errors="replace")


LIMITS = replace(COMPILING, disk_bytes=640 * 2**20)
"""Limits of each step; there is room for ten files as large as one may be, so that a disk which is full
is never a student's doing."""


def build_program(
    tools: Tools,
    submission: Submission,
    interface: ProgramInterface | FunctionInterface,
    architecture: str = "",
) -> Build:
    """Compile and link a submission; what was built before comes from the cache of the ``tools``.

    A function is linked with a program that calls it.

    ``architecture`` is that of the GPU that will run it (``sm_90``); without one it is made for the emulator.
    A submission at fault gives a build that is not ``ok``, with findings; a failure of ours is in ``error``.
    """
    if submission.problem is not None:
        return Build(ok=False, findings=(submission.problem,))
    try:
        return _cached_build(tools, submission, interface, architecture)
    except OurError as problem:
        return Build(ok=False, error=str(problem), is_question=isinstance(problem, NotDoneHereError))


def _cached_build(tools: Tools, submission: Submission, interface: _Asked, architecture: str) -> Build:
    """The build, from the cache where it is known."""
    began = time.perf_counter()
    folder: Path | None = tools.cache
    key = cache_folder.digest(submission, interface, tools.toolchain, LIMITS, architecture) if folder else ""
    stored = cache_folder.load(folder, key) if folder else None
    if stored is not None:
        return replace(stored, seconds=(("cache", time.perf_counter() - began),))
    with tools.sandbox.stage(Stage(LIMITS)) as sandbox:
        compiler = _compiler(tools, sandbox, submission, interface, architecture)
        result, lasting = _outcome(compiler, tools, interface)
    result = with_remarks(result, remarks(submission))
    if folder and lasting:
        cache_folder.store(folder, key, result)
    return result


def _compiler(
    tools: Tools, sandbox: Sandbox, submission: Submission, interface: _Asked, architecture: str
) -> ProgramCompiler:
    sources = compile_files(submission, interface)
    headers = tuple(name for name, _ in sources if name != SOURCE_NAME)
    source = submission.source
    files = Files(
        harmless(submission.file), line_count(source), headers, tools.toolchain.roots, replaced_names(source)
    )
    return ProgramCompiler(
        tools.toolchain,
        sandbox,
        LIMITS,
        sources,
        files,
        architecture=architecture or f"compute_{tools.toolchain.architecture}",
        emulated=not architecture,
        units=units_of(submission, interface),
    )


def _outcome(compiler: ProgramCompiler, tools: Tools, interface: _Asked) -> tuple[Build, bool]:
    """The build, and whether it would come out the same another time; raises OurError for a library."""
    try:
        result, lasting = _built(compiler, tools, interface), True
    except CompileRefused as refusal:
        driver.require_libraries(refusal.messages)
        result, lasting = Build(ok=False, findings=refusal.findings, log=refusal.log), refusal.lasting
    seconds = tuple(compiler.seconds.items())
    return replace(
        result, toolkit=compiler.toolchain.version, source_name=SOURCE_NAME, seconds=seconds
    ), lasting


class _UnitBuild(NamedTuple):
    """A source with device code: its compiler, and what became of it."""

    compiler: ProgramCompiler
    compiled: Compiled


def _built(compiler: ProgramCompiler, tools: Tools, interface: _Asked) -> Build:
    _require_sizes(compiler, interface.built_with)
    device_units = [compiler.of_unit(unit) for unit in compiler.units if not unit.is_host]
    parts = [_UnitBuild(unit, unit.compile()) for unit in (compiler, *device_units)]
    called: Caller | None = None
    names: tuple[str, ...] = ()
    arrays: Named[str] = ()
    asked = interface.called_function
    if asked is not None:
        called = _caller(compiler, tools, asked, parts[0].compiled.code)
        names = function.parameter_names(dict(compiler.sources)[SOURCE_NAME], asked)
        arrays = student_names(asked.parameters, names)
    build = Build(
        ok=True,
        warnings=tuple(w for p in parts for w in diagnostics.warnings(p.compiled.messages, p.compiler.files)),
        log="".join(
            diagnostics.plain_log(p.compiled.messages, replace(p.compiler.files, checked=True)) for p in parts
        ),
        # Who calls a function asks the device, too.
        calls_device=called is not None or any(calls_device(part.compiled.code) for part in parts),
        parameters=names,
        student_names=arrays,
    )
    objects = Objects(tuple(part.compiled.code for part in parts))
    if not (compiler.emulated and build.calls_device):
        return replace(build, program=_linked(compiler, objects, b"", called))
    return _with_device_code(build, parts, _linked(compiler, objects, stand_in(tools), called))


def _with_device_code(build: Build, parts: list[_UnitBuild], program: bytes) -> Build:
    """The build of a program for the emulator: what its sources with device code become, and its lines."""
    compiler, units = parts[0].compiler, parts[0].compiler.units
    returns = calls_of_runtime(compiler.sandbox, program)
    labels = (SOURCE_NAME, *(unit.label for unit in units))
    places = call_lines(compiler.sandbox, program, labels, returns)
    pieces = {label: Build(True, source_name=SOURCE_NAME) for label in labels}
    for one in parts:
        default, hazards = one.compiler.both_ptx(one.compiled)
        if units:
            text = _text(dict(one.compiler.sources)[SOURCE_NAME])
            require_whole(one.compiler.files.source, text, default, one.compiled.messages)
        pieces[one.compiler.label] = replace(pieces[one.compiler.label], ptx=default, hazard_ptx=hazards)
    for label, piece in pieces.items():
        lines = tuple((address, line) for address, (name, line) in places.items() if name == label)
        pieces[label] = replace(piece, call_lines=lines)
    main = pieces[SOURCE_NAME]
    build = replace(build, program=program, others=tuple((unit.file, pieces[unit.label]) for unit in units))
    return replace(build, ptx=main.ptx, hazard_ptx=main.hazard_ptx, call_lines=main.call_lines)


def _linked(compiler: ProgramCompiler, objects: Objects, stand_in: bytes, called: Caller | None) -> bytes:
    """The program; files of the host are compiled where something is missing without them.

    A file beside a program that needs none of it, another program perhaps, is no part of it.
    """
    host = [compiler.of_unit(unit) for unit in compiler.units if unit.is_host]
    try:
        return compiler.link(objects, stand_in, called)
    except CompileRefused:
        if not host:
            raise
    codes, refusals = list[bytes](), list[CompileRefused]()
    for unit in host:
        try:
            codes.append(unit.compile().code)
        except CompileRefused as refusal:
            refusals.append(refusal)
    try:
        return compiler.link(objects._replace(archive=compiler.archive(codes)), stand_in, called)
    except CompileRefused as refusal:
        raise next(iter(refusals), refusal) from None


def _require_sizes(compiler: ProgramCompiler, sizes: Named[int]) -> None:
    """Raise CompileRefused for the first size that no file defines."""
    names = tuple((name, ()) for name, _ in sizes)
    for name in undefined_sizes(names, (text for _, text in compiler.sources))[:1]:
        file = compiler.files.source
        raise CompileRefused((problem(FindingCode.SIZE_TO_DEFINE, file, name=name, value=dict(sizes)[name]),))


def _caller(compiler: ProgramCompiler, tools: Tools, interface: FunctionInterface, code: bytes) -> Caller:
    """The program that calls the function of an object file; raises CompileRefused where there is none."""
    source = dict(compiler.sources)[SOURCE_NAME]
    symbol = function.called_symbol(code, source, interface, compiler.files.source)
    return Caller(function.caller(tools, interface), symbol)
