"""Building a whole program: nvcc compiles the student's file and links it, and we learn what it calls.

    submission ─nvcc -c▶ object ─┬─ nvcc ──────▶ program
                                 └─ its symbols▶ does it call the CUDA runtime?

The steps are in `grader.nvcc.program_compiler`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.errors import OurError
from grader.model import Build
from grader.nvcc import cache as cache_folder
from grader.nvcc import diagnostics
from grader.nvcc.compiler import Refused
from grader.nvcc.diagnostics import Files
from grader.nvcc.program_compiler import ProgramCompiler, calls_device
from grader.nvcc.shown import harmless
from grader.nvcc.source import SOURCE_NAME, compile_files, line_count, remarks, with_remarks
from grader.sandbox import Limits, Stage

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import ProgramInterface, Submission
    from grader.nvcc.toolchain import Tools
    from grader.sandbox import Sandbox

LIMITS = Limits(disk_bytes=640 * 2**20)
"""How far each step may go; there is room for ten files as large as one may be, so that a disk which is full
is never a student's doing."""


def build_program(
    tools: Tools, submission: Submission, interface: ProgramInterface, architecture: str = ""
) -> Build:
    """Compile and link a submission; what was built before comes from the cache of the ``tools``.

    ``architecture`` is that of the GPU that will run it (``sm_90``); without one the program holds PTX alone.
    A submission at fault gives a build that is not ``ok``, with findings; a failure of ours is in ``error``.
    """
    if submission.problem is not None:
        return Build(ok=False, findings=(submission.problem,))
    try:
        return _kept(tools, submission, interface, architecture)
    except OurError as problem:
        return Build(ok=False, error=str(problem))


def _kept(tools: Tools, submission: Submission, interface: ProgramInterface, architecture: str) -> Build:
    """The build, from the cache where it is known."""
    began = time.perf_counter()
    folder: Path | None = tools.cache
    key = cache_folder.digest(submission, interface, tools.toolchain, LIMITS, architecture) if folder else ""
    stored = cache_folder.load(folder, key) if folder else None
    if stored is not None:
        return replace(stored, seconds=(("cache", time.perf_counter() - began),))
    with tools.sandbox.stage(Stage(LIMITS)) as sandbox:
        compiler = _compiler(tools, sandbox, submission, interface, architecture)
        made, lasting = _outcome(compiler)
    made = with_remarks(made, remarks(submission))
    if folder and lasting:
        cache_folder.store(folder, key, made)
    return made


def _compiler(
    tools: Tools, sandbox: Sandbox, submission: Submission, interface: ProgramInterface, architecture: str
) -> ProgramCompiler:
    sources = compile_files(submission, interface)
    headers = tuple(name for name, _ in sources if name != SOURCE_NAME)
    files = Files(harmless(submission.file), line_count(submission.source), headers, tools.toolchain.roots)
    return ProgramCompiler(
        tools.toolchain,
        sandbox,
        LIMITS,
        sources,
        files,
        architecture=architecture or f"compute_{tools.toolchain.architecture}",
    )


def _outcome(compiler: ProgramCompiler) -> tuple[Build, bool]:
    """The build, and whether it would come out the same another time."""
    try:
        made, lasting = _built(compiler), True
    except Refused as refusal:
        made, lasting = Build(ok=False, findings=refusal.findings, log=refusal.log), refusal.lasting
    seconds = tuple(compiler.seconds.items())
    return replace(
        made, toolkit=compiler.toolchain.version, source_name=SOURCE_NAME, seconds=seconds
    ), lasting


def _built(compiler: ProgramCompiler) -> Build:
    code, messages = compiler.compile()
    program = compiler.link(code)
    return Build(
        ok=True,
        warnings=diagnostics.warnings(messages, compiler.files),
        log=diagnostics.plain_log(messages, replace(compiler.files, checked=True)),
        program=program,
        calls_device=calls_device(code),
    )
