// Races that one barrier ends. `// here` marks the line that it belongs before.

extern "C" __global__ void forward(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    float own = in[i];        // here
    out[i] = own + row[63 - t];
}

extern "C" __global__ void two_stores_one_barrier(const float* in, float* out) {
    __shared__ float left[64], right[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    left[t] = in[i];
    right[t] = 2 * in[i];
    float sum = 0.0f;
    for (int k = 0; k < 64; ++k)  // here
        sum += left[k] * right[63 - k];
    out[i] = sum;
}

extern "C" __global__ void stores_in_order(const float* in, float* out) {
    __shared__ float row[65];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    row[t + 1] = 2 * in[i];   // here
    __syncthreads();
    out[i] = row[t];
}

extern "C" __global__ void end_of_turn(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int turn = 0; turn < 3; ++turn) {
        row[t] = in[i] * turn;
        __syncthreads();
        for (int k = 0; k < 64; ++k)
            sum += row[k];
    }                         // here
    out[i] = sum;
}

extern "C" __global__ void end_of_while(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, turn = 0;
    float sum = 0.0f;
    while (turn < 3) {
        row[t] = in[i] * turn;
        turn++;
        __syncthreads();
        sum += row[63 - t];
    }                         // here
    out[i] = sum;
}

extern "C" __global__ void warp_end_of_turn(const float* in, float* out) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) {
            float other = part[t + half];
            part[t] += other;
        }
    }                         // here
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void end_of_do(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, turn = 0;
    float sum = 0.0f;
    do {
        row[t] = in[i] * turn;
        __syncthreads();
        sum += row[63 - t];
    } while (++turn < 3);     // here
    out[i] = sum;
}

extern "C" __global__ void after_the_if(const float* in, float* out) {
    __shared__ float scale;
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0) {
        scale = in[0];
    }
    out[i] = in[i] * scale;   // here
}

extern "C" __global__ void before_the_loop(const float* in, float* out) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    for (int half = 32; half > 0; half /= 2) {  // here
        if (t < half) {
            float other = part[t + half];
            part[t] += other;
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__device__ void fill(float* row, const float* in) {
    row[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
}

extern "C" __global__ void between_calls(const float* in, float* out) {
    __shared__ float row[64];
    fill(row, in);
    out[blockIdx.x * 64 + threadIdx.x] = row[63 - threadIdx.x];  // here
}

extern "C" __global__ void not_inside_an_expression(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t]
        = in[i]
        + 1.0f;
    out[i]                    // here
        = in[i]
        + row[63 - t];
}

extern "C" __global__ void global_memory(const float* in, float* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i];
    float other = out[blockIdx.x * 64 + 63 - threadIdx.x];  // here
    __syncthreads();
    out[i] = other;
}

// Races that a barrier elsewhere ends: `// spare` marks the barrier that stands in the wrong place.

extern "C" __global__ void spare_after_loop(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int turn = 0; turn < 3; ++turn) {
        row[t] = in[i] * turn;
        __syncthreads();
        sum += row[63 - t];
    }                         // here
    __syncthreads();          // spare
    out[i] = sum;
}

extern "C" __global__ void spare_before_store(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    __syncthreads();          // spare
    row[t] = in[i];
    out[i] = row[63 - t];     // here
}

extern "C" __global__ void spare_in_if(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t < 48) {             // here
        __syncthreads();      // spare
        out[i] = row[63 - t];
    }
}

extern "C" __global__ void spare_inside_guard(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t < 48) {             // here
        __syncthreads();      // spare
        out[i] = row[63 - t];
    }
}

extern "C" __global__ void spare_after_continue(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int turn = 0; turn < 2; ++turn) {
        row[t] = in[i] * turn;
        if (t < turn) continue;   // here
        __syncthreads();          // spare
        sum += row[t];
    }
    out[i] = sum;
}

// Within warps `__syncwarp()` is enough.

extern "C" __global__ void warp_reverse(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    out[i] = row[t ^ 31];     // here
}

// What no barrier in one place ends.

extern "C" __global__ void silent_lost_update(const int* in, int* out) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    counts[t % 8] += in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 8) out[blockIdx.x * 8 + t] = counts[t];
}

extern "C" __global__ void silent_between_blocks(const float* in, float* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i];
    if (i > 0) out[i - 1] += 1.0f;
}

extern "C" __global__ void silent_two_writers(const float* in, float* out) {
    __shared__ float last;
    last = in[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = last;
}

extern "C" __global__ void silent_where_some_leave_early(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t >= 48) return;
    row[t] = in[i];
    out[i] = row[47 - t];
}

extern "C" __global__ void silent_loop_of_own_length(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int k = t; k < 100; k += 64) {
        row[t] = in[k % 64];
        __syncthreads();
        sum += row[t];
    }
    out[i] = sum;
}

extern "C" __global__ void silent_where_a_loop_has_no_braces(const float* in, float* out) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2)
        if (t < half)
            part[t] += part[t + half];
    out[blockIdx.x * 64 + t] = part[t];
}

// Right kernels; `// spare` marks a barrier that is not needed.

extern "C" __global__ void right_with_all_needed(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int turn = 0; turn < 3; ++turn) {
        row[t] = in[i] * turn;
        __syncthreads();
        sum += row[63 - t];
        __syncthreads();
    }
    out[i] = sum;
}

extern "C" __global__ void right_with_one_at_the_end(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncthreads();
    out[i] = row[63 - t];
    __syncthreads();          // spare
}

extern "C" __global__ void right_with_two_in_a_row(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncthreads();
    __syncthreads();          // spare
    out[i] = row[63 - t];
}

extern "C" __global__ void right_with_a_spare_in_the_loop(const float* in, float* out) {
    __shared__ float row[2][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int turn = 0; turn < 4; ++turn) {
        row[turn % 2][t] = in[i] * turn;
        __syncthreads();
        sum += row[turn % 2][63 - t];
        __syncthreads();      // spare
    }
    out[i] = sum;
}

extern "C" __global__ void right_with_a_volatile_counter(const float* in, float* out) {
    __shared__ volatile int count;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) count = 0;
    __syncthreads();
    atomicAdd((int*)&count, in[i] > 8.0f);
    __syncthreads();
    out[i] = count;
}

extern "C" __global__ void right_with_an_atomic_counter(const float* in, float* out) {
    __shared__ int count;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, in[i] > 8.0f);
    __syncthreads();
    out[i] = atomicAdd(&count, 0);
}
