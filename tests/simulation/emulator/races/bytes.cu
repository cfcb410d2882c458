// Parts of words, members of structs, vectors: what matters are the bytes.
struct Pair {
    float x, y;
};
struct Nibbles {
    unsigned char low : 4, high : 4;
};
struct Halves {
    unsigned char low, high;
};

// launch: grid 2, block 64: in float32[128], out float32[128]

// Two members for two threads; the whole struct takes both.
extern "C" __global__ void racy_members(const float* in, float* out) {
    __shared__ Pair points[32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    Pair both = {in[i], in[i]};
    if (t < 32) points[t].x = in[i];  // @x
    if (t >= 32) points[t - 32] = both;  // race WAW points @x
    __syncthreads();
    out[i] = points[t % 32].x + points[t % 32].y;
}

extern "C" __global__ void clean_members(const float* in, float* out) {
    __shared__ Pair points[32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    Pair both = {in[i], in[i]};
    if (t < 32) points[t].x = in[i];
    if (t >= 32) points[t - 32].y = both.y;
    __syncthreads();
    out[i] = points[t % 32].x + points[t % 32].y;
}

// Read as a pair, written by halves.
extern "C" __global__ void racy_read_as_pair(const float* in, float* out) {
    __shared__ float2 pairs[32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) pairs[t].x = in[i];        // @x
    if (t >= 32) pairs[t - 32].y = in[i];  // @y
    float2 both = pairs[t % 32];  // race RAW pairs @x; race RAW pairs @y
    out[i] = both.x + both.y;
}

extern "C" __global__ void clean_read_as_pair(const float* in, float* out) {
    __shared__ float2 pairs[32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) pairs[t].x = in[i];
    if (t >= 32) pairs[t - 32].y = in[i];
    __syncthreads();
    float2 both = pairs[t % 32];
    out[i] = both.x + both.y;
}

// Four at once: one's own four, or one too many.
// launch: grid 1, block 64: in float32[256], out float32[64]
extern "C" __global__ void racy_four_of_ones_own(const float4* in, float* out) {
    __shared__ float4 row[65];
    int t = threadIdx.x;
    float* elements = (float*)row;
    row[t] = in[t];  // @four
    float last = t < 63 ? elements[4 * t + 4] : 0.0f;  // race RAW row @four
    out[t] = last;
}

extern "C" __global__ void clean_four_of_ones_own(const float4* in, float* out) {
    __shared__ float4 row[65];
    int t = threadIdx.x;
    float* elements = (float*)row;
    row[t] = in[t];
    float last = t < 63 ? elements[4 * t + 3] : 0.0f;
    out[t] = last;
}

// Vectors of neighbouring threads: written by ones, read by fours.
extern "C" __global__ void racy_written_by_ones(const float4* in, float* out) {
    __shared__ float4 row[16];
    int t = threadIdx.x;
    ((float*)row)[t] = in[t].x;  // @one
    if (t < 16) {
        float4 four = row[t];  // race RAW row @one
        out[t] = four.x + four.y + four.z + four.w;
    }
}

extern "C" __global__ void clean_written_by_ones(const float4* in, float* out) {
    __shared__ float4 row[16];
    int t = threadIdx.x;
    ((float*)row)[t] = in[t].x;
    __syncthreads();
    if (t < 16) {
        float4 four = row[t];
        out[t] = four.x + four.y + four.z + four.w;
    }
}

// Short numbers: a write of four bytes reaches the neighbour.
// launch: grid 2, block 64: in int16[128], out int16[128]
extern "C" __global__ void racy_two_shorts(const short* in, short* out) {
    __shared__ short row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @short
    if (t % 2 == 0) *(int*)&row[t] = 0;  // @int; race warning WAW row @short
    out[i] = row[t];  // race warning RAW row @int
}

extern "C" __global__ void clean_two_shorts(const short* in, short* out) {
    __shared__ short row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t % 2 == 0) *(short*)&row[t] = 0;
    out[i] = row[t];
}

// Clearing by words, marking by bytes.
// launch: grid 2, block 64: in uint8[128], out uint8[128]
extern "C" __global__ void racy_clearing_by_words(const unsigned char* in, unsigned char* out) {
    __shared__ __align__(4) unsigned char marks[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t % 4 == 0) *(int*)&marks[t] = 0;  // @clear
    marks[t] = in[i] | 1;  // race warning WAW marks @clear
    out[i] = marks[t];     // race warning RAW marks @clear
}

extern "C" __global__ void clean_clearing_by_words(const unsigned char* in, unsigned char* out) {
    __shared__ __align__(4) unsigned char marks[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t % 4 == 0) *(int*)&marks[t] = 0;
    __syncwarp();
    marks[t] = in[i] | 1;
    out[i] = marks[t];
}

// Bit-fields share a byte: changing one writes the other.
// launch: grid 1, block 128: inout uint8[128] all 0
extern "C" __global__ void racy_bit_fields(unsigned char* bytes) {
    int t = threadIdx.x;
    Nibbles* parts = (Nibbles*)bytes;
    if (t < 64) parts[t].low = 1;        // @low
    if (t >= 64) parts[t - 64].high = 2;  // race RAW bytes @low; race WAR bytes @low; race WAW bytes @low
}

extern "C" __global__ void clean_bit_fields(unsigned char* bytes) {
    int t = threadIdx.x;
    Halves* parts = (Halves*)bytes;
    if (t < 64) parts[t].low = 1;
    if (t >= 64) parts[t - 64].high = 2;
}

// Text moves one place: every letter must be read before its place is written.
// launch: grid 1, block 64: inout uint8[65]
extern "C" __global__ void racy_moving_text(unsigned char* text) {
    int t = threadIdx.x;
    unsigned char letter = text[t + 1];  // @letter
    text[t] = letter;  // race WAR text @letter
}

extern "C" __global__ void clean_moving_text(unsigned char* text) {
    int t = threadIdx.x;
    unsigned char letter = text[t + 1];
    __syncthreads();
    text[t] = letter;
}
