// Votes, ballots and shuffles exchange registers; masks say whom a warp barrier orders.
// launch: grid 2, block 32: in int32[64], out int32[64]

extern "C" __global__ void racy_ballot(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    row[t] = in[i];  // @put
    unsigned odd = __ballot_sync(~0u, in[i] & 1);
    out[i] = row[31 - t] + __popc(odd);  // race warning RAW row @put
}

extern "C" __global__ void clean_ballot(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    row[t] = in[i];
    unsigned odd = __ballot_sync(~0u, in[i] & 1);
    __syncwarp();
    out[i] = row[31 - t] + __popc(odd);
}

extern "C" __global__ void racy_shuffle(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    row[t] = in[i];  // @put
    int other = __shfl_sync(~0u, t, 31 - t);
    out[i] = row[other];  // race warning RAW row @put
}

extern "C" __global__ void clean_shuffle(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    row[t] = in[i];
    __syncwarp();
    int other = 31 - t;
    out[i] = row[other];
}

extern "C" __global__ void racy_match(const int* in, int* out) {
    __shared__ int first[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t, key = in[i] % 4;
    unsigned same = __match_any_sync(~0u, key);
    int leader = __ffs(same) - 1;
    if (t == leader) first[key] = i;  // @lead
    out[i] = first[key];  // race warning RAW first @lead
}

extern "C" __global__ void clean_match(const int* in, int* out) {
    __shared__ int first[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t, key = in[i] % 4;
    unsigned same = __match_any_sync(~0u, key);
    int leader = __ffs(same) - 1;
    if (t == leader) first[key] = i;
    __syncwarp(same);
    out[i] = first[key];
}

// A mask orders the lanes that it names.
extern "C" __global__ void racy_mask_of_half(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    row[t] = in[i];  // @put
    out[i] = 0;
    if (t < 16) {
        __syncwarp(0xffffu);
        out[i] = row[31 - t];  // race warning RAW row @put
    }
}

extern "C" __global__ void clean_mask_of_half(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    row[t] = in[i];
    out[i] = 0;
    if (t < 16) {
        __syncwarp(0xffffu);
        out[i] = row[15 - t];
    }
}

// The lanes that took one way of a branch.
extern "C" __global__ void racy_mask_of_branch(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    unsigned even = __ballot_sync(~0u, t % 2 == 0);
    row[t] = in[i];  // @put
    out[i] = 0;
    if (t % 2 == 0) {
        __syncwarp(even);
        out[i] = row[(t + 1) % 32];  // race warning RAW row @put
    }
}

extern "C" __global__ void clean_mask_of_branch(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    unsigned even = __ballot_sync(~0u, t % 2 == 0);
    row[t] = in[i];
    out[i] = 0;
    if (t % 2 == 0) {
        __syncwarp(even);
        out[i] = row[(t + 2) % 32];
    }
}

// A warp that has voted is not a block that has met.
// launch: grid 2, block 64: in int32[128], out int32[128]
extern "C" __global__ void racy_roles_of_warps(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) row[t] = in[i];  // @put
    __syncwarp();
    if (t >= 32) out[i] = row[t - 32];  // race RAW row @put
    if (t < 32) out[i] = 0;
}

extern "C" __global__ void clean_roles_of_warps(const int* in, int* out) {
    __shared__ int row[32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) row[t] = in[i];
    __syncthreads();
    if (t >= 32) out[i] = row[t - 32];
    if (t < 32) out[i] = 0;
}
