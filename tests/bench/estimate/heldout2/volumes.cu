// Stencils of volumes: a star of radius 2, and the mean of 27.

#define VOLUME const float *in, float *out, int W, int H, int D

__device__ bool near_border(int x, int y, int z, int W, int H, int D, int r) {
    return x < r || y < r || z < r || x >= W - r || y >= H - r || z >= D - r;
}

__global__ void star3_basic(VOLUME) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= W || y >= H || z >= D) return;
    int plane = W * H, i = z * plane + y * W + x;
    if (near_border(x, y, z, W, H, D, 2)) {
        out[i] = in[i];
        return;
    }
    float first = in[i - 1] + in[i + 1] + in[i - W] + in[i + W] + in[i - plane] + in[i + plane];
    float second = in[i - 2] + in[i + 2] + in[i - 2 * W] + in[i + 2 * W] + in[i - 2 * plane] + in[i + 2 * plane];
    out[i] = 0.4f * in[i] + 0.08f * first + 0.02f * second;
}

// Upwards plane by plane; five elements of the column in registers, neighbours from the cache.
__global__ void star3_march(VOLUME) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    int plane = W * H;
    const float* at = in + y * W + x;
    float below2, below1 = 0, own = 0, above1 = at[0], above2 = at[plane];
    for (int z = 0; z < D; z++) {
        below2 = below1;
        below1 = own;
        own = above1;
        above1 = above2;
        above2 = z + 2 < D ? at[(z + 2) * plane] : 0.0f;
        const float* p = at + z * plane;
        float result = own;
        if (!near_border(x, y, z, W, H, D, 2)) {
            float first = p[-1] + p[1] + p[-W] + p[W] + below1 + above1;
            float second = p[-2] + p[2] + p[-2 * W] + p[2 * W] + below2 + above2;
            result = 0.4f * own + 0.08f * first + 0.02f * second;
        }
        out[z * plane + y * W + x] = result;
    }
}

// The same with the plane in shared memory.
__global__ void star3_planes(VOLUME) {
    __shared__ float s[8 + 4][32 + 4];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 32 - 2, top = blockIdx.y * 8 - 2;
    int x = left + 2 + tx, y = top + 2 + ty, plane = W * H;
    int first = blockIdx.z * 16, last = min(first + 16, D);
    bool exists = x < W && y < H;
    int column = exists ? y * W + x : 0;
    float b2 = first > 1 ? in[(first - 2) * plane + column] : 0, b1 = first > 0 ? in[(first - 1) * plane + column] : 0;
    for (int z = first; z < last; z++) {
        __syncthreads();
        for (int e = ty * 32 + tx; e < 12 * 36; e += 256) {
            int u = left + e % 36, v = top + e / 36;
            if (u >= 0 && v >= 0 && u < W && v < H) s[e / 36][e % 36] = in[z * plane + v * W + u];
        }
        __syncthreads();
        if (!exists) continue;
        float own = s[ty + 2][tx + 2], result = own;
        if (!near_border(x, y, z, W, H, D, 2)) {
            float a1 = in[(z + 1) * plane + column], a2 = in[(z + 2) * plane + column];
            float n1 = s[ty + 2][tx + 1] + s[ty + 2][tx + 3] + s[ty + 1][tx + 2] + s[ty + 3][tx + 2] + b1 + a1;
            float n2 = s[ty + 2][tx] + s[ty + 2][tx + 4] + s[ty][tx + 2] + s[ty + 4][tx + 2] + b2 + a2;
            result = 0.4f * own + 0.08f * n1 + 0.02f * n2;
        }
        out[z * plane + column] = result;
        b2 = b1;
        b1 = own;
    }
}

__global__ void mean27_basic(VOLUME) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x >= W || y >= H) return;
    int i = (z * H + y) * W + x;
    if (near_border(x, y, z, W, H, D, 1)) {
        out[i] = in[i];
        return;
    }
    float sum = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) sum += in[i + (dz * H + dy) * W + dx];
    out[i] = sum / 27;
}

// A block of 8 x 8 x 8 elements with all that lies around it in shared memory.
__global__ void mean27_cube(VOLUME) {
    __shared__ float s[10][10][10];
    int t = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
    int left = blockIdx.x * 8 - 1, top = blockIdx.y * 8 - 1, front = blockIdx.z * 8 - 1;
    for (int e = t; e < 1000; e += 512) {
        int u = left + e % 10, v = top + e / 10 % 10, w = front + e / 100;
        u = min(max(u, 0), W - 1);
        v = min(max(v, 0), H - 1);
        w = min(max(w, 0), D - 1);
        s[e / 100][e / 10 % 10][e % 10] = in[(w * H + v) * W + u];
    }
    __syncthreads();
    int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y, z = front + 1 + threadIdx.z;
    if (x >= W || y >= H || z >= D) return;
    float sum = 0;
    for (int k = 0; k < 27; k++) sum += s[threadIdx.z + k / 9][threadIdx.y + k / 3 % 3][threadIdx.x + k % 3];
    float own = s[threadIdx.z + 1][threadIdx.y + 1][threadIdx.x + 1];
    out[(z * H + y) * W + x] = near_border(x, y, z, W, H, D, 1) ? own : sum / 27;
}

// Sums of planes of nine are kept: each plane is read once for three results.
__global__ void mean27_march(VOLUME) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    bool inner = x > 0 && y > 0 && x < W - 1 && y < H - 1;
    float below = 0, own = 0;
    for (int z = 0; z < D; z++) {
        const float* p = in + (z * H + y) * W + x;
        float above = 0;
        if (z == 0 && inner)
            for (int k = 0; k < 9; k++) own += p[(k / 3 - 1) * W + k % 3 - 1];
        if (z + 1 < D && inner)
            for (int k = 0; k < 9; k++) above += p[(H + k / 3 - 1) * W + k % 3 - 1];
        out[(z * H + y) * W + x] = inner && z > 0 && z < D - 1 ? (below + own + above) / 27 : *p;
        below = own;
        own = above;
    }
}
