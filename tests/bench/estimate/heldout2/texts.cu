// Bytes: letters made large, words counted, a pattern looked for, colours made grey.

#define LETTERS const unsigned char *in, unsigned char *out, int n

__global__ void upper_basic(LETTERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char c = in[i];
    if (c >= 'a' && c <= 'z') c -= 32;
    out[i] = c;
}

__global__ void upper_four(LETTERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    uchar4 c = ((const uchar4*)in)[i];
    if (c.x >= 'a' && c.x <= 'z') c.x -= 32;
    if (c.y >= 'a' && c.y <= 'z') c.y -= 32;
    if (c.z >= 'a' && c.z <= 'z') c.z -= 32;
    if (c.w >= 'a' && c.w <= 'z') c.w -= 32;
    ((uchar4*)out)[i] = c;
}

// A thread has 64 bytes of its own, one after another.
__global__ void upper_chunk(LETTERS) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
    for (int i = first; i < first + 64 && i < n; i++) {
        unsigned char c = in[i];
        out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
    }
}

// Sixteen bytes at a time by the instructions for four bytes of a word.
__device__ unsigned upper_word(unsigned w) {
    unsigned small = __vcmpgeu4(w, 0x61616161) & __vcmpleu4(w, 0x7a7a7a7a);
    return w - (small & 0x20202020);
}

__global__ void upper_words(LETTERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 16) return;
    uint4 w = ((const uint4*)in)[i];
    ((uint4*)out)[i] = make_uint4(upper_word(w.x), upper_word(w.y), upper_word(w.z), upper_word(w.w));
}

// Words begin where a letter follows what is none; letters are those above 63.
#define COUNTED const unsigned char *in, unsigned *out, int n

__device__ bool letter(unsigned char c) { return c > 63; }

__global__ void words_basic(COUNTED) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (letter(in[i]) && (i == 0 || !letter(in[i - 1]))) atomicAdd(out, 1);
}

__global__ void words_block(COUNTED) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool begins = false;
    if (i < n) begins = letter(in[i]) && (i == 0 || !letter(in[i - 1]));
    int count = __syncthreads_count(begins);
    if (threadIdx.x == 0 && count > 0) atomicAdd(out, count);
}

// Sixteen bytes of a thread: the byte before them is remembered from one to the next.
__global__ void words_sixteen(COUNTED) {
    __shared__ unsigned total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    unsigned count = 0;
    if (first < n) {
        bool before = first > 0 && letter(in[first - 1]);
        uint4 w = *(const uint4*)(in + first);
        unsigned parts[4] = {w.x, w.y, w.z, w.w};
        for (int k = 0; k < 16; k++) {
            bool now = letter(parts[k / 4] >> (k % 4 * 8) & 255);
            count += now && !before;
            before = now;
        }
    }
    count = __reduce_add_sync(0xffffffff, count);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, count);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, total);
}

// Marks where eight bytes begin of which two or more are as in "abcdefgh", or the letter beside.
__constant__ unsigned char pattern[8] = {97, 98, 99, 100, 101, 102, 103, 104};
#define MARKS const unsigned char *in, unsigned char *out, int n

__global__ void match_basic(MARKS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int same = 0;
    for (int k = 0; k < 8 && i + k < n; k++) same += in[i + k] / 2 == pattern[k] / 2;
    out[i] = same >= 2;
}

__global__ void match_shared(MARKS) {
    __shared__ unsigned char text[256 + 7];
    int i = blockIdx.x * 256 + threadIdx.x;
    text[threadIdx.x] = i < n ? in[i] : 0;
    if (threadIdx.x < 7) text[256 + threadIdx.x] = i + 256 < n ? in[i + 256] : 0;
    __syncthreads();
    if (i >= n) return;
    int same = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) same += text[threadIdx.x + k] / 2 == pattern[k] / 2;
    out[i] = same >= 2;
}

// As soon as two are the same, the rest is not looked at.
__global__ void match_early(MARKS) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int same = 0, k = 0;
        while (k < 8 && i + k < n && same < 2) {
            if (in[i + k] / 2 == 48 + (k + 1) / 2) same++;
            k++;
        }
        out[i] = same == 2;
    }
}

// Pixels of red, green and blue bytes; grey is (77 r + 151 g + 28 b) / 256.
__global__ void grey_basic(LETTERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (77 * in[3 * i] + 151 * in[3 * i + 1] + 28 * in[3 * i + 2]) >> 8;
}

__global__ void grey_floats(LETTERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar3 p = ((const uchar3*)in)[i];
    out[i] = (unsigned char)((77.0f * p.x + 151.0f * p.y + 28.0f * p.z) / 256.0f);
}

// Four pixels are three words.
__global__ void grey_words(LETTERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    const unsigned* w = (const unsigned*)in + 3 * i;
    unsigned a = w[0], b = w[1], c = w[2];
    uchar4 grey;
    grey.x = (77 * (a & 255) + 151 * (a >> 8 & 255) + 28 * (a >> 16 & 255)) >> 8;
    grey.y = (77 * (a >> 24) + 151 * (b & 255) + 28 * (b >> 8 & 255)) >> 8;
    grey.z = (77 * (b >> 16 & 255) + 151 * (b >> 24) + 28 * (c & 255)) >> 8;
    grey.w = (77 * (c >> 8 & 255) + 151 * (c >> 16 & 255) + 28 * (c >> 24)) >> 8;
    ((uchar4*)out)[i] = grey;
}

// The block's pixels go through shared memory, as words.
__global__ void grey_shared(LETTERS) {
    __shared__ unsigned words[192];
    int first = blockIdx.x * 256;
    if (threadIdx.x < 192 && (first * 3 / 4 + threadIdx.x) * 4 < 3 * n)
        words[threadIdx.x] = ((const unsigned*)in)[first * 3 / 4 + threadIdx.x];
    __syncthreads();
    const unsigned char* p = (const unsigned char*)words + 3 * threadIdx.x;
    if (first + threadIdx.x < n) out[first + threadIdx.x] = (77 * p[0] + 151 * p[1] + 28 * p[2]) >> 8;
}
