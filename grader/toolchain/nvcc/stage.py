"""The build of a kernel: compile the wrapper, find the kernel, check its parameters, assemble.

It is loaded where something is compiled: a build from the cache does without (`grader.toolchain.nvcc.build`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import PtxSyntaxError
from grader.base.records import frozen
from grader.model import Build, Finding, FindingCode, FindingKind, Severity, SourceRemark
from grader.simulation.ptx import parse
from grader.simulation.ptx.facts import is_inside_asm, origin, renames_lines
from grader.toolchain.nvcc import declarations, diagnostics, host_code
from grader.toolchain.nvcc.compiler import Compiler
from grader.toolchain.nvcc.constants import (
    assumed_constants,
    constants_everywhere,
    constants_of,
    failed_names,
    implied_constants,
    literal_constants,
    macros_taken_back,
    probed_names,
    probing_unit,
    take_probed_values,
)
from grader.toolchain.nvcc.diagnostics import CompileRefused, Files
from grader.toolchain.nvcc.kernel import (
    candidates,
    constants_of_instance,
    excluded_kernel,
    instances,
    missing_kernel,
    no_value,
    student_names,
    template_launches,
)
from grader.toolchain.nvcc.launch import missing_variable
from grader.toolchain.nvcc.macros import replaced_names
from grader.toolchain.nvcc.ptxas import refusals, resources_of
from grader.toolchain.nvcc.signature import read_entries
from grader.toolchain.nvcc.source import (
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
from grader.toolchain.sandbox import Stage

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import KernelInterface, Named, Submission
    from grader.simulation.ptx import Module
    from grader.toolchain.nvcc.compiler import Translation
    from grader.toolchain.nvcc.declarations import DeclaredKernel, OwnText
    from grader.toolchain.nvcc.diagnostics import Message
    from grader.toolchain.nvcc.kernel import Candidate, LeftOut
    from grader.toolchain.nvcc.signature import KernelEntry
    from grader.toolchain.nvcc.toolchain import Toolchain
    from grader.toolchain.sandbox import Limits, Sandbox

MOST_PTX_BYTES = 8 << 20
"""Bytes of PTX in a build: reading and linking instructions takes some three seconds for each million."""


def compiled(
    submission: Submission,
    interface: KernelInterface,
    *,
    sandbox: Sandbox,
    toolchain: Toolchain,
    cache: Path | None,
    limits: Limits,
) -> tuple[Build, bool]:
    """The build of a submission, and whether it would come out the same another time.

    What is known of headers is kept in the folder ``cache``. A submission at fault gives a build that is not
    ``ok``, with findings. Raises OurError (ToolMissing, StorageError) where the grader's machine is at fault.
    """
    with sandbox.stage(Stage(limits)) as inside:
        compiler = replace(_compiler(submission, interface, inside, toolchain, limits), cache=cache)
        result, lasting = _outcome(compiler, interface)
    return with_remarks(result, remarks(submission)), lasting


def _compiler(
    submission: Submission,
    interface: KernelInterface,
    sandbox: Sandbox,
    toolchain: Toolchain,
    limits: Limits,
) -> Compiler:
    sources = compile_files(submission, interface)
    headers = tuple(name for name, _ in sources if name != SOURCE_NAME)
    source = submission.source
    files = Files(
        harmless(submission.file), line_count(source), headers, toolchain.roots, replaced_names(source)
    )
    return Compiler(toolchain, sandbox, limits, sources, files)


def _outcome(compiler: Compiler, interface: KernelInterface) -> tuple[Build, bool]:
    """The build, and whether it would come out the same another time."""
    try:
        result, lasting = _built(compiler, interface), True
    except CompileRefused as refusal:
        kernel_alone = host_code.built_without_host_code(compiler, refusal, lambda c: _built(c, interface))
        result = kernel_alone or Build(ok=False, findings=refusal.findings, log=refusal.log)
        lasting = kernel_alone is not None or refusal.lasting
    seconds = tuple(compiler.seconds.items())
    toolkit = compiler.toolchain.version
    return replace(result, toolkit=toolkit, source_name=SOURCE_NAME, seconds=seconds), lasting


@frozen
class _Reading:
    """Contents of a compile unit: its PTX without our probes, the student's constants and kernels."""

    translation: Translation
    ptx: str
    hazard_ptx: str
    hazard_module: Module
    own: OwnText
    values: dict[str, int]
    constants: Named[int]
    assumed: tuple[str, ...]
    declared: tuple[DeclaredKernel, ...]
    entries: tuple[KernelEntry, ...]
    launches: tuple[tuple[str, ...], ...]
    """Template arguments that launches of the kernel have in the text."""
    candidates: tuple[Candidate, ...]


