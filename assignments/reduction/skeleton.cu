// The sum of N numbers: *total = values[0] + values[1] + ... + values[N - 1]
//
// Keep the kernel's name and its parameter list. *total is 0 before the launch, which is
//
//   int blocks = min((N + BLOCK_SIZE - 1) / BLOCK_SIZE, 8);
//   sumReduce<<<blocks, BLOCK_SIZE>>>(values, total, N);
//
// and you may change BLOCK_SIZE (a multiple of 32, at most 1024).

#define BLOCK_SIZE 256

__global__ void sumReduce(const float* values, float* total, int N) {
    // TODO: shared memory: a place for the sum of each warp.

    // TODO: add up this thread's elements, in steps of the whole grid.

    // TODO: add up the sums of the 32 threads of a warp with __shfl_down_sync.

    // TODO: leave the warp's sum in shared memory, and wait for the other warps.

    // TODO: let the first warp add those sums, and add the result to *total, once per block.
}
