"""Names of libraries that the emulator computes: what our headers declare, what they lack, what is a slip.

A program that uses more of a library than a header of ours has may be right, and that is our limit. A name
that no such library has, and that is nearly one which the header declares, is a misspelt one.
"""

from __future__ import annotations

import re
from functools import cache

from grader.base.data_files import headers_folder

LIBRARIES = {"cublasLt.h": "cuBLASLt", "cublas_v2.h": "cuBLAS", "curand.h": "cuRAND"}
"""The libraries whose headers are ours, by the names of these; a header that includes another comes first."""

_NAME = re.compile(r"(?P<prefix>cublas|curand)[A-Z]\w*|(?P<constant>CUBLAS|CURAND)_\w+")

_NEARLY = 0.9
"""Similarity of two names where one is taken for the other misspelt (`difflib`)."""

# Our headers have all codes of errors: another one is none of the library's.
_BLAS = r"""cublas(?:
    (?:Create|Destroy|Init|Shutdown|Alloc|Free|Xerbla|LoggerConfigure|MigrateComputeType|GetError|SetKernelStream)
    |GetCudartVersion|[GS]etLoggerCallback|LogCallback|Context
    |[GS]et(?:Vector|Matrix)(?:Async)?
    |[GS]et(?:Version|Property|Stream|Workspace|PointerMode|AtomicsMode|MathMode|SmCountTarget)
    |[GS]et(?:Emulation|FixedPointEmulation)\w+|GetStatus(?:Name|String)
    |(?:Handle|Status|Operation|FillMode|SideMode|DiagType|PointerMode|AtomicsMode|GemmAlgo|Math|ComputeType
        |DataType|EmulationStrategy)_t|Status
    |[SDCZ](?:axpy|copy|dot|rot|rotg|rotm|rotmg|scal|swap|nrm2|asum)
    |I[sdczSDCZ]a(?:max|min)|[SDCZ]?[sdczSDCZ][cz]?(?:nrm2|asum|dot[uc]?|scal|rot)|[CZ]dot[uc]
    |(?:Copy|Swap|Iamax|Iamin|Asum|Rotg|Rotm|Rotmg|Nrm2|Axpy|Dot|Dotc|Rot|Scal)Ex
    |[SDCZ](?:gb|ge|sb|sp|sy|tb|tp|tr|hb|hp|he)(?:mv|sv)
    |[SDCZ](?:ger|geru|gerc|spr2?|syr2?|hpr2?|her2?)
    |[SDCZH](?:gemm|gemm3m|gemmEx|gemm3mEx|gemv)(?:Batched|StridedBatched|GroupedBatched)?
    |(?:HSH|HSS|TST|TSS)gemv(?:Batched|StridedBatched)
    |(?:Gemm|GemmBatched|GemmStridedBatched|GemmGroupedBatched|Cgemm3m|Csyrk|Csyrk3m|Cherk|Cherk3m)Ex
    |[SDCZ](?:symm|syrk|syr2k|syrkx|trmm|trsm|hemm|herk|her2k|herkx|geam|dgmm)
    |Lt\w+
    |[SDCZ](?:getrf|getrs|getri|matinv|geqrf|gels|trsm)Batched|[SDCZ](?:tpttr|trttp)|Uint8gemmBias
    )(?:_v2)?(?:_64)?
    |CUBLAS_(?:OP|SIDE|FILL_MODE|DIAG|POINTER_MODE|ATOMICS|GEMM|COMPUTE|VER|EMULATION|MATH)_?\w*|CUBLAS_\w*_MATH
    """
_RANDOM = r"""curand(?:
    (?:Create|Destroy)Generator|CreateGeneratorHost|GetVersion|GetProperty|SetStream
    |SetPseudoRandomGeneratorSeed|SetGeneratorO(?:ffset|rdering)|SetQuasiRandomGeneratorDimensions
    |Generate(?:LongLong|Seeds)?|Generate(?:Uniform|Normal|LogNormal)(?:Double)?
    |Generate(?:Poisson|Binomial)(?:Method)?|CreatePoissonDistribution|DestroyDistribution
    |Get(?:DirectionVectors|ScrambleConstants)(?:32|64)|MakeMTGP32\w+
    |(?:Generator|RngType|Status|Ordering|DirectionVectors(?:32|64|Set)|DirectionVectorSet|DiscreteDistribution
        |Method|Distribution\w*|Histogram\w*)(?:_t|_st)?|State\w*
    )|CURAND_(?!STATUS_)\w+
    """
_OF_LIBRARY = {"cublas_v2.h": _BLAS, "curand.h": _RANDOM}
"""Patterns of all names of each library, compiled when a name is not declared: few files need them."""


def header_of(name: str) -> str:
    """The header of ours that a name would be declared in; empty where its library is not one of them."""
    match = _NAME.fullmatch(name)
    library = (match["prefix"] or match["constant"]).lower() if match else ""
    return next((header for header, title in LIBRARIES.items() if title.lower() == library), "")


def intended_name(name: str) -> str:
    """The name of a library's that is misspelt here; empty where the library may well have this one."""
    header = header_of(name)
    if not header or re.fullmatch(_OF_LIBRARY[header], name, re.VERBOSE):
        return ""
    from difflib import get_close_matches  # noqa: PLC0415 - for an unknown name only

    return next(iter(get_close_matches(name, _declared(header), 1, _NEARLY)), "")


@cache
def _declared(header: str) -> tuple[str, ...]:
    """The names that a header of ours declares, as programs write them."""
    text = (headers_folder() / header).read_text(encoding="utf-8")
    names = dict.fromkeys(match[0] for match in re.finditer(rf"\b(?:{_NAME.pattern})", text))
    return tuple(name for name in names if not name.endswith(("_v2", "_st")))
