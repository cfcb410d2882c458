// Global and constant memory seen from one SM: loads that hit L1 and stores by access pattern, latencies by
// level, what one SM gets of L2, and how much L1 holds beside shared memory.
//
// A pattern is the byte address of each lane. The offsets within a round are multiples of 512 bytes, so that
// each access of a round touches as many sectors and lines as the first.

#include "bench.cuh"

#include <numeric>
#include <random>

constexpr int kUnroll = 16;
constexpr int kStep = 512;
constexpr int kRounds = 64;

struct Pattern {
    int lanes[32];
};

template <int kBytes>
__device__ __forceinline__ unsigned load(const char* address) {
    unsigned x, y, z, w;
    if constexpr (kBytes == 4) {
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(address));
        return x;
    } else if constexpr (kBytes == 8) {
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(address));
        return x ^ y;
    } else {
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "l"(address));
        return x ^ y ^ z ^ w;
    }
}

template <int kBytes>
__device__ __forceinline__ void store(char* address, unsigned x) {
    if constexpr (kBytes == 4) {
        asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(x));
    } else if constexpr (kBytes == 8) {
        asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(address), "r"(x));
    } else {
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(address), "r"(x));
    }
}

template <int kBytes>
__global__ void loads(Stamps stamps, const char* memory, Pattern pattern, int rounds, int step,
                      unsigned* out) {
    const char* address = memory + pattern.lanes[threadIdx.x % 32];
    unsigned sum = 0;
    for (int i = 0; i < kUnroll; ++i) sum ^= load<kBytes>(address + i * kStep);
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) sum ^= load<kBytes>(address + i * kStep);
        address += step;
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = sum;
}

// Each warp has a region of its own; `region` is its size in bytes.
template <int kBytes>
__global__ void stores(Stamps stamps, char* memory, Pattern pattern, int rounds, int step, int region) {
    char* address = memory + size_t(threadIdx.x / 32) * region + pattern.lanes[threadIdx.x % 32];
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) store<kBytes>(address + i * kStep, threadIdx.x);
        address += step;
    }
    long long end = stamp();
    note(stamps, begin, end);
}

// As many loads from L1 as from shared memory: do they share a pipe?
__global__ void both(Stamps stamps, const char* memory, int rounds, int step, unsigned* out) {
    __shared__ unsigned words[4096];
    const char* address = memory + threadIdx.x % 32 * 4;
    unsigned local = (unsigned)__cvta_generic_to_shared(words) + threadIdx.x % 32 * 4, sum = 0;
    for (int i = 0; i < kUnroll; ++i) sum ^= load<4>(address + i * kStep);
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) {
            unsigned x;
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(local + i * kStep));
            sum ^= load<4>(address + i * kStep) ^ x;
        }
        address += step;
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = sum;
}

// The inner loop of a naive product from L1: an element of a row, one of a column, a multiply-add.
__global__ void product(Stamps stamps, const char* memory, Pattern left, Pattern right, int rounds, int step,
                        float* out) {
    const char* a = memory + left.lanes[threadIdx.x % 32];
    const char* b = memory + right.lanes[threadIdx.x % 32];
    float sum = 0;
    for (int i = 0; i < kUnroll; ++i) sum += __uint_as_float(load<4>(a + i * 4) ^ load<4>(b + i * kStep));
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) {
            float x = __uint_as_float(load<4>(a + i * 4)), y = __uint_as_float(load<4>(b + i * kStep));
            asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(x), "f"(y));
        }
        a += step;
        b += step;
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = sum;
}

// A chain of loads, each of which gives the address of the next; `warm` of them are made before the clock
// runs.
template <bool kCached>
__global__ void chain(Stamps stamps, void** start, int warm, int rounds, void** out) {
    void** at = start;
    auto next = [&] {
        if constexpr (kCached)
            asm volatile("ld.global.u64 %0, [%0];" : "+l"(at));
        else
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at));
    };
