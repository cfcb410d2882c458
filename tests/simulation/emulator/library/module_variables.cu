// Variables of the module: initialised, constant, pointing to each other, counted up by everybody.
struct Rule {
    char name[4];
    float weight;
    short limits[2];
};

__constant__ Rule rules[3] = {{"ab", 1.5f, {-3, 3}}, {"cd", -2.0f, {0, 10}}, {"ef", 0.25f, {-100, 100}}};
__device__ int table[5] = {2, 3, 5, 7, 11};
__device__ const int* middle = table + 2;
__device__ unsigned tickets = 40;
__device__ double scale = 0.5;

__global__ void kernel(const int* in, float* out, unsigned* sums, int n) {
    __shared__ unsigned of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const Rule& rule = rules[i % 3];
        int value = max((int)rule.limits[0], min(in[i], (int)rule.limits[1]));
        out[i] = (float)(value * rule.weight * scale) + middle[i % 5 - 2] + rule.name[i % 2];
        atomicAdd(&of_block, atomicAdd(&tickets, 1u));
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sums, of_block);
}
