// A histogram of bytes: counts[b] is how many of the N values belong to bin b, which is values[i] * B / 256.
//
// Keep the kernel's name and its parameter list. All counts are 0 before the launch, which is
//
//   int blocks = min((N + BLOCK_SIZE - 1) / BLOCK_SIZE, 8);
//   histogram<<<blocks, BLOCK_SIZE>>>(values, counts, N, B);
//
// and you may change BLOCK_SIZE (at most 1024). B is at most MAX_BINS.

#define BLOCK_SIZE 128
#define MAX_BINS 256

__global__ void histogram(const unsigned char* values, int* counts, int N, int B) {
    // TODO: a histogram of this block's own, in shared memory. Who empties its bins?

    // TODO: count this thread's values there, in steps of the whole grid.

    // TODO: add the block's counts to those in global memory.
}
