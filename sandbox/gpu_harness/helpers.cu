// Our own device code: what the harness needs beside the student's kernel. Plain CUDA for compute capability
// 7.5 and up. Every kernel strides over its work, so any grid will do; `start` of an array of elements of
// 1, 2, 4 or 8 bytes is a multiple of their size. Sums are added to what the result holds.

typedef unsigned char Byte;
typedef unsigned int Word;
typedef unsigned long long Long;

static __device__ Long first() { return blockIdx.x * (Long)blockDim.x + threadIdx.x; }

static __device__ Long stride() { return gridDim.x * (Long)blockDim.x; }

// Adds up `value` over the block and adds that to `result`; all threads of the block must call it.
static __device__ void add_up(Long value, Long *result) {
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
    if (threadIdx.x % 32 == 0 && value != 0) atomicAdd(result, value);
}

// The finaliser of SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014, figure 16 (variant 13). A bijection of 64 bits in which every bit depends on every other.
static __device__ Long mixed(Long z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// The 32-bit word number `index`, little-endian; bytes beyond the end count as zero.
static __device__ Word word_at(const Byte *start, Long index, Long bytes) {
    const Byte *place = start + 4 * index;
    const Long left = bytes - 4 * index;
    if (left >= 4 && (size_t)start % 4 == 0) return *(const Word *)place;
    Word word = 0;
    for (int i = 0; i < 4 && i < left; ++i) word |= (Word)place[i] << (8 * i);
    return word;
}

// Is the device well? out[i] = 3 i + 1.
extern "C" __global__ void probe(Word *out, Long count) {
    for (Long i = first(); i < count; i += stride()) out[i] = (Word)(3 * i + 1);
}

// A digest that does not depend on the order of additions: the sum of mixed(seed, place, word) over all words.
// Nobody who does not know the seed can make other contents with the same sum.
extern "C" __global__ void digest(const Byte *start, Long bytes, Long seed, Long *result) {
    const Long words = (bytes + 3) / 4;
    Long sum = 0;
    for (Long i = first(); i < words; i += stride())
        sum += mixed(mixed(seed ^ (i * 0x9e3779b97f4a7c15ULL)) ^ word_at(start, i, bytes));
    add_up(sum, result);
}

// How many elements hold `pattern`, that is the poison, repeated to fill 64 bits.
extern "C" __global__ void unwritten(const Byte *start, Long elements, Word size, Long pattern, Long *result) {
    Long count = 0;
    for (Long i = first(); i < elements; i += stride()) {
        const Byte *place = start + i * size;
        switch (size) {
            case 1: count += *place == (Byte)pattern; break;
            case 2: count += *(const unsigned short *)place == (unsigned short)pattern; break;
            case 4: count += *(const Word *)place == (Word)pattern; break;
            default: count += *(const Long *)place == pattern; break;
        }
    }
    add_up(count, result);
}

// Fills with a pattern of 64 bits; `start` is a multiple of 8.
extern "C" __global__ void poison(Long *start, Long count, Long pattern) {
    for (Long i = first(); i < count; i += stride()) start[i] = pattern;
}

// Bandwidth: each 16 bytes are read once and written once; both are multiples of 16.
extern "C" __global__ void copy_words(uint4 *to, const uint4 *from, Long count) {
    for (Long i = first(); i < count; i += stride()) to[i] = from[i];
}

// Bandwidth of reading alone, which may be higher; the sum is stored only if it is one that it never is.
extern "C" __global__ void read_words(const uint4 *from, Long count, Word *never) {
    Word sum = 0;
    for (Long i = first(); i < count; i += stride()) {
        const uint4 four = from[i];
        sum += (four.x & 1u) + (four.y & 1u) + (four.z & 1u) + (four.w & 1u);
    }
    if (sum == 0xffffffffu) *never = sum;
}

// Peak of float32: `rounds` times eight independent multiply-adds, 16 operations, in each thread. With
// factor 1 and term 0, which the compiler does not know, no number leaves the range in which it is fast.
extern "C" __global__ void fma_peak(float *never, int rounds, float factor, float term) {
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
#pragma unroll 16
    for (int i = 0; i < rounds; ++i) {
        a = fmaf(a, factor, term);
        b = fmaf(b, factor, term);
        c = fmaf(c, factor, term);
        d = fmaf(d, factor, term);
        e = fmaf(e, factor, term);
        f = fmaf(f, factor, term);
        g = fmaf(g, factor, term);
        h = fmaf(h, factor, term);
    }
    if (a + b + c + d + e + f + g + h == -1.0f) *never = a;
}