def _built(compiler: Compiler, interface: KernelInterface) -> Build:
    missing = undefined_sizes(interface.sizes, (text for _, text in compiler.sources))
    if missing:
        names = tuple(f"`{name}`" for name in missing)
        raise CompileRefused((problem(FindingCode.SIZE_NOT_DEFINED, compiler.files.source, choices=names),))
    translation, names = _probed(compiler, probed_names(interface))
    reading = _instantiated(
        compiler, interface, names, _read_translation(compiler, interface, translation, names)
    )
    kernel = reading.candidates[0]
    if kernel.problem:
        file, line = _declared_at(compiler, kernel.declared)
        raise CompileRefused((replace(kernel.problem, file=file, line=line),))
    lacking = missing_variable(interface, reading.ptx)
    if lacking:
        raise CompileRefused((replace(lacking, file=compiler.files.source),))
    log = _assembled(compiler, reading.ptx, reading.hazard_ptx, reading.declared)
    resources = resources_of(log, kernel.entry.name)
    of_instance = _instance_constants(interface, reading, kernel)
    shapes = _shapes(reading, kernel)
    assumed = tuple(name for name in reading.assumed if name not in of_instance)
    implied = implied_constants(interface, assumed, shapes)
    constants = tuple((dict(reading.constants) | of_instance | implied).items())
    reading = replace(reading, constants=constants, assumed=assumed)
    messages = reading.translation.messages
    parameters = kernel.declared.parameters if kernel.declared else ()
    return Build(
        ok=True,
        warnings=(
            *_not_allowed(compiler, interface, reading),
            *diagnostics.warnings(messages, compiler.files),
        ),
        ptx=reading.ptx,
        hazard_ptx=reading.hazard_ptx,
        entry=kernel.entry.name,
        constants=reading.constants,
        assumed=reading.assumed,
        instance=str(kernel.signature) if kernel.signature.template else "",
        resources=resources,
        log=diagnostics.plain_log(messages, compiler.files),
        parameter_bytes=tuple(parameter.bytes for parameter in kernel.entry.parameters),
        shared_shapes=shapes,
        implied=tuple(implied),
        parameters=parameters,
        student_names=student_names(interface.parameters, parameters),
        suspicions=declarations.suspicions(
            reading.own, kernel.declared, reading.hazard_module, kernel.entry.name, compiler.files.source
        ),
    )


def _probed(
    compiler: Compiler, names: tuple[str, ...], retries: int = 1
) -> tuple[Translation, tuple[str, ...]]:
    """Compile with a probe for each of ``names``, without those that turn out not to be numbers.

    Returns the names whose probes compile. Raises CompileRefused for errors of the student's own.
    """
    translation = compiler.translate(probing_unit(names))
    errors = tuple(m for m in translation.messages if m.error)
    if not errors:
        return translation, names
    if not names:
        raise compiler.refused(translation.messages)
    ours = diagnostics.wrapper_lines(errors)
    if len(ours) < len(errors):
        raise compiler.refused(diagnostics.without_probes(translation.messages))
    failed = failed_names(names, ours) if retries else None
    left = () if failed is None else tuple(name for name in names if name not in failed)
    return _probed(compiler, left, retries - 1)