#pragma unroll 1
    for (int round = 0; round < warm; ++round) next();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) next();
    long long end = stamp();
    note(stamps, begin, end);
    *out = at;
}

// Passes over `bytes` of memory by the block, `kBytes` per lane, coalesced, `kFlying` loads at a time; blocks
// all read the same. `bytes` is a multiple of what the block loads at a time.
template <int kBytes, int kFlying>
__global__ void passes(Stamps stamps, const char* memory, int bytes, int rounds, unsigned* out) {
    extern __shared__ unsigned words[];
    unsigned sum = 0;
    long long begin = 0;
    int width = blockDim.x * kBytes;
#pragma unroll 1
    for (int round = 0; round <= rounds; ++round) {
        if (round == 1) {
            __syncthreads();
            begin = stamp();
        }
#pragma unroll 1
        for (int at = threadIdx.x * kBytes; at < bytes; at += width * kFlying) {
            unsigned values[kFlying];
#pragma unroll
            for (int i = 0; i < kFlying; ++i) values[i] = load<kBytes>(memory + at + i * width);
#pragma unroll
            for (int i = 0; i < kFlying; ++i) sum ^= values[i];
        }
    }
    long long end = stamp();
    note(stamps, begin, end);
    if (sum == 12345) words[threadIdx.x] = sum;
    out[threadIdx.x] = sum;
}

__constant__ unsigned constants[8192];

__global__ void constant_loads(Stamps stamps, Pattern pattern, int rounds, int step, unsigned* out) {
    int at = pattern.lanes[threadIdx.x % 32];
    unsigned sum = 0;
    for (int i = 0; i < kUnroll; ++i) sum ^= constants[at + i];
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) sum += constants[at + i] ^ sum;
        at += step;
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = sum;
}

// Chains of constant loads and of atomics that return zero.
__global__ void constant_chain(Stamps stamps, int rounds, unsigned* out) {
    unsigned at = threadIdx.x;
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) at = constants[at];
    }
    long long end = stamp();
    note(stamps, begin, end);
    *out = at;
}

__global__ void atomic_chain(Stamps stamps, unsigned* memory, int rounds, unsigned* out) {
    unsigned at = 0;
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) at = atomicAdd(memory + at, 0u);
    }
    long long end = stamp();
    note(stamps, begin, end);
    *out = at;
}

template <class Address>
Pattern pattern_of(Address address) {
    Pattern pattern;
    for (int lane = 0; lane < 32; ++lane) pattern.lanes[lane] = address(lane);
    return pattern;
}

struct Named {
    std::string name;
    Pattern pattern;
};

std::vector<Named> patterns(int bytes) {
    std::vector<Named> all;
    all.push_back({"broadcast", pattern_of([](int) { return 0; })});
    all.push_back({"two_rows_same_column", pattern_of([](int lane) { return lane / 16 * 4096; })});
    all.push_back({"four_rows_same_column", pattern_of([](int lane) { return lane / 8 * 4096; })});
    all.push_back({"runs_of_2_in_a_line", pattern_of([=](int lane) { return lane / 16 * bytes; })});
    all.push_back(
        {"two_rows_of_16", pattern_of([=](int lane) { return lane / 16 * 4096 + lane % 16 * bytes; })});
    all.push_back(
        {"four_rows_of_8", pattern_of([=](int lane) { return lane / 8 * 4096 + lane % 8 * bytes; })});
    all.push_back({"row_of_16_twice", pattern_of([=](int lane) { return lane % 16 * bytes; })});
    all.push_back({"row_of_8_four_times", pattern_of([=](int lane) { return lane % 8 * bytes; })});
    all.push_back({"misaligned_by_one", pattern_of([=](int lane) { return lane * bytes + bytes; })});
    all.push_back({"two_rows_in_other_banks", pattern_of([](int lane) { return lane / 16 * (4096 + 64); })});
    for (int stride : {1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33}) {
        if (stride * bytes * 32 <= 17 * 1024) {
            all.push_back({"stride_" + std::to_string(stride),
                           pattern_of([=](int lane) { return lane * stride * bytes; })});
        }
    }
    for (int lines : {2, 4, 8, 16, 32}) {
        all.push_back({"lines_" + std::to_string(lines),
                       pattern_of([=](int lane) { return lane * lines / 32 * 512 + lane % 4 * bytes; })});
    }
    return all;
}

