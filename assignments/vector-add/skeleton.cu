// Vector addition: C[i] = A[i] + B[i] for every i from 0 to N - 1
//
// Keep the kernel's name and its parameter list. The launch is
//
//   vectorAdd<<<(N + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(A, B, C, N);
//
// and you may change BLOCK_SIZE (at most 1024).

#define BLOCK_SIZE 256

__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    // TODO: which element does this thread compute?

    // TODO: is there such an element?

    // TODO: add, and store.
}
