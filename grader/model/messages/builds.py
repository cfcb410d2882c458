"""Sentences for what cannot be read or built, where not the compiler has words for it, and hints what to do.

What was handed in cannot be read where there is no file, where there are several, or where an archive is
damaged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Mapping

_KERNELS: Mapping[FindingCode, str] = {
    FindingCode.NO_KERNEL: "no kernel named {named}: this file has no `__global__` function",
    FindingCode.OTHER_KERNELS: "no kernel named {named}; this file has: {others}{more}{beside}{rename}",
    FindingCode.KERNEL_LEFT_OUT: (
        "no kernel named {named} is compiled: `{directive}` in line {directive_line} leaves it out"
    ),
    FindingCode.KERNEL_WITHOUT_BODY: "the kernel {named} is declared, but this file gives it no body",
    FindingCode.KERNEL_PARAMETER_COUNT: (
        "the kernel {named} takes {parameters}, but the assignment passes {passed}: ({wanted})"
    ),
    FindingCode.KERNEL_PARAMETER: (
        "parameter {number} of the kernel {named} should be `{expected}`{consisting}, but it is {actual}; "
        "the assignment passes ({wanted})"
    ),
    FindingCode.TEMPLATE_WITHOUT_VALUES: (
        "the kernel {named} is a template that this file never uses, so that nothing gives {values}"
    ),
    FindingCode.TEMPLATE_DOES_NOT_COMPILE: (
        "the kernel {named} is a template that this file never uses, and `{instance}` does not "
        "compile{reason}"
    ),
    FindingCode.STATIC_SHARED_MEMORY: (
        "the kernel {named} uses {bytes} bytes of static shared memory; a block may use at most {most}"
    ),
    FindingCode.SIZE_NOT_DEFINED: (
        "this file defines no {choices}, by which the assignment changes its size"
    ),
    FindingCode.SIZE_TO_DEFINE: (
        "this file defines no `{name}`, by which the assignment sets its size; "
        "expected `#define {name} {value}` or `const int {name} = {value};`"
    ),
    FindingCode.CONSTANT_NOT_ALLOWED: "`{name}` is {value}; this assignment needs {wanted}",
    FindingCode.NO_VARIABLE: (
        "there is no variable `{name}` in device memory; expected {expected} outside of all functions, "
        "which the grader fills before each launch"
    ),
    FindingCode.VARIABLE_CONSTANT: (
        "`{name}` is `__constant__`, which a kernel cannot write to; expected {expected}"
    ),
}

_FUNCTIONS: Mapping[FindingCode, str] = {
    FindingCode.NO_FUNCTION: (
        "no function named {named}: this file has no function that another file can call"
    ),
    FindingCode.OTHER_FUNCTIONS: "no function named {named}; this file has: {others}{more}{beside}{rename}",
    FindingCode.FUNCTION_IS_KERNEL: (
        "{named} is a kernel; expected a function of the host, which launches kernels"
    ),
    FindingCode.FUNCTION_ON_DEVICE: (
        "{named} runs on the device; expected a function of the host, which launches kernels"
    ),
    FindingCode.FUNCTION_IS_TEMPLATE: (
        "{named} is a template; expected a function with the types of the assignment"
    ),
    FindingCode.FUNCTION_OUT_OF_REACH: (
        "{named} is {reach}, so that no other file can call it; take that away"
    ),
    FindingCode.FUNCTION_PARAMETER_COUNT: (
        "the function {named} takes {parameters}, but the assignment passes {passed}: ({wanted})"
    ),
    FindingCode.FUNCTION_PARAMETER: (
        "parameter {number} of the function {named} should be `{expected}`, but it is {actual}; the "
        "assignment passes ({wanted}){reordered}"
    ),
}

_COMPILER: Mapping[FindingCode, str] = {
    FindingCode.COMPILER_MESSAGE: "{text}{used_by}{removed}",
    FindingCode.COMPILER_GAVE_UP: (
        "the compiler gave up on this file (exit status {status}) without naming a line"
    ),
    FindingCode.COMPILER_STOPPED: "{why}",
    FindingCode.MORE_MESSAGES: "and {more}; the first ones often cause the others",
    FindingCode.FOREIGN_FILE: (
        "includes a file that is not part of the submission (`{name}`); only the submission's own headers, "
        "the assignment's and the system's may be included"
    ),
    FindingCode.HEADER_NOT_FOUND: "the header `{name}` was not found; {hint}",
    FindingCode.PTX_TOO_LONG: "compiled, the file takes {bytes:,} bytes of PTX; expected {most:,} at most",
    FindingCode.TOO_LARGE_TO_KEEP: (
        "{what} is larger than {most} MiB; look for large arrays with initial values"
    ),
    FindingCode.ASM_NOT_READ: "inline assembly says what the grader does not read",
    FindingCode.ASM_REFUSED: "{what}",
    FindingCode.NO_MAIN: "this file has no `main` function, and a program begins there",
    FindingCode.NO_MAIN_ANYWHERE: "none of these files has a `main` function, and a program begins there",
    FindingCode.ARRAYS_TOO_LARGE: (
        "the global and static arrays of this program are too large: together more than 2 GiB"
    ),
    FindingCode.DEFINED_TWICE: (
        "`{name}` is defined here and once more elsewhere (multiple definition); rename it"
    ),
    FindingCode.DEFINED_NOWHERE: (
        "`{name}` is used here, but nothing defines it (undefined reference); {hint}"
    ),
    FindingCode.LINKER_REFUSES: "the linker refuses this program{reason}",
    FindingCode.NOTEBOOK_COMMAND: (
        "`{command}` is a command of the notebook that this text comes from, and no CUDA: it was left out; "
        "remove the line"
    ),
    FindingCode.ODD_BLANKS: (
        "here{others} stand characters that look like blanks and are none (U+{character}), as in text "
        "copied from a PDF or a web page: they were read as blanks; replace them"
    ),
    FindingCode.LOOSE_BRACKETS: (
        "write `<{name}>`, as it was read: blanks in the brackets belong to the name"
    ),
}


_BUILD_CLAUSES: Mapping[str, str] = {
    "and-others": " and {number} more",
    "asked-for-too": "; {names} are asked for, too",
    "asked-for-too-one": "; {names} is asked for, too",
    "rename": "; if `{name}` is the one, rename it",
    "values-to": "values to its parameters {names}",
    "values-to-one": "a value to its parameter {names}",
    "parameters": "{count} parameters",
    "parameters-one": "{count} parameter",
    "struct-of-fields": ", a struct of {bytes} bytes ({fields})",
    "of-type": "`{type}`",
    "in-another-order": ": the same types in another order",
    "not-writable": "`{type}`, which the kernel cannot write to",
    "own-struct": "`{type}`, a struct of {bytes} bytes",
    "number-of-bits": "a {bits}-bit floating-point number",
    "struct-of-bytes": "a struct of {bytes} bytes",
    "integer-of-bits": "a {bits}-bit integer",
    "integer-or-pointer": "a {bits}-bit integer or a pointer",
    "multiple-of": "a multiple of {number}",
    "power-of-two": "a power of two",
    "no-more-than": "at most {number}",
    "declared-as": "`{qualifier} {declaration}`",
    "constant-or-device": "`__constant__` or `__device__ {declaration}`",
    "unnamed-namespace": "in an unnamed namespace",
    "in-header": " (in {name}, which this file uses)",
    "changed-in-cuda": "; changed by CUDA 13: write `{written}`, and for a prefetch 0 before the stream",
    "removed-from-cuda": "; removed from CUDA by version 13: use `{written}`",
    "more-errors": "{count} more errors",
    "more-errors-one": "{count} more error",
    "more-warnings": "{count} more warnings",
    "more-warnings-one": "{count} more warning",
    "header-of-library": "it belongs to {library}, which is not installed here",
    "header-of-windows": "it belongs to Windows, and programs run on Linux here: remove what uses it",
    "slashes-in-include": "write `{path}`, with slashes, which every system understands",
    "misspelt-name": "; did you mean `{name}`?",
    "did-you-mean": "did you mean `{name}`?",
    "headers-there": "the headers that are there: {headers}",
    "hand-header-in": "hand in a folder with both files, or remove the #include if nothing of it is used",
    "compiler-disk": "the compiler was stopped: its files for this source take more than {most} MiB",
    "compiler-time": (
        "the compiler was stopped after {seconds} s; look for headers, macros or templates that expand "
        "without end"
    ),
    "compiler-memory": "the compiler was stopped: it needs more than {most} MiB of memory for this file",
    "compiler-output": "the compiler was stopped: this file makes it write more than {most} MiB",
    "compiler-crashed": ("the compiler crashed on this file (signal {signal}); it may be nested too deeply"),
    "what-is-compiled": "what the compiler makes of this file",
    "device-code": "the device code of this file",
    "the-program": "this program",
    "asm-file": "the assembler refuses this file",
    "asm-text": "the assembler refuses the file: {text}",
    "asm-instruction": "the assembler refuses the inline PTX `{instruction}`: {text}",
    "asm-on-host": "the assembler refuses what an `asm` statement of this file contains",
    "of-library": "it is a function of {library}, which programs are not linked with here",
    "driver-library": "the CUDA driver's library (libcuda)",
    "define-it": "define it in this file, or check how its name and its parameters are spelt",
    "without-saying-why": " and does not say why",
    "on-other-lines": " and on {count} more lines",
    "on-other-lines-one": " and on {count} more line",
}

_SUBMISSIONS: Mapping[FindingCode, str] = {
    FindingCode.ARCHIVE_DAMAGED: (
        "the archive is damaged, or was not handed in as a whole; try to pack it again"
    ),
    FindingCode.ARCHIVE_TOO_LARGE: (
        "the archive holds more than {most} MiB once it is unpacked; expected source files"
    ),
    FindingCode.ARCHIVE_TOO_MANY: (
        "the archive holds more than {most:,} files; expected one .cu file and its headers"
    ),
    FindingCode.ARCHIVE_OVERLAPS: (
        "files in the archive overlap, as no packer writes them; expected an ordinary zip file"
    ),
    FindingCode.ARCHIVE_NAME_LEADS_OUT: (
        "the archive holds `{name}`, which leads out of it; expected names without `..` and drives"
    ),
    FindingCode.ARCHIVE_NAME_CONTROL: (
        "the archive holds `{name}`, a name with control characters; expected plain names"
    ),
    FindingCode.ARCHIVE_NAME_LONG: (
        "the archive holds `{name}`, a name of {characters:,} characters; expected shorter ones"
    ),
    FindingCode.ARCHIVE_TWICE: "the archive holds `{name}` twice; expected it once",
    FindingCode.FILE_IS: "`{name}` is {what}; expected {wanted}",
    FindingCode.FILE_NO_TEXT: "`{name}` is {what}; expected {wanted}",
    FindingCode.FILE_TOO_LARGE: "`{name}` has {bytes:,} bytes; expected {wanted} of at most {most} MiB",
    FindingCode.FILE_UNREADABLE: "`{name}` cannot be read: {reason}; check its permissions",
    FindingCode.FILE_EMPTY: "`{name}` is empty; expected {wanted}",
    FindingCode.FOLDER_UNREADABLE: "the folder cannot be read: {reason}; check its permissions",
    FindingCode.HEADERS_TOO_LARGE: "the headers hold more than {most} MiB together; expected less",
    FindingCode.FOLDER_TOO_MANY: "{noun} holds {number} files; expected {wanted}",
    FindingCode.FOLDER_EMPTY: "{noun} is empty; expected {wanted} in it",
    FindingCode.SEVERAL_FOLDERS: "{noun} holds {wanted} in several folders ({names}); expected them in one",
    FindingCode.SEVERAL_SOURCES: "{noun} holds {number} {endings} files ({names}); expected exactly one",
    FindingCode.NO_SOURCE: "{noun} has no {missing}; expected {wanted}, and {held}",
    FindingCode.SEVERAL_MAINS: "in {noun} more than one file has a `main` ({names}); expected one program",
    FindingCode.SAME_NAMES: (
        "there are two files called {names}; expected names that differ in more than case"
    ),
    FindingCode.SEVERAL_FILES: "it is several files; expected {wanted}",
}

_SUBMISSION_CLAUSES: Mapping[str, str] = {
    "in-archive": "in `{name}`: {sentence}",
    "the-folder": "the folder",
    "the-archive": "the archive",
    "the-submission": "the submission",
    "link-in-circle": "the link leads in a circle",
    "no-reason": "no reason given",
    "one-source": "one .cu file",
    "one-source-and-headers": "one .cu file and its headers",
    "the-source": "the file with your kernel",
    "a-source": "a source file",
    "no-source": "source file",
    "sources": "source files",
    "source-text": "the source text of your kernel",
    "the-program-file": "the file with your program",
    "program-text": "the source text of your program",
    "one-sheet": "one .yaml or .json file",
    "the-sheet": "the file with your answers",
    "a-sheet": "a file with answers",
    "no-sheet": "file with answers",
    "sheets": "files with answers",
    "sheet-text": "your answers as YAML or JSON text",
    "an-archive": "an archive",
    "a-receipt": "a receipt",
    "a-roster": "a roster",
    "a-list": "a list of submissions",
    "a-tar-archive": "a tar archive",
    "the-file-itself": "the file itself",
    "without-password": "an archive without a password",
    "ordinary-zip": "an ordinary zip file",
    "archive-of": "{choices} of {wanted}",
    "the-ending": "the ending {choices}",
    "is-link": "a link",
    "is-link-out": "a link that leads out of the submission",
    "is-device-or-pipe": "a device or a pipe",
    "is-holes": "a file with holes",
    "is-encrypted": "encrypted",
    "is-compressed": "compressed in an unusual way",
    "is-folder": "a folder",
    "is-pipe": "a named pipe",
    "is-socket": "a socket",
    "is-device": "a device",
    "is-no-file": "no regular file",
    "is-program": "a compiled program",
    "is-zip": "a zip archive",
    "is-gzip": "a gzip archive",
    "is-pdf": "a PDF document",
    "is-rich-text": "rich text, as TextEdit and WordPad save it",
    "is-web-page": "a web page",
    "is-binary": "binary (it holds NUL bytes)",
    "is-nested": "an archive in an archive",
    "is-other-archive": "an archive of a kind that is not read",
    "is-not": "not {wanted}",
    "it-holds": "it holds {names}",
    "only-folders": "it holds only folders",
}

SENTENCES: Mapping[FindingCode, str] = {**_KERNELS, **_FUNCTIONS, **_COMPILER, **_SUBMISSIONS}
CLAUSES: Mapping[str, str] = {**_BUILD_CLAUSES, **_SUBMISSION_CLAUSES}
"""Parts of these sentences by name."""

HINTS: Mapping[str, str] = {
    "leave-one-file": "leave one file with your kernel in what you hand in; its headers may stay beside it.",
    "save-the-file": "save the file in your editor, and look at what you hand in before you do.",
    "source-alone": "hand in the source text alone, without data and without what was made of it.",
    "put-file-in": "put the file with your kernel into it, with the ending `.cu`.",
    "as-saved": "hand in the `.cu` file as an editor for programs saves it: plain text.",
    "outside-of-if": (
        "write the kernel outside of that `#if`, or define in the file what the directive asks for."
    ),
    "put-global": (
        "put `__global__` before `void {kernel}`: without it a function is host code and no kernel. If there "
        "is no such function, this is not the file with your kernel."
    ),
    "write-kernel-too": (
        "write a kernel `{kernel}` as well: each kernel that the hand-out asks for has to be in the file."
    ),
    "launch-template": (
        "launch the kernel in `main` with the values that you mean, or name them in a line after it: "
        "`template __global__ void {kernel}<…>(…);`."
    ),
    "name-your-kernel": "name your kernel `{kernel}`, exactly as the hand-out does.",
    "straight-quotes": (
        "replace typographic quotes by straight ones: they come from a text editor or a web page."
    ),
    "round-up": "that function exists on the host only; for a rounded-up quotient write `(a + b - 1) / b`.",
    "device-functions": (
        "a kernel can only call functions of the device: put `__device__` before it if it is your own."
    ),
    "semicolon": "put a `;` where the statement before ends: the compiler notices only at the next one.",
    "name-of-macro": (
        "`{name}` is a macro, by the `#define` on line {line}, whose text takes the place of the name that "
        "is declared here: give one of the two another name."
    ),
    "no-empty-array": ("an array needs at least one element: look at the constant that its size is made of."),
    "meant": "did you mean `{name}` where it says `{written}`?",
}
