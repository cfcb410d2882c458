// The same from a kernel's file: includes, lines of other files, and a question about them in the kernel.
//
// After it: the text came back in no message.
#include "/canary/file"

#if __has_include("/canary/home")
#error reached: a file exists
#endif

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
#line 1 "/canary/neighbour"
    not_declared_here;
}
