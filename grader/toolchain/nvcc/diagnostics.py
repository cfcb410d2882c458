"""Output of the compilers → messages → findings in the student's own file and lines.

Source lines that a compiler quotes are never passed on: an ``#include`` may point at anything. Messages
from files that are neither the student's, the course's nor the toolchain's lose their text, too.
"""

from __future__ import annotations

import os
import re
from dataclasses import field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from grader.base.errors import NotDoneHereError, ToolMissing
from grader.base.records import frozen
from grader.model import Clause, Finding, FindingCode, FindingKind, Severity
from grader.toolchain.nvcc.library_names import LIBRARIES, header_of, intended_name
from grader.toolchain.nvcc.source import EARLIER_CUDA, SOURCE_NAME, harmless, part, problem
from grader.toolchain.nvcc.toolchain import UNIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.toolchain.nvcc.macros import ReplacedName


WRAPPER = f"{UNIT}.cu"
MOST_FINDINGS = 20
_LONGEST_LINE = 4000

_GCC = re.compile(
    r"(?P<file>[^:\n]+)(?::(?P<line>\d+))?(?::\d+)?: (?P<kind>fatal error|error|warning|note): (?P<text>.*)"
)
_CICC = re.compile(
    r"(?P<file>[^()\n]+)\((?P<line>\d+)\): (?P<kind>[a-z ]*error|warning|note|remark)"
    r"(?: #(?P<number>[\w-]+))?: (?P<text>.*)"
)
_NOWHERE = re.compile(
    r"(?P<place>At end of source: )?(?P<kind>[a-z ]*error)(?: #(?P<number>[\w-]+))?\s*: (?P<text>.*)"
)
_DETAIL = re.compile(r"\s+(?P<text>[a-z]+ types are: .*)")
_ORIGIN = re.compile(r'\bat line (?P<line>\d+)(?: of "?(?P<file>[^"\n]+?)"?)?$')
_MATCHING_BRACE = 'to match this "{"'
_MISSING = re.compile(r"(?P<name>.+): No such file or directory$")
_LIBRARY_HEADERS = {
    **dict.fromkeys(("cublas.h", "cublas_v2.h", "cublasLt.h"), "cuBLAS"),
    **dict.fromkeys(("cufft.h", "cufftXt.h"), "cuFFT"),
    **dict.fromkeys(("curand.h", "curand_kernel.h"), "cuRAND"),
    **dict.fromkeys(("cusolverDn.h", "cusolverSp.h"), "cuSOLVER"),
    "cusparse.h": "cuSPARSE",
    **dict.fromkeys(("npp.h", "nppi.h"), "NPP"),
    "nvToolsExt.h": "NVTX",
    "cudnn.h": "cuDNN",
    "nccl.h": "NCCL",
    "mpi.h": "MPI",
    "opencv.hpp": "OpenCV",
    **dict.fromkeys(("helper_math.h", "helper_image.h", "helper_cuda_gl.h"), "NVIDIA's samples"),
    **dict.fromkeys(("cutil.h", "cutil_inline.h"), "NVIDIA's samples"),
}
"""Headers of libraries that a toolkit may come without, by the names that students include."""

_UNDEFINED = re.compile(r"identifier \"(?P<name>\w+)\" is undefined$", re.ASCII)
"""Message of the compiler about a name that nothing declares."""

_LIBRARY_FOLDERS = {
    **dict.fromkeys(("opencv2", "opencv"), "OpenCV"),
    "GL": "OpenGL",
    "CL": "OpenCL",
    "nvtx3": "NVTX",
    "boost": "Boost",
    "Eigen": "Eigen",
    "cutlass": "CUTLASS",
}
"""The folders that other libraries have their headers in."""

_WINDOWS_HEADERS = frozenset(("windows.h", "conio.h", "process.h", "tchar.h", "stdafx.h"))
"""Headers of Windows and of its compiler, by their names in small letters."""

