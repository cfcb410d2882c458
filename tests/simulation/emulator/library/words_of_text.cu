// Text: how many words begin in each block, and the text with its letters in the other case.
__device__ bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

__global__ void kernel(const char* text, char* swapped, int* words, int length) {
    __shared__ char tile[129];
    int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x + 1] = i < length ? text[i] : ' ';
    if (threadIdx.x == 0) tile[0] = i > 0 ? text[i - 1] : ' ';
    __syncthreads();
    char own = tile[threadIdx.x + 1];
    bool begins = is_letter(own) && !is_letter(tile[threadIdx.x]);
    int count = __syncthreads_count(begins);
    if (threadIdx.x == 0) words[blockIdx.x] = count;
    if (i < length) swapped[i] = is_letter(own) ? own ^ 0x20 : own;
}
