// A kernel with PTX of its own: directives between the instructions, an entry of the same name, a huge array.
//
// After it: what the assembler refuses is the student's compile error.
__device__ char huge[1ul << 33];

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    asm volatile("}\n.visible .entry tiledMatMul() {\n.file 1 \"/canary/file\"\n.loc 1 1 1\nret;");
    C[0] = huge[N];
}
