// Prefix sums in two sweeps, by warps and over several tiles.
// launch: grid 2, block 64: in float32[256], out float32[256]

// Up the tree: a level needs the whole level below.
extern "C" __global__ void racy_up_sweep(const float* in, float* out) {
    __shared__ float sums[128];
    int t = threadIdx.x, base = blockIdx.x * 128, offset = 1;
    sums[2 * t] = in[base + 2 * t];
    sums[2 * t + 1] = in[base + 2 * t + 1];
    __syncthreads();
    for (int pairs = 64; pairs > 0; pairs /= 2) {
        if (t < pairs) {
            float left = sums[offset * (2 * t + 1) - 1];  // race RAW sums @add
            sums[offset * (2 * t + 2) - 1] += left;       // @add; race RAW sums here; race WAR sums here; race WAW sums here
        }
        offset *= 2;
    }
    __syncthreads();
    out[base + t] = sums[t];
    out[base + 64 + t] = sums[64 + t];
}

extern "C" __global__ void clean_up_sweep(const float* in, float* out) {
    __shared__ float sums[128];
    int t = threadIdx.x, base = blockIdx.x * 128, offset = 1;
    sums[2 * t] = in[base + 2 * t];
    sums[2 * t + 1] = in[base + 2 * t + 1];
    __syncthreads();
    for (int pairs = 64; pairs > 0; pairs /= 2) {
        if (t < pairs) {
            float left = sums[offset * (2 * t + 1) - 1];
            sums[offset * (2 * t + 2) - 1] += left;
        }
        offset *= 2;
        __syncthreads();
    }
    __syncthreads();
    out[base + t] = sums[t];
    out[base + 64 + t] = sums[64 + t];
}

// Who clears the root: the thread that wrote it may do so at once.
extern "C" __global__ void racy_root(const float* in, float* out) {
    __shared__ float sums[128];
    int t = threadIdx.x, base = blockIdx.x * 128, offset = 1;
    sums[2 * t] = in[base + 2 * t];
    sums[2 * t + 1] = in[base + 2 * t + 1];
    for (int pairs = 64; pairs > 0; pairs /= 2) {
        __syncthreads();
        if (t < pairs) {
            float left = sums[offset * (2 * t + 1) - 1];
            sums[offset * (2 * t + 2) - 1] += left;  // @add
        }
        offset *= 2;
    }
    if (t == 63) sums[127] = 0.0f;  // race WAR sums @add; race WAW sums @add
    for (int pairs = 1; pairs < 128; pairs *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < pairs) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float left = sums[a];
            sums[a] = sums[b];
            sums[b] += left;
        }
    }
    __syncthreads();
    out[base + t] = sums[t];
    out[base + 64 + t] = sums[64 + t];
}

extern "C" __global__ void clean_root(const float* in, float* out) {
    __shared__ float sums[128];
    int t = threadIdx.x, base = blockIdx.x * 128, offset = 1;
    sums[2 * t] = in[base + 2 * t];
    sums[2 * t + 1] = in[base + 2 * t + 1];
    for (int pairs = 64; pairs > 0; pairs /= 2) {
        __syncthreads();
        if (t < pairs) {
            float left = sums[offset * (2 * t + 1) - 1];
            sums[offset * (2 * t + 2) - 1] += left;
        }
        offset *= 2;
    }
    if (t == 0) sums[127] = 0.0f;
    for (int pairs = 1; pairs < 128; pairs *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < pairs) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float left = sums[a];
            sums[a] = sums[b];
            sums[b] += left;
        }
    }
    __syncthreads();
    out[base + t] = sums[t];
    out[base + 64 + t] = sums[64 + t];
}

