// One level of a breadth-first search: unvisited neighbours are claimed with a compare-and-swap and queued.
__global__ void kernel(const int* starts, const int* targets, const int* frontier, int size, int* levels, int level,
                       int* next, int* next_size) {
    __shared__ int queue[256];
    __shared__ int queued, base;
    if (threadIdx.x == 0) queued = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
        int node = frontier[i];
        for (int edge = starts[node]; edge < starts[node + 1]; ++edge) {
            int target = targets[edge];
            if (atomicCAS(&levels[target], -1, level) == -1) {
                int place = atomicAdd(&queued, 1);
                if (place < 256) queue[place] = target;
                else next[atomicAdd(next_size, 1)] = target;
            }
        }
    }
    __syncthreads();
    int count = min(queued, 256);
    if (threadIdx.x == 0) base = atomicAdd(next_size, count);
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) next[base + i] = queue[i];
}
