"""The digest of PTX: the same code under other names is the same, other code is not."""

from __future__ import annotations

from grader.ptx.digest import digest

CODE = """\
//
// Compiler Build ID: CL-1
//
.version 9.0
.visible .entry _Z3mulPf(
\t.param .u64 _Z3mulPf_param_0
)
{
\t.reg .b32 \t%r<4>;
\t.shared .align 4 .b8 _ZZ3mulPfE4tile[64];
\t.loc\t1 8 0
\tld.param.u64 \t%rd1, [_Z3mulPf_param_0];
\tmov.u32 \t%r1, _ZZ3mulPfE4tile;
\tadd.s32 \t%r2, %r1, 4;
\tret;
}
.section\t.debug_str
{
info_string0:
.b8 109
}
"""


def test_names_lines_and_comments_do_not_count() -> None:
    """As when somebody renames everything and moves it down the file."""
    renamed = CODE.replace("mul", "product").replace("tile", "buffer").replace("1 8 0", "1 99 3")
    renamed = (
        renamed.replace("_Z3", "_Z7").replace("_ZZ3", "_ZZ7").replace("109", "112").replace("CL-1", "CL-2")
    )
    assert digest(renamed) == digest(CODE)


def test_another_instruction_counts() -> None:
    """So do another number and another name where one stood twice."""
    assert digest(CODE.replace("add.s32", "sub.s32")) != digest(CODE)
    assert digest(CODE.replace("%r1, 4", "%r1, 8")) != digest(CODE)
    assert digest(CODE.replace("[_Z3mulPf_param_0]", "[_ZZ3mulPfE4tile]")) != digest(CODE)
    assert digest("") == ""
