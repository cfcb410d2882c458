// Matrix multiplication, a function that uses the GPU: C = A * B for arrays of the host.

__global__ void matMul(const float* A, const float* B, float* C, int M, int K, int N) {
    // One thread computes one element of C: which one?
}

// A has M rows and K columns, B has K rows and N columns, C has M rows and N columns, all of them row by row.
void solve(const float* A, const float* B, float* C, int M, int K, int N) {
    // Allocate device memory for the three arrays, and copy A and B there.

    // Launch matMul with enough blocks, and ask for errors.

    // Copy the result to C, and free the device memory.
}