Stamps stamps;
char* memory;
unsigned* out;
constexpr size_t kMemory = size_t(1) << 30;

template <int kBytes>
void measure_width() {
    std::string bits = std::to_string(8 * kBytes);
    for (const Named& each : patterns(kBytes)) {
        double took = cycles(
            stamps, 32, [&] { loads<kBytes><<<1, 1024>>>(stamps, memory, each.pattern, kRounds, 0, out); });
        report("LDG." + bits + ".L1." + each.name, took / (32 * kRounds * kUnroll),
               "cycles/warp instruction/SM");
        took = cycles(stamps, 32,
                      [&] { stores<kBytes><<<1, 1024>>>(stamps, memory, each.pattern, kRounds, 0, 65536); });
        report("STG." + bits + "." + each.name, took / (32 * kRounds * kUnroll),
               "cycles/warp instruction/SM");
    }
}

void measure_products() {
    for (int width : {8, 16, 32}) {
        Pattern row = pattern_of([=](int lane) { return lane / width * 4096; });
        Pattern column = pattern_of([=](int lane) { return lane % width * 4; });
        double took = cycles(
            stamps, 32, [&] { product<<<1, 1024>>>(stamps, memory, row, column, kRounds, 0, (float*)out); });
        report("naive_product.L1.width_" + std::to_string(width), took / (32 * kRounds * kUnroll),
               "cycles/(2 LDG + FFMA)/SM");
    }
    double took = cycles(stamps, 32, [&] { both<<<1, 1024>>>(stamps, memory, kRounds, 0, out); });
    report("LDG_and_LDS.coalesced", took / (32 * kRounds * kUnroll), "cycles/(LDG + LDS)/SM");
}

// A random cycle through all lines of `footprint` bytes.
void** make_chain(size_t footprint, size_t stride) {
    size_t count = footprint / stride;
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t(0));
    std::shuffle(order.begin() + 1, order.end(), std::mt19937_64(7));
    std::vector<char> host(footprint);
    for (size_t i = 0; i < count; ++i) {
        *(void**)(host.data() + order[i] * stride) = memory + order[(i + 1) % count] * stride;
    }
    CHECK(cudaMemcpy(memory, host.data(), footprint, cudaMemcpyHostToDevice));
    return (void**)memory;
}

void measure_latencies() {
    auto one = [&](const char* name, auto kernel, size_t footprint, size_t stride) {
        void** start = make_chain(footprint, stride);
        int rounds = int(footprint / stride);
        double took =
            cycles(stamps, 1, [&] { kernel<<<1, 1>>>(stamps, start, rounds, rounds, (void**)out); });
        report(name, took / rounds, "cycles");
    };
    one("latency.L1.16KiB", chain<true>, 16 << 10, 128);
    one("latency.L1.128KiB", chain<true>, 128 << 10, 128);
    one("latency.L2.1MiB", chain<false>, 1 << 20, 128);
    one("latency.L2.8MiB", chain<false>, 8 << 20, 1024);
    one("latency.L2.24MiB", chain<false>, 24 << 20, 4096);
    one("latency.L2.512MiB_of_pages", chain<false>, size_t(512) << 20, 65536);
    // Each line once, after L2 was overwritten.
    auto cold = [&](const char* name, size_t footprint, size_t stride) {
        void** start = make_chain(footprint, stride);
        int rounds = int(footprint / stride) - 1;
        double took = cycles(stamps, 1, [&] {
            CHECK(cudaMemsetAsync(memory + (size_t(768) << 20), 0, size_t(200) << 20));
            chain<false><<<1, 1>>>(stamps, start, 0, rounds, (void**)out);
        });
        report(name, took / rounds, "cycles");
    };
    double took = cycles(stamps, 1, [&] { constant_chain<<<1, 1>>>(stamps, kRounds, out); });
    report("latency.LDC_with_address", took / (kRounds * kUnroll), "cycles");
    CHECK(cudaMemset(memory, 0, 1024));
    took = cycles(stamps, 1, [&] { atomic_chain<<<1, 1>>>(stamps, (unsigned*)memory, kRounds, out); });
    report("latency.ATOMG_with_address", took / (kRounds * kUnroll), "cycles");
    cold("latency.DRAM.16MiB", size_t(16) << 20, 4096);
    cold("latency.DRAM.128MiB", size_t(128) << 20, 32768);
    cold("latency.DRAM.512MiB", size_t(512) << 20, 131072);
}

