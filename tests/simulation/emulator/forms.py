"""An instruction for the name of a form: its operands follow from opcode and types."""

from __future__ import annotations

from grader.simulation.ptx.nodes import TYPE_BYTES

_ARITY = {
    **dict.fromkeys(("abs", "neg", "not", "cnot", "popc", "clz", "brev", "bfind", "rcp", "sqrt", "rsqrt"), 1),
    **dict.fromkeys(("sin", "cos", "lg2", "ex2", "tanh"), 1),
    **dict.fromkeys(
        ("add", "sub", "addc", "subc", "mul", "mul24", "div", "rem", "min", "max", "copysign"), 2
    ),
    **dict.fromkeys(("and", "or", "xor", "shl", "shr"), 2),
    **dict.fromkeys(("mad", "madc", "mad24", "fma", "sad"), 3),
}
_SHIFTS = ("shl", "shr")
_COUNTS = ("popc", "clz", "bfind")
_FIXED = {
    "ret": "",
    "trap": "",
    "bra": "$END",
    "call": "helper, ()",
    "nanosleep": "%b32a",
    "cvta": "%b64a, %b64b",
    "bfi.b32": "%b32a, %b32b, %b32c, 3, 4",
    "bfi.b64": "%b64a, %b64b, %b64c, 3, 4",
    "bar.sync": "0",
    "bar.warp.sync": "-1",
    "bar.red.popc": "%b32a, 0, %p",
    "bar.red": "%p, 0, %q",
    "shfl.sync": "%b32a, %b32b, 1, 31, -1",
    "vote.sync.ballot": "%b32a, %p, -1",
    "vote.sync": "%p, %q, -1",
    "vote": "%p, %q",
    "membar": "",
    "fence": "",
}
"""By the longest beginning of a form."""

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.func helper() {{ ret; }}
.visible .entry kernel(.param .b64 formal)
{{
    {declarations}
    .reg .pred %p, %q;
    .local .align 16 .b8 frame[64];
    .param .b64 actual;
    {instruction}
$END:
    ret;
}}
"""


def register(kind: str, letter: str) -> str:
    """A register of a type: 8-bit values live in 16 bits."""
    if kind == "pred":
        return {"a": "%p", "b": "%q"}.get(letter, "%q")
    bits = max(16, 8 * TYPE_BYTES[kind])
    return f"%{kind if kind in ('f32', 'f64') else f'b{bits}'}{letter}"


def operands(form: str) -> str:
    """Return the operands that follow the name of a form."""
    opcode, *words = form.split(".")
    kind = words[-1] if words else ""
    fixed = [begin for begin in _FIXED if f"{form}.".startswith(f"{begin}.")]
    if fixed:
        return _FIXED[max(fixed, key=len)]
    if opcode in ("ld", "st", "atom"):
        return _access(opcode, words)
    a, b = register(words[-2] if opcode == "cvt" else kind, "a"), register(kind, "b")
    if opcode == "setp":
        return f"%p, {a}, {b}"
    if opcode == "selp":
        return f"{a}, {b}, {register(kind, 'c')}, %p"
    return f"{a}, {b}" if opcode in ("cvt", "mov") else _arithmetic(opcode, words, kind)


def _arithmetic(opcode: str, words: list[str], kind: str) -> str:
    result = kind[0] + str(2 * int(kind[1:])) if "wide" in words else kind
    found = [register("b32" if opcode in _COUNTS else result, "a")]
    found += [register(kind, letter) for letter in "bcd"[: _ARITY[opcode]]]
    if opcode in _SHIFTS:
        found[-1] = register("b32", "c")
    if "wide" in words and _ARITY[opcode] == 3:
        found[-1] = register(result, "d")
    return ", ".join(found)


def _access(opcode: str, words: list[str]) -> str:
    kind = words[-1]
    if opcode == "atom":
        new = f", {register(kind, 'c')}" if "cas" in words else ""
        return f"{register(kind, 'a')}, [%b64c], {register(kind, 'b')}{new}"
    count = next((int(word[1]) for word in words if word in ("v2", "v4")), 1)
    values = ", ".join(register(kind, letter) for letter in "abcd"[:count])
    value = f"{{{values}}}" if count > 1 else values
    address = "[%b64d]"
    if "param" in words:
        address = "[formal]" if opcode == "ld" else "[actual]"
    if "local" in words:
        address = "[frame]"
    return f"{value}, {address}" if opcode == "ld" else f"{address}, {value}"


def kernel(form: str) -> str:
    """A kernel that holds the form, and declares what it may name."""
    kinds = ("b16", "b32", "b64", "f32", "f64")
    declarations = "\n    ".join(
        f".reg .{kind} " + ", ".join(f"%{kind}{x}" for x in "abcd") + ";" for kind in kinds
    )
    instruction = f"{form} {operands(form)}".strip() + ";"
    return KERNEL.format(declarations=declarations, instruction=instruction)