def _read_translation(
    compiler: Compiler, interface: KernelInterface, translation: Translation, names: tuple[str, ...]
) -> _Reading:
    own_files = {SOURCE_NAME, *compiler.files.headers}
    text = declarations.own_text(translation.preprocessed, SOURCE_NAME, own_files)
    declared = declarations.kernels(text)
    module, hazard_module = _parsed(compiler, interface, translation, declared)
    entries = read_entries(module)
    ptx, probed = take_probed_values(translation.ptx, module, names)
    hazard_ptx, _ = take_probed_values(translation.hazard_ptx, hazard_module, names)
    taken_back = macros_taken_back(dict(compiler.sources)[SOURCE_NAME], probed_names(interface))
    literal = literal_constants(text.cpp, interface.kernel.rsplit("::", 1)[-1])
    constants = constants_of(interface, probed, taken_back, literal)
    plain_name = interface.kernel.rsplit("::", 1)[-1]
    values = constants_everywhere(text.cpp) | probed
    launches = template_launches(text.cpp, plain_name, values)
    return _Reading(
        translation=translation,
        ptx=ptx,
        hazard_ptx=hazard_ptx,
        hazard_module=hazard_module,
        own=text,
        values=literal | probed | dict(constants),
        constants=constants,
        assumed=assumed_constants(interface, probed, taken_back, literal),
        declared=declared,
        entries=entries,
        launches=launches,
        candidates=candidates(entries, interface, dict(constants), declared, launches),
    )


def _parsed(
    compiler: Compiler,
    interface: KernelInterface,
    translation: Translation,
    declared: tuple[DeclaredKernel, ...],
) -> tuple[Module, Module]:
    """The modules of both builds.

    Raises CompileRefused where the assembler does not take them either, or what cannot be read was written by
    hand and the assignment does not allow that; else PtxSyntaxError.
    """
    modules = []
    taken = max(len(translation.ptx), len(translation.hazard_ptx))
    if taken > MOST_PTX_BYTES:
        sizes = {"bytes": taken, "most": MOST_PTX_BYTES}
        raise CompileRefused((problem(FindingCode.PTX_TOO_LONG, compiler.files.source, **sizes),))
    for text in (translation.ptx, translation.hazard_ptx):
        try:
            modules.append(parse(text))
        except PtxSyntaxError as unread:
            _assembled(compiler, translation.ptx, translation.hazard_ptx, declared)
            source_line = origin(text, unread.ptx_line)
            ours = dict(interface.include)
            renamed = any(renames_lines(text) for name, text in compiler.sources if name not in ours)
            is_students = renamed or (
                source_line is not None and source_line.file in (SOURCE_NAME, *compiler.files.headers)
            )
            if not is_students or interface.inline_asm or not is_inside_asm(text, unread.ptx_line):
                raise
            line = (
                source_line.line if source_line and source_line.file == SOURCE_NAME and not renamed else None
            )
            finding = problem(FindingCode.ASM_NOT_READ, compiler.files.source, line)
            raise CompileRefused((replace(finding, kind=FindingKind.UNSUPPORTED),)) from None
    return modules[0], modules[1]


def _instantiated(
    compiler: Compiler, interface: KernelInterface, names: tuple[str, ...], reading: _Reading
) -> _Reading:
    """A reading that has the kernel: this one, or that of another compile which asks for an instance.

    Raises CompileRefused where there is no such kernel.
    """
    best = next(iter(reading.candidates), None)
    if best and not (best.problem and best.signature.template):
        return reading
    instantiated = {tuple(map(str, candidate.signature.template)) for candidate in reading.candidates}
    launches = [arguments for arguments in reading.launches if arguments not in instantiated]
    uses = instances(reading.declared, interface, dict(reading.constants), launches)
    if not uses and not best:
        raise CompileRefused((_not_there(compiler, interface, reading),))
    translation = compiler.translate(probing_unit(names, uses)) if uses else reading.translation
    errors = tuple(m for m in translation.messages if m.error)
    again = reading if errors else _read_translation(compiler, interface, translation, names)
    if again.candidates:
        return again
    raise CompileRefused((_no_instance(compiler, interface, reading, uses, errors),))


def _not_there(compiler: Compiler, interface: KernelInterface, reading: _Reading) -> Finding:
    """Finding where the file has no such kernel, or only a template without an instance."""
    name = interface.kernel.rsplit("::", 1)[-1]
    declared = next((kernel for kernel in reading.declared if kernel.name == name), None)
    if declared is None:
        hidden = excluded_kernel(compiler.sources, name)
        if hidden:
            return _removed_kernel(compiler, interface, hidden)
        return replace(
            missing_kernel(interface, reading.declared, reading.entries), file=compiler.files.source
        )
    file, line = _declared_at(compiler, declared)
    return replace(no_value(declared, interface), file=file, line=line)


