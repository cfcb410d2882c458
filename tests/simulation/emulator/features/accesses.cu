// Cache hints, vectors, structs, variables with initialisers, state spaces and special registers.
#include <cstdint>

extern "C" __global__ void hints(const float4 *a, const int2 *b, const char4 *c, const short4 *d, const double2 *e,
                                 const longlong2 *f, const unsigned char *g, float *out) {
    int i = threadIdx.x;
    float4 p = __ldg(a + i), q = __ldcs(a + i), r = __ldcg(a + i), s = __ldca(a + i), t = __ldlu(a + i),
           u = __ldcv(a + i);
    int2 pair = __ldg(b + i);
    char4 bytes = __ldg(c + i);
    short4 shorts = __ldcs(d + i);
    double2 doubles = __ldg(e + i);
    longlong2 longs = __ldg(f + i);
    float sum = p.x + q.y + r.z + s.w + t.x + u.y + pair.x - pair.y + bytes.x + bytes.w * 2 + shorts.y -
                shorts.z + doubles.x * doubles.y + longs.x + longs.y + __ldg(g + i);
    __stwt(out + i, sum);
    __stcs(out + i + 32, sum + 1);
    __stcg(out + i + 64, sum + 2);
    __stwb(out + i + 96, sum + 3);
}

struct __align__(16) Particle { short kind; char flag; float mass; double energy; };
extern "C" __global__ void structs(const Particle *in, Particle *out) {
    int i = threadIdx.x;
    Particle p = in[i];
    p.kind += 1;
    p.flag -= 2;
    p.mass *= 3;
    p.energy = p.energy + p.kind;
    out[31 - i] = p;
}

__constant__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ int offset;
__device__ int counter = 7;
__device__ float filled[4][2] = {{1, 2}, {3}};
__device__ const char *names[2] = {"ab", "cde"};
struct Mixed { char letter; const float *values; short number; };
__device__ Mixed mixed[2] = {{'x', table, 3}, {'y', table + 2, 4}};
extern "C" __global__ void variables(float *out) {
    int i = threadIdx.x, odd = i & 1;
    out[i] = table[i & 7] + offset + filled[i & 3][odd] + names[odd][1] + mixed[odd].values[0] +
             mixed[odd].number + mixed[odd].letter;
    if (i == 31) {
        counter += 1;
        out[i] = counter;
    }
}

extern "C" __global__ void spaces(int *out) {
    __shared__ int tile[32];
    int mine[4], i = threadIdx.x;
    tile[i] = i;
    mine[i & 3] = i;
    int *local = &mine[i & 3];
    __syncthreads();
    size_t offset = __cvta_generic_to_shared(&tile[i]);
    out[i] = __isGlobal(out) | __isShared(&tile[i]) << 1 | __isLocal(local) << 2 | __isConstant(table) << 3 |
             __isGlobal(local) << 4 | __isConstant(out) << 5 | (*(int *)__cvta_shared_to_generic(offset) == i) << 6 |
             __isGlobal(table) << 7;
    out[i + 32] = *local;
}

extern "C" __global__ void dynamic_shared(float *out) {
    extern __shared__ char memory[];
    float *floats = (float *)memory;
    double *doubles = (double *)(floats + 32);
    int i = threadIdx.x;
    floats[i] = i;
    doubles[i] = i * 2;
    __syncthreads();
    out[i] = floats[31 - i] + doubles[31 - i];
}

extern "C" __global__ void __launch_bounds__(32, 2) clocks(int *out) {
    int i = threadIdx.x;
    long long start = clock64();
    clock_t also = clock();
    unsigned nanoseconds;
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(nanoseconds));
    __nanosleep(10);
    for (int k = 0; k < i; k++) __threadfence();
    out[i] = clock64() - start >= 0 && clock() - also >= 0;
    __threadfence_block();
    __threadfence_system();
    __prof_trigger(1);
}

#define READ(place, name) asm("mov.u32 %0, %%" name ";" : "=r"(out[(place) * blockDim.x + threadIdx.x]))
extern "C" __global__ void registers(unsigned *out) {
    READ(0, "laneid");
    READ(1, "lanemask_lt");
    READ(2, "lanemask_ge");
    READ(3, "lanemask_eq");
    READ(4, "warpid");
    READ(5, "nwarpid");
    READ(6, "dynamic_smem_size");
    READ(7, "lanemask_le");
    READ(8, "lanemask_gt");
    unsigned where, count;
    asm("mov.u32 %0, %%smid;" : "=r"(where));
    asm("mov.u32 %0, %%nsmid;" : "=r"(count));
    out[9 * blockDim.x + threadIdx.x] = where < count;
    out[10 * blockDim.x + threadIdx.x] = warpSize;
}

extern "C" __global__ void wide_integers(long long *out) {
    __int128 a = (__int128)out[threadIdx.x] << 70;
    a = a * 3 + 5;
    out[threadIdx.x] = (long long)(a >> 70) + (long long)a;
}

extern "C" __global__ void copies(const char *in, char *out, int n) {
    char buffer[40];
    memcpy(buffer, in + threadIdx.x * 8, n);
    memset(buffer + n, 7, 4);
    memcpy(out + threadIdx.x * 12, buffer, n + 4);
}
