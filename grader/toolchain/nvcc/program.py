"""Building a whole program: nvcc compiles the student's file and links it, and we learn what it calls.

    submission ─nvcc -c▶ object ─┬─ nvcc ──────▶ program
                                 └─ its symbols▶ does it call the CUDA runtime?

Each of these steps is one of `grader.toolchain.nvcc.program_compiler`.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.base.errors import NotDoneHereError, OurError
from grader.model import Build, FindingCode, FunctionInterface, ProgramInterface
from grader.toolchain.nvcc import cache as cache_folder
from grader.toolchain.nvcc import diagnostics, driver, function
from grader.toolchain.nvcc.diagnostics import CompileRefused, Files
from grader.toolchain.nvcc.kernel import student_names
from grader.toolchain.nvcc.macros import replaced_names
from grader.toolchain.nvcc.program_compiler import Caller, Objects, ProgramCompiler
from grader.toolchain.nvcc.runtime import call_lines, calls_of_runtime, stand_in
from grader.toolchain.nvcc.source import (
    SOURCE_NAME,
    compile_files,
    harmless,
    line_count,
    problem,
    remarks,
    undefined_sizes,
    with_remarks,
)
from grader.toolchain.nvcc.units import require_whole, units_of
from grader.toolchain.sandbox import COMPILING, Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.model import Named, Submission
    from grader.toolchain.nvcc.program_compiler import Compiled
    from grader.toolchain.nvcc.toolchain import Tools
    from grader.toolchain.sandbox import Sandbox

    _Asked: TypeAlias = "ProgramInterface | FunctionInterface"

_CALLS_DEVICE = re.compile(r"cuda[A-Z]\w*|__cudaPushCallConfiguration|cu[A-Z]\w*|cu(?:blas|rand)[A-Z]\w*")
"""Names that a program needs only if it calls the runtime or the driver: ``<<<…>>>`` pushes a configuration.

The code that nvcc adds by itself, to register kernels and to launch each of them, has other names.
"""


def calls_device(code: bytes) -> bool:
    """True if the student's own code calls the CUDA runtime or driver, by the names that it leaves open.

    What a program loads for itself (`dlopen` of libcuda) is not seen: without a GPU it runs and fails by
    itself. Raises OurError where the compiler made no object file.
    """
    try:
        return any(map(_CALLS_DEVICE.fullmatch, driver.undefined_names(code)))
    except ValueError as problem:
        raise OurError(f"the object file that the compiler made cannot be read: {problem}") from None


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
        cache=tools.cache,
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
    if not compiler.emulated:
        return _compiled_and_linked(compiler, tools, interface, lambda: b"")
    # The very first time it takes as long as the submission, and another processor may have time for it.
    with ThreadPoolExecutor(1) as pool:
        return _compiled_and_linked(compiler, tools, interface, pool.submit(stand_in, tools).result)


def _compiled_and_linked(
    compiler: ProgramCompiler, tools: Tools, interface: _Asked, stand_in_of: Callable[[], bytes]
) -> Build:
    device_units = [compiler.of_unit(unit) for unit in compiler.units if not unit.is_host]
    parts = [_UnitBuild(unit, unit.compile()) for unit in (compiler, *device_units)]
    called: Caller | None = None
    names: tuple[str, ...] = ()
    arrays: Named[str] = ()
    called_function = interface.called_function
    if called_function is not None:
        called = _caller(compiler, tools, called_function, parts[0].compiled.code)
        names = function.parameter_names(dict(compiler.sources)[SOURCE_NAME], called_function)
        arrays = student_names(called_function.parameters, names)
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
    return _with_device_code(build, parts, _linked(compiler, objects, stand_in_of(), called))


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
            text = dict(one.compiler.sources)[SOURCE_NAME].decode(errors="replace")
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
