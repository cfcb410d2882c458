"""Names of cuBLAS and cuRAND that our headers lack: misspelt ones are reported, others are our limit."""

from __future__ import annotations

import pytest

from grader.model import Build, ProgramInterface, Submission
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.nvcc.library_names import header_of, intended_name
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("cublasSgemmm", "cublasSgemm"),
        ("cublasSGemm", "cublasSgemm"),
        ("cublasHandle", "cublasHandle_t"),
        ("cublasDestory", "cublasDestroy"),
        ("curandGenerateUnifrom", "curandGenerateUniform"),
        ("CURAND_STATUS_SUCESS", "CURAND_STATUS_SUCCESS"),
        ("CUBLAS_STATUS_SUCCES", "CUBLAS_STATUS_SUCCESS"),
        ("curandSetPseudoRandomSeed", ""),
        ("curandGenerator", ""),
    ],
)
def test_a_misspelt_name_is_distinguished_from_one_that_the_library_may_have(written: str, name: str) -> None:
    """`curandGenerator` may be a type of it; the meaning of a wholly invented name is unknown."""
    assert intended_name(written) == name


@pytest.mark.parametrize(
    "name",
    [
        *("cublasSgeam", "cublasSgemmBatched", "cublasSgemmStridedBatched", "cublasCgemm", "cublasHgemm"),
        *("cublasGemmEx", "cublasSgemmEx", "cublasIsamax", "cublasIdamin", "cublasScopy", "cublasSger"),
        *("cublasDznrm2", "cublasScasum", "cublasZdotc", "cublasCsscal", "cublasZdrot", "cublasSgemm_v2"),
        *("cublasDgemm_64", "cublasStrsmBatched", "cublasDsymv", "cublasSgbmv", "cublasSetMatrixAsync"),
        *("cublasSetAtomicsMode", "cublasNrm2Ex", "cublasDgetrfBatched", "cublasInit", "cublasSswap"),
        *(
            "cublasSetWorkspace",
            "cublasZherk",
            "cublasSspr2",
            "cublasFillMode_t",
            "cublasSgemvStridedBatched",
        ),
        *("CUBLAS_SIDE_LEFT", "CUBLAS_COMPUTE_32F", "CUBLAS_GEMM_DEFAULT", "CUBLAS_FILL_MODE_UPPER"),
        *("curandGenerateLongLong", "curandSetQuasiRandomGeneratorDimensions", "curandState_t"),
        *(
            "curandCreatePoissonDistribution",
            "curandGetDirectionVectors32",
            "CURAND_DIRECTION_VECTORS_32_JOEKUO6",
        ),
        *("curandMakeMTGP32Constants", "curandStateXORWOW_t", "curandGenerateBinomial"),
    ],
)
def test_a_name_that_the_library_has_is_never_a_slip(name: str) -> None:
    """A program with it may be right where it was written."""
    assert header_of(name)
    assert intended_name(name) == ""


def test_other_names_are_of_no_header_of_ours() -> None:
    """Similar names are CUDA's, the library's on the device, or the student's own."""
    assert [header_of(name) for name in ("cudaMalloc", "cublas", "curand_init", "multiply")] == [""] * 4


def _built(source: str) -> Build:
    submission = Submission("ada", "homework.cu", source.encode(), "digest")
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    return build_program(tools, submission, ProgramInterface())


def test_a_misspelt_function_is_a_compile_error_of_the_students() -> None:
    """With its line, and what the library calls it."""
    built = _built("#include <cublas_v2.h>\nint main() {\n  return cublasSgemmm(0, CUBLAS_OP_N);\n}\n")
    assert (built.ok, built.error) == (False, "")
    (finding,) = built.findings
    assert finding.line == 3
    assert finding.message == 'identifier "cublasSgemmm" is undefined; did you mean `cublasSgemm`?'


def test_what_our_header_of_curand_lacks_is_our_limit() -> None:
    """Quasirandom numbers, for one."""
    source = "#include <curand.h>\nint main() { return curandSetQuasiRandomGeneratorDimensions(0, 2); }\n"
    built = _built(source)
    assert (built.ok, built.findings) == (False, ())
    assert "`curandSetQuasiRandomGeneratorDimensions` of cuRAND: homework.cu, line 2" in built.error