template <int kBytes, int kFlying>
void measure_passes(const std::string& name, int kib, int shared, int blocks, int threads) {
    auto kernel = passes<kBytes, kFlying>;
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    int bytes = kib << 10, rounds = std::max(2, (512 << 10) / bytes);
    double took = cycles(
        stamps, threads / 32,
        [&] { kernel<<<blocks, threads, shared>>>(stamps, memory, bytes, rounds, out); }, 3);
    report(name, double(bytes) * rounds / took, "bytes/cycle of one block");
}

void measure_capacities() {
    int sms = multiprocessors();
    for (int kib : {16, 32, 64, 96, 128, 160, 176, 192, 208, 224, 240, 256, 320, 512}) {
        std::string at = "KiB_" + std::to_string(kib);
        for (int shared : {0, 32, 64, 128}) {
            measure_passes<4, 4>("L1.capacity.shared_" + std::to_string(shared) + "KiB." + at, kib,
                                 shared << 10, 1, 1024);
        }
        // Eight blocks of 256 threads to an SM: the driver sizes shared memory for as many as fit.
        for (int shared : {0, 1, 2, 4, 8, 16}) {
            measure_passes<4, 4>("L1.capacity.8_blocks_of_shared_" + std::to_string(shared) + "KiB." + at,
                                 kib, shared << 10, sms * 8, 256);
        }
    }
    for (int kib : {512, 2048, 8192, 16384, 32768}) {
        std::string at = "MiB_" + std::to_string(kib / 1024.0).substr(0, 4);
        measure_passes<16, 4>("L2.one_SM.read_128_bits_4_flying." + at, kib, 0, 1, 1024);
        measure_passes<8, 4>("L2.one_SM.read_64_bits_4_flying." + at, kib, 0, 1, 1024);
        measure_passes<4, 1>("L2.one_SM.read_32_bits_1_flying." + at, kib, 0, 1, 1024);
        measure_passes<4, 2>("L2.one_SM.read_32_bits_2_flying." + at, kib, 0, 1, 1024);
        measure_passes<4, 4>("L2.one_SM.read_32_bits_4_flying." + at, kib, 0, 1, 1024);
        measure_passes<4, 8>("L2.one_SM.read_32_bits_8_flying." + at, kib, 0, 1, 1024);
    }
}

void measure_constants() {
    for (int distinct : {1, 2, 4, 8, 32}) {
        Pattern pattern = pattern_of([=](int lane) { return lane % distinct * 32; });
        double took =
            cycles(stamps, 32, [&] { constant_loads<<<1, 1024>>>(stamps, pattern, kRounds, 0, out); });
        report("LDC.distinct_" + std::to_string(distinct), took / (32 * kRounds * kUnroll),
               "cycles/warp instruction/SM");
    }
}

int main() {
    stamps = make_stamps();
    CHECK(cudaMalloc(&out, 1024 * 8));
    CHECK(cudaMalloc(&memory, kMemory));
    CHECK(cudaMemset(memory, 0, kMemory));
    measure_width<4>();
    measure_width<8>();
    measure_width<16>();
    measure_products();
    measure_constants();
    measure_capacities();
    measure_latencies();
    return 0;
}