_OPTION = re.compile(r" \[-W[\w=+-]+\]$")
_ADVICE = re.compile(r" \(use -f[^)]*\)")
_UNSUPPORTED_HOST = re.compile(r"unsupported GNU version|unsupported clang version")


SourceLine: TypeAlias = tuple[str, int]
"""A file and a line of it."""

END_OF_UNIT: SourceLine = ("", 0)
"""The end of the unit, where a compiler misses what was not closed."""


class CompileRefused(Exception):  # noqa: N818 - the compiler's verdict on a submission; never leaves `build`
    """The submission does not compile; ``lasting`` unless another time, or machine, might see it compile.

    ``messages`` are the compiler's, where the reason are errors in the text or headers that are not there.
    """

    def __init__(
        self,
        findings: tuple[Finding, ...],
        log: str = "",
        *,
        lasting: bool = True,
        messages: tuple[Message, ...] = (),
    ) -> None:
        super().__init__(log)
        self.findings = findings
        self.log = log
        self.lasting = lasting
        self.messages = messages


@frozen
class Message:
    """Message of a compiler; ``file`` is as it spelt it, empty for none."""

    error: bool
    text: str
    file: str = ""
    line: int | None = None
    origin: tuple[str, int] | None = None
    """Place where a template was used that the message is about."""
    problem: Finding | None = None
    """Finding in our words, where the message of a program has none for students."""


@frozen
class Files:
    """Files that a message may come from; ``source`` is the student's file name, of ``lines`` lines."""

    source: str
    lines: int
    headers: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    replaced: Mapping[int, ReplacedName] = field(default_factory=dict)
    """Names that lines of the student's file declare, and that macros take the place of."""
    checked: bool = False
    """True if it is certain by now that no other file was read; other names then come from ``#line``."""

    def is_own(self, path: str) -> bool:
        """True if the path is the submission or a header that came with it or with the assignment."""
        return os.path.normpath(path) in (SOURCE_NAME, *self.headers)

    def is_toolchain(self, path: str) -> bool:
        """True if the path is in the toolkit or among the system's headers."""
        normal = os.path.normpath(path)
        return normal.startswith(tuple(f"{root}/" for root in self.roots)) or path.startswith("<")

    def is_foreign(self, path: str) -> bool:
        """True if the path is of neither kind, nor ours: no compile should have read it."""
        is_expected = self.is_own(path) or self.is_toolchain(path) or os.path.normpath(path) == WRAPPER
        return not (is_expected or self.checked)


def read_messages(log: str) -> tuple[Message, ...]:
    """The errors and warnings in what gcc or cicc printed, in order, each once."""
    result: list[Message] = []
    noting = False
    for line in (whole[:_LONGEST_LINE] for whole in log.splitlines()):
        match = _NOWHERE.match(line) or _CICC.match(line) or _GCC.match(line)
        if match is None:
            if result:
                result[-1] = _continued(result[-1], line, about_note=noting)
            continue
        fields = match.groupdict()
        noting = fields["kind"] in ("note", "remark")
        if not noting:
            result.append(_message(fields))
        elif result and _MATCHING_BRACE in fields["text"]:
            result[-1] = replace(
                result[-1], text=f'{result[-1].text} to match the "{{" in line {fields["line"]}'
            )
    return tuple(dict.fromkeys(result))


_UNSET_VARIABLE = ("549-D", "used before its value is set")
"""Message of nvcc for a local variable without a value: in a register, where no memory access shows it."""


def _message(fields: dict[str, str | None]) -> Message:
    text = _OPTION.sub("", fields["text"] or "")
    if fields.get("number"):
        text += f" (#{fields['number']})"
    if fields.get("place"):
        return Message(True, f"at the end of the file: {text}", WRAPPER, 1)
    number = fields.get("line")
    line = int(number) if number else None
    return Message(fields["kind"] != "warning", text, fields.get("file") or "", line)