// Scans of the warps, then a scan of their totals: the totals must all be there.
// launch: grid 2, block 128: in float32[256], out float32[256]
extern "C" __global__ void racy_totals_complete(const float* in, float* out) {
    __shared__ float totals[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 128 + t;
    float sum = in[i];
    for (int step = 1; step < 32; step *= 2) {
        float left = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == 31) totals[warp] = sum;  // @own
    if (t < 4) {
        float total = totals[t];  // race RAW totals @own
        for (int step = 1; step < 4; step *= 2) {
            float left = __shfl_up_sync(0xfu, total, step);
            if (lane >= step) total += left;
        }
        totals[t] = total;  // race WAW totals @own
    }
    __syncthreads();
    out[i] = warp > 0 ? sum + totals[warp - 1] : sum;
}

extern "C" __global__ void clean_totals_complete(const float* in, float* out) {
    __shared__ float totals[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 128 + t;
    float sum = in[i];
    for (int step = 1; step < 32; step *= 2) {
        float left = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    if (t < 4) {
        float total = totals[t];
        for (int step = 1; step < 4; step *= 2) {
            float left = __shfl_up_sync(0xfu, total, step);
            if (lane >= step) total += left;
        }
        totals[t] = total;
    }
    __syncthreads();
    out[i] = warp > 0 ? sum + totals[warp - 1] : sum;
}

// … and their scan must be complete before anybody adds it.
extern "C" __global__ void racy_totals_scanned(const float* in, float* out) {
    __shared__ float totals[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 128 + t;
    float sum = in[i];
    for (int step = 1; step < 32; step *= 2) {
        float left = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    if (t < 4) {
        float total = totals[t];
        for (int step = 1; step < 4; step *= 2) {
            float left = __shfl_up_sync(0xfu, total, step);
            if (lane >= step) total += left;
        }
        totals[t] = total;  // @scanned
    }
    if (warp > 0) sum += totals[warp - 1];  // race RAW totals @scanned
    out[i] = sum;
}

extern "C" __global__ void clean_totals_scanned(const float* in, float* out) {
    __shared__ float totals[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 128 + t;
    float sum = in[i];
    for (int step = 1; step < 32; step *= 2) {
        float left = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == 31) totals[warp] = sum;
    __syncthreads();
    if (t < 4) {
        float total = totals[t];
        for (int step = 1; step < 4; step *= 2) {
            float left = __shfl_up_sync(0xfu, total, step);
            if (lane >= step) total += left;
        }
        totals[t] = total;
    }
    __syncthreads();
    if (warp > 0) sum += totals[warp - 1];
    out[i] = sum;
}

// From inclusive to exclusive: everybody reads the neighbour's last sum.
// launch: grid 2, block 64: in float32[128], out float32[128]
extern "C" __global__ void racy_exclusive(const float* in, float* out) {
    __shared__ float sums[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    sums[t] = in[i];
    for (int step = 1; step < 64; step *= 2) {
        __syncthreads();
        float left = t >= step ? sums[t - step] : 0.0f;
        __syncthreads();
        sums[t] += left;  // @add
    }
    out[i] = t > 0 ? sums[t - 1] : 0.0f;  // race RAW sums @add
}

extern "C" __global__ void clean_exclusive(const float* in, float* out) {
    __shared__ float sums[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    sums[t] = in[i];
    for (int step = 1; step < 64; step *= 2) {
        __syncthreads();
        float left = t >= step ? sums[t - step] : 0.0f;
        __syncthreads();
        sums[t] += left;
    }
    __syncthreads();
    out[i] = t > 0 ? sums[t - 1] : 0.0f;
}

// Every warp scans its own row.
extern "C" __global__ void racy_rows_of_warps(const float* in, float* out) {
    __shared__ float rows[2][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 64 + threadIdx.x;
    rows[warp][lane] = in[i];
    __syncwarp();
    for (int step = 1; step < 32; step *= 2) {
        float left = lane >= step ? rows[warp][lane - step] : 0.0f;  // @left
        rows[warp][lane] += left;  // race warning WAR rows @left
        __syncwarp();
    }
    out[i] = rows[warp][lane];
}

extern "C" __global__ void clean_rows_of_warps(const float* in, float* out) {
    __shared__ float rows[2][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 64 + threadIdx.x;
    rows[warp][lane] = in[i];
    __syncwarp();
    for (int step = 1; step < 32; step *= 2) {
        float left = lane >= step ? rows[warp][lane - step] : 0.0f;
        __syncwarp();
        rows[warp][lane] += left;
        __syncwarp();
    }
    out[i] = rows[warp][lane];
}

// What one tile adds up to is carried into the next.
// launch: grid 1, block 64: in float32[192], out float32[192]
extern "C" __global__ void racy_carry(const float* in, float* out) {
    __shared__ float sums[64];
    __shared__ float carried;
    int t = threadIdx.x;
    if (t == 0) carried = 0.0f;
    for (int tile = 0; tile < 3; ++tile) {
        sums[t] = in[tile * 64 + t];
        for (int step = 1; step < 64; step *= 2) {
            __syncthreads();
            float left = t >= step ? sums[t - step] : 0.0f;
            __syncthreads();
            sums[t] += left;
        }
        out[tile * 64 + t] = sums[t] + carried;  // @use
        if (t == 63) carried += sums[63];  // race WAR carried @use
        __syncthreads();
    }
}

extern "C" __global__ void clean_carry(const float* in, float* out) {
    __shared__ float sums[64];
    __shared__ float carried;
    int t = threadIdx.x;
    if (t == 0) carried = 0.0f;
    for (int tile = 0; tile < 3; ++tile) {
        sums[t] = in[tile * 64 + t];
        for (int step = 1; step < 64; step *= 2) {
            __syncthreads();
            float left = t >= step ? sums[t - step] : 0.0f;
            __syncthreads();
            sums[t] += left;
        }
        out[tile * 64 + t] = sums[t] + carried;
        __syncthreads();
        if (t == 63) carried += sums[63];
        __syncthreads();
    }
}