def _removed_kernel(compiler: Compiler, interface: KernelInterface, hidden: LeftOut) -> Finding:
    """The finding for a kernel that the preprocessor takes away."""
    file = compiler.files.source if hidden.file == SOURCE_NAME else hidden.file
    return problem(
        FindingCode.KERNEL_LEFT_OUT,
        file,
        hidden.line,
        named=f"`{interface.kernel}`",
        directive=harmless(hidden.directive.text),
        directive_line=hidden.directive.line,
    )


def _shapes(reading: _Reading, kernel: Candidate) -> Named[tuple[int, ...]]:
    """The extents of the kernel's shared arrays, its template's parameters among the known names."""
    values = {**reading.values, **kernel.numbers}
    return declarations.shared_shapes(reading.own, values, kernel.declared)


def _instance_constants(interface: KernelInterface, reading: _Reading, kernel: Candidate) -> dict[str, int]:
    """The constants that the graded instance of a template gives; none where the kernel is no template."""
    if kernel.declared is None or not kernel.numbers:
        return {}
    return constants_of_instance(interface, kernel.numbers, reading.assumed, reading.own, kernel.declared)


def _no_instance(
    compiler: Compiler,
    interface: KernelInterface,
    reading: _Reading,
    uses: tuple[str, ...],
    errors: tuple[Message, ...],
) -> Finding:
    """The finding for a kernel that is declared but of which no PTX can be had."""
    kernel_name = interface.kernel.rsplit("::", 1)[-1]
    declared = next((k for k in reading.declared if k.name == kernel_name), None)
    file, line = _declared_at(compiler, declared)
    if not (declared and declared.template):
        return problem(FindingCode.KERNEL_WITHOUT_BODY, file, line, named=f"`{kernel_name}`")
    text = diagnostics.tidy(errors[0].text, compiler.files) if errors else ""
    return problem(
        FindingCode.TEMPLATE_DOES_NOT_COMPILE,
        file,
        line,
        named=f"`{kernel_name}`",
        instance=harmless(uses[0].lstrip(":")),
        text=text,
        reason=part("because", text=text) if text else (),
    )


def _assembled(compiler: Compiler, ptx: str, hazard_ptx: str, declared: tuple[DeclaredKernel, ...]) -> str:
    """Log of ptxas about the kernels; raises CompileRefused where they do not assemble."""
    outcome = compiler.assemble(ptx)
    log = (outcome.stdout + outcome.stderr).decode(errors="replace")
    if outcome.ok:
        return log
    with_locations = compiler.assemble(hazard_ptx)
    text = (with_locations.stdout + with_locations.stderr).decode(errors="replace")
    lines = {kernel.name: kernel.line for kernel in reversed(declared)}
    file = compiler.files.source
    findings = refusals(text, hazard_ptx, file, lines) or refusals(log, ptx, file, lines)
    raise CompileRefused(findings or (problem(FindingCode.ASM_REFUSED, file, what=part("asm-file")),))


def _not_allowed(compiler: Compiler, interface: KernelInterface, reading: _Reading) -> tuple[Finding, ...]:
    """A warning for each constant of the file that the assignment does not allow."""
    values = dict(reading.constants)
    findings = []
    for constant in interface.constants:
        expected = constant.wanted_instead_of(values[constant.name])
        if expected:
            finding = problem(
                FindingCode.CONSTANT_NOT_ALLOWED,
                compiler.files.source,
                name=constant.name,
                value=values[constant.name],
                wanted=(expected,),
            )
            findings.append(
                replace(
                    finding,
                    hazard=SourceRemark.CONSTANT,
                    address=constant.name,
                    severity=Severity.WARNING,
                )
            )
    return tuple(findings)


def _declared_at(compiler: Compiler, declared: DeclaredKernel | None) -> tuple[str, int | None]:
    """File and line where a kernel is declared, for messages."""
    if declared is None:
        return compiler.files.source, None
    return (compiler.files.source if declared.file == SOURCE_NAME else declared.file), declared.line