def _continued(message: Message, line: str, *, about_note: bool) -> Message:
    """Message with what the next line adds: types that do not fit, and the use of the template."""
    detail, origin = _DETAIL.match(line), _ORIGIN.search(line)
    if detail and not about_note:
        return replace(message, text=f"{message.text}; {detail['text']}")
    if origin and line.startswith(" "):
        return replace(message, origin=(origin["file"] or message.file, int(origin["line"])))
    return message


def errors(messages: Iterable[Message], files: Files) -> tuple[Finding, ...]:
    """A finding per error, capped."""
    return _capped([_finding(m, files) for m in messages if m.error], "error")


def warnings(messages: Iterable[Message], files: Files) -> tuple[Finding, ...]:
    """A finding per warning about the student's own files, capped."""
    student_warnings = (m for m in messages if not m.error and files.is_own(m.file))
    return _capped(
        [replace(_finding(m, files), severity=Severity.WARNING) for m in student_warnings], "warning"
    )


def wrapper_lines(messages: Iterable[Message]) -> tuple[int, ...]:
    """The lines of our wrapper that errors are about."""
    return tuple(m.line or 1 for m in messages if m.error and os.path.normpath(m.file) == WRAPPER)


def without_probes(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages but those about probes; what ends the student's file too early is on the first line."""
    return tuple(m for m in messages if os.path.normpath(m.file) != WRAPPER or m.line == 1)


def plain_log(messages: Iterable[Message], files: Files) -> str:
    """The messages again, one a line, without quotes of source lines."""
    return "\n".join(_log_line(_finding(m, files), m) for m in messages)


def _log_line(finding: Finding, message: Message) -> str:
    where = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{where}: {'error' if message.error else 'warning'}: {finding.message}"


def places(messages: Iterable[Message], files: Files) -> frozenset[SourceLine] | None:
    """Lines of the errors among ``messages``; None where one of them is in no line of the student's."""
    lines: set[SourceLine] = set()
    for message in (m for m in messages if m.error):
        if os.path.normpath(message.file) == WRAPPER and message.line == 1:
            lines.add(END_OF_UNIT)
            continue
        candidates = (
            p for p in ((message.file, message.line), message.origin) if p and p[0] and files.is_own(p[0])
        )
        line = next(candidates, None)
        if line is None or line[1] is None:
            return None
        lines.add((os.path.normpath(line[0]), line[1]))
    return frozenset(lines)


def missing_header(message: Message) -> str:
    """The name of the header that the message says is missing; empty for another message."""
    missing = _MISSING.match(message.text)
    return missing["name"] if missing and message.error else ""


def require_libraries(messages: Iterable[Message], files: Files) -> None:
    """Raise NotDoneHereError where nothing is wrong but that libraries are not installed, or not whole."""
    errors = [message for message in messages if message.error]
    errors.sort(key=lambda message: _undefined(message).isupper())  # a function says more than its constants
    missing = [missing_header(message) for message in errors]
    unknown = [_unknown_of_library(message, files) for message in errors]
    if not (errors and all(_library(header) or name for header, name in zip(missing, unknown, strict=True))):
        return
    file, line = _file_and_line(errors[0], files)
    if unknown[0]:
        name = LIBRARIES[header_of(unknown[0])]
        raise NotDoneHereError(f"not supported here: `{unknown[0]}` of {name}: {file}, line {line}")
    library = f"{_library(missing[0])}, whose header `{missing[0]}` is not installed"
    advice = "remove the #include if nothing of it is used"
    raise NotDoneHereError(f"not supported here: {library}: {file}, line {line}; {advice}")


def _unknown_of_library(message: Message, files: Files) -> str:
    """Name that our header of a library lacks; empty where no file includes it, or the name is misspelt."""
    name = _undefined(message)
    return name if header_of(name) in files.headers and not intended_name(name) else ""


def _undefined(message: Message) -> str:
    """Name that the message reports as undeclared; empty for another message."""
    undefined = _UNDEFINED.search(message.text)
    return undefined["name"] if undefined else ""


def _library(header: str) -> str:
    """The library that a header belongs to; empty where it is of none that many programs use."""
    folder, slash, _ = header.partition("/")
    return _LIBRARY_HEADERS.get(header, "") or (_LIBRARY_FOLDERS.get(folder, "") if slash else "")


def check_toolchain(messages: Iterable[Message], files: Files) -> None:
    """Raise ToolMissing where a message shows that the toolchain is incomplete or does not fit together."""
    for message in messages:
        broken = _MISSING.match(message.text) or _UNSUPPORTED_HOST.search(message.text)
        if broken and message.error and files.is_toolchain(message.file):
            raise ToolMissing(
                f"this nvcc and g++ do not work together: {tidy(message.text, files)}; "
                "`grader doctor` says what is installed"
            )


def _finding(message: Message, files: Files) -> Finding:
    if message.file and files.is_foreign(message.file):
        return foreign_file(message.file, files, None)
    file, line = _file_and_line(message, files)
    if message.problem is not None:
        return replace(message.problem, file=file, line=line)
    if _MISSING.match(message.text):
        return replace(_missing_header(message, files), file=file, line=line)
    text, parts = tidy(message.text, files), _parts_of_ours(message, files)
    if any(parts.values()):
        return problem(FindingCode.COMPILER_MESSAGE, file, line, text=text, **parts)
    unset = any(sign in message.text for sign in _UNSET_VARIABLE)
    code = FindingCode.UNSET_VARIABLE_REPORTED if unset else FindingCode.UNSPECIFIED
    by_macro = files.replaced.get(line or 0) if file == files.source else None
    details = (("macro", by_macro.name), ("defined", by_macro.line)) if by_macro else ()
    return Finding(FindingKind.COMPILE, text, file=file, line=line, code=code, details=details)


def _parts_of_ours(message: Message, files: Files) -> dict[str, tuple[Clause, ...]]:
    """Additions of ours to a compiler's sentence: whose header it is in, and what to write instead."""
    in_header = message.file and files.is_toolchain(message.file) and not message.file.startswith("<")
    name = harmless(message.file.rsplit("/", 1)[-1])
    return {
        "used_by": part("in-header", name=name) if in_header else (),
        "removed": _to_write_instead(message, files),
    }


def _to_write_instead(message: Message, files: Files) -> tuple[Clause, ...]:
    """Spelling of something since CUDA 13, or in the library whose header is ours."""
    if written := replacement_of_removed(message.text):
        return part("removed-from-cuda", written=written)
    if _LOCATION_WANTED in message.text:
        return part("changed-in-cuda", written=_LOCATION)
    name = _undefined(message)
    misspelt = intended_name(name) if header_of(name) in files.headers else ""
    return part("misspelt-name", name=misspelt) if misspelt else ()


def _file_and_line(message: Message, files: Files) -> tuple[str, int | None]:
    """The file and line to name: the student's, where the message is about what they use."""
    if os.path.normpath(message.file) == WRAPPER:
        return files.source, files.lines
    for path, line in ((message.file, message.line), *([message.origin] if message.origin else [])):
        if path and files.is_own(path):
            normal = os.path.normpath(path)
            return (files.source if normal == SOURCE_NAME else normal), line
    return files.source, None


def foreign_file(path: str, files: Files, included_at: tuple[str, int] | None) -> Finding:
    """The finding for a file that was read but is not part of the submission; never its content."""
    file, line = _file_and_line(Message(True, "", *(included_at or ("", None))), files)
    return problem(FindingCode.FOREIGN_FILE, file, line, name=harmless(path.rsplit("/", 1)[-1]))


def _missing_header(message: Message, files: Files) -> Finding:
    missing = _MISSING.match(message.text)
    name = missing["name"] if missing else ""
    headers = [header for header in files.headers if header != EARLIER_CUDA]
    alike = get_close_matches(name, headers, 1)
    if library := _library(name):
        hint = part("header-of-library", library=library)
    elif name.lower() in _WINDOWS_HEADERS:
        hint = part("header-of-windows")
    elif "\\" in name:
        hint = part("slashes-in-include", path=harmless(name.replace("\\", "/")))
    elif alike:
        hint = part("did-you-mean", name=alike[0])
    elif headers:
        hint = part("headers-there", headers=", ".join(f"`{header}`" for header in headers[:8]))
    else:
        hint = part("hand-header-in")
    return problem(FindingCode.HEADER_NOT_FOUND, name=harmless(name), hint=hint)


def tidy(text: str, files: Files) -> str:
    """A compiler's sentence for a student: their file's name, CUDA's own words, nothing of our folders."""
    for attribute in ("global", "device", "host", "shared", "constant"):
        text = text.replace(f"__attribute__(({attribute}))", f"__{attribute}__")
    return harmless(_ADVICE.sub("", text.replace(SOURCE_NAME, files.source)))


def _capped(findings: list[Finding], what: str) -> tuple[Finding, ...]:
    distinct = list(dict.fromkeys(findings))
    more = len(distinct) - MOST_FINDINGS
    if more <= 0:
        return tuple(distinct)
    note = problem(FindingCode.MORE_MESSAGES, distinct[0].file, more=part(f"more-{what}s", count=more))
    return (*distinct[:MOST_FINDINGS], replace(note, severity=Severity.INFO))


_GONE_NAME = re.compile(
    r'(?:identifier|has no member) "(?P<name>\w+)"|"(?P<other>\w+)" has not been declared'
    r"|^(?P<template>texture|surface) is not a template$",
    re.ASCII,
)

_LOCATION_WANTED = 'to "cudaMemLocation"'
_LOCATION = "{cudaMemLocationTypeDevice, device}"
"""Argument of ``cudaMemPrefetchAsync`` and ``cudaMemAdvise`` where the number of a device was enough."""

_ATTRIBUTE = "cudaDeviceGetAttribute(&value, cudaDevAttr{0}, device)"
_INSTEAD = {
    "cudaThreadSynchronize": "cudaDeviceSynchronize()",
    "cudaThreadExit": "cudaDeviceReset()",
    "cudaThreadSetLimit": "cudaDeviceSetLimit()",
    "cudaThreadGetLimit": "cudaDeviceGetLimit()",
    "cudaThreadSetCacheConfig": "cudaDeviceSetCacheConfig()",
    "cudaThreadGetCacheConfig": "cudaDeviceGetCacheConfig()",
    "texture": "cudaTextureObject_t",
    "surface": "cudaSurfaceObject_t",
    "cudaBindTexture": "cudaCreateTextureObject()",
    "cudaBindTexture2D": "cudaCreateTextureObject()",
    "cudaBindTextureToArray": "cudaCreateTextureObject()",
    "cudaUnbindTexture": "cudaDestroyTextureObject()",
    "clockRate": _ATTRIBUTE.format("ClockRate"),
    "memoryClockRate": _ATTRIBUTE.format("MemoryClockRate"),
    "deviceOverlap": _ATTRIBUTE.format("GpuOverlap"),
    "kernelExecTimeoutEnabled": _ATTRIBUTE.format("KernelExecTimeout"),
    "computeMode": _ATTRIBUTE.format("ComputeMode"),
    "singleToDoublePrecisionPerfRatio": _ATTRIBUTE.format("SingleToDoublePrecisionPerfRatio"),
}
"""A name that is gone, and what to write instead."""


def replacement_of_removed(message: str) -> str:
    """Replacement for a name that CUDA 13 has no more; empty where an error is about something else."""
    match = _GONE_NAME.search(message)
    return _INSTEAD.get(match[match.lastgroup or 0], "") if match else ""
