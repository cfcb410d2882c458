"""The list of what the emulator does not interpret, as the emulator's README has it.

``python -m tests.simulation.emulator.uninterpreted`` prints the section.
"""

from __future__ import annotations

import sys
from pathlib import Path

TITLE = "## What is left out"
README = Path(__file__).parents[3] / "grader" / "simulation" / "emulator" / "README.md"

OPCODES = {
    "textures and surfaces": "tex tld4 txq suld sust sured suq istypep",
    "clusters of blocks": "mapa getctarank clusterlaunchcontrol",
    "bulk copies (TMA)": "tensormap multimem",
    "matrix units of sm_90a and later": "wgmma tcgen05 setmaxnreg",
    "dependent launches": "griddepcontrol",
    "the stack pointer (`alloca`)": "alloca stacksave stackrestore",
    "cache policies": "createpolicy",
    "scalar video instructions": "vadd vsub vabsdiff vmin vmax vset vshl vshr vmad",
    "breakpoints": "brkpt",
}
"""Opcodes of which no form is interpreted, by what they are for."""

_EIGHT = "{%b32a, %b32b, %b32c, %b32d, %b32a, %b32b, %b32c, %b32d}"
_ARRIVAL = "shared::cluster.mbarrier::complete_tx::bytes"
FORMS = {
    "ld.global.b128 %b128a, [%b64a]": "registers of 128 bits",
    "mov.b128 %b128a, {%b64a, %b64b}": "registers of 128 bits",
    "atom.global.cas.b128 %b128a, [%b64a], %b128a, %b128a": "registers of 128 bits",
    f"ld.global.v8.b32 {_EIGHT}, [%b64a]": "vectors of 32 bytes (sm_100)",
    f"st.async.{_ARRIVAL}.u32 [%b32a], %b32b, [%b32c]": "asynchronous stores",
    f"red.async.relaxed.cluster.{_ARRIVAL}.add.u32 [%b32a], %b32b, [%b32c]": "asynchronous stores",
    "mbarrier.arrive.expect_tx.shared.b64 %b64a, [%b32a], %b32b": "barriers that count bytes (sm_90)",
    "cp.async.bulk.commit_group": "bulk copies (TMA)",
    f"cp.async.bulk.{_ARRIVAL} [%b32a], [%b64a], %b32b, [%b32c]": "bulk copies (TMA)",
    "barrier.cluster.arrive": "barriers of clusters",
    "atom.global.min.noftz.v2.f16x2 {%b32a, %b32b}, [%b64a], {%b32c, %b32d}": "vector atomics but `add`",
    "cvt.rn.satfinite.e2m1x2.f32 %b16a, %f32a, %f32b": "numbers of 4 and 6 bits, and scales (sm_100)",
    "cvt.rs.f16x2.f32 %b32a, %f32a, %f32b, %b32b": "stochastic rounding (sm_100)",
    "cvt.pack.sat.u16.s32 %b32a, %b32b, %b32c": "packing with `cvt`",
    "add.rn.f32x2 %b64a, %b64b, %b64c": "packed float32 (sm_100)",
    "vadd4.u32.u32.u32 %b32a.b0, %b32b, %b32c, %b32d": "selectors and masks of SIMD video instructions",
    "isspacep.param::entry %p, %b64a": "parameters as a space of generic addresses",
    "max.f32 %f32a, %f32b, %f32c, %f32d": "`min` and `max` of three numbers (sm_100)",
    "mov.u32 %b32a, %envreg7": "registers of the driver, but `%envreg1` and `%envreg2`",
    "mov.u32 %b32a, %pm0": "performance counters",
}
"""An example of each family of forms that is refused although its opcode is known, and what it is."""

_BEFORE = """
An instruction that is not interpreted ends a launch only if a thread comes to it. It is our limit, unless
the student wrote it by hand (`backends/emulated_kernel.py`) or it needs a texture or a surface, which no
kernel is given. The message names the instruction, its PTX line and the line of the source.

| what | instructions |
|---|---|
"""
_AFTER = """
Of the functions that the device's runtime provides there are `vprintf` (its text is kept, up to a bound),
`__assertfail`, `malloc`, `free` and aligned `malloc`. Kernels launch no kernels (dynamic parallelism), and
`grid.sync()` traps, as it does in a launch that is not cooperative; all blocks of a program's
cooperative launch run side by side.

Three things differ from a device without being refused. The sign and the payload of a NaN that arithmetic
makes are NumPy's. What PTX calls approximate (`ex2.approx`, `sin.approx`, …) is computed to the nearest
number, which lies within the documented error. A clock counts the emulator's own steps, from a start that is
drawn, like the addresses of arrays and windows, for each launch from its arguments.

Two things are not seen. PTX without debugging information does not say where in a thread's frame a variable
begins that is only accessed at constant places: an access beyond a local array that meets such a variable is
none beyond the frame. And threads that wait at a `cuda::barrier` for an arrival that never comes look at a
clock between their looks: without optimisation that is given up as too much work, and not as a hang.
"""


def section() -> str:
    """The section of the README."""
    families: dict[str, list[str]] = {what: names.split() for what, names in OPCODES.items()}
    for example, what in FORMS.items():
        families.setdefault(what, []).append(_shown(example))
    rows = [f"| {what} | {', '.join(f'`{each}`' for each in names)} |" for what, names in families.items()]
    return "\n".join([TITLE, _BEFORE.rstrip(), *rows, _AFTER])


def _shown(example: str) -> str:
    """The name of a form, or the register that it is about; what the table cannot hold is spelt out."""
    name, rest = example.split(" ", 1) if " " in example else (example, "")
    return rest.split(", ")[-1] if name == "mov.u32" else name


def in_readme() -> str:
    """The section as the README has it: up to the next one."""
    text = README.read_text()
    start = text.index(TITLE)
    end = text.find("\n## ", start + 1)
    return text[start:] if end < 0 else text[start : end + 1]


if __name__ == "__main__":
    sys.stdout.write(section())
