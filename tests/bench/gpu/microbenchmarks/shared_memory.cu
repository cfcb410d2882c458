// Shared memory on one SM: loads, stores and atomics by access pattern, their latency, and barriers.
//
// A pattern is the byte address of each lane. All offsets of a round are multiples of 512 bytes, so that the
// banks are the same in each of its accesses.

#include "bench.cuh"

constexpr int kUnroll = 16;
constexpr int kStep = 512;
constexpr int kRounds = 128;
constexpr int kShared = 48 * 1024;

struct Pattern {
    int lanes[32];
};

template <int kBytes>
__device__ __forceinline__ unsigned load(unsigned address) {
    unsigned x, y, z, w;
    if constexpr (kBytes == 4) {
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(address));
        return x;
    } else if constexpr (kBytes == 8) {
        asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(address));
        return x ^ y;
    } else {
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                     : "r"(address));
        return x ^ y ^ z ^ w;
    }
}

template <int kBytes>
__device__ __forceinline__ void store(unsigned address, unsigned x) {
    if constexpr (kBytes == 4) {
        asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(x));
    } else if constexpr (kBytes == 8) {
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(address), "r"(x));
    } else {
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(address), "r"(x));
    }
}

__device__ unsigned shared_address(const void* pointer) {
    return (unsigned)__cvta_generic_to_shared(pointer);
}

template <int kBytes>
__global__ void loads(Stamps stamps, Pattern pattern, int rounds, int step, unsigned* out) {
    extern __shared__ unsigned words[];
    unsigned address = shared_address(words) + pattern.lanes[threadIdx.x % 32], sum = 0;
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

template <int kBytes>
__global__ void stores(Stamps stamps, Pattern pattern, int rounds, int step, unsigned* out) {
    extern __shared__ unsigned words[];
    unsigned address = shared_address(words) + pattern.lanes[threadIdx.x % 32];
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
    out[threadIdx.x] = words[threadIdx.x];
}

enum Atomic { kAddOne, kAddAny, kAddReturned, kAddFloat, kExchange };

template <int kAtomic>
__global__ void atomics(Stamps stamps, Pattern pattern, int rounds, int step, unsigned* out) {
    extern __shared__ unsigned words[];
    unsigned address = pattern.lanes[threadIdx.x % 32] / 4, sum = 0;
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) {
            unsigned* place = words + address + i * (kStep / 4);
            if (kAtomic == kAddOne) atomicAdd(place, 1u);
            if (kAtomic == kAddAny) atomicAdd(place, threadIdx.x);
            if (kAtomic == kAddReturned) sum ^= atomicAdd(place, threadIdx.x);
            if (kAtomic == kAddFloat) atomicAdd((float*)place, 1.0f);
            if (kAtomic == kExchange) sum ^= atomicExch(place, threadIdx.x);
        }
        address += step;
    }
    long long end = stamp();
    note(stamps, begin, end);
    __syncthreads();
    out[threadIdx.x] = sum + words[threadIdx.x];
}

// A chain of loads, each of which gives the address of the next.
__global__ void chain(Stamps stamps, int rounds, unsigned* out) {
    extern __shared__ unsigned words[];
    if (threadIdx.x == 0) words[0] = shared_address(words);
    __syncthreads();
    unsigned address = shared_address(words);
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) address = load<4>(address);
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = address;
}

// The same with loads of two or four words, and with atomics that return what was there.
template <int kBytes>
__global__ void wide_chain(Stamps stamps, int rounds, unsigned* out) {
    extern __shared__ unsigned words[];
    if (threadIdx.x < 4) words[threadIdx.x] = 0;
    __syncthreads();
    unsigned base = shared_address(words), value = 0;
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) {
            value = kBytes == 0 ? atomicAdd(words + value, 0u) : load<kBytes == 0 ? 4 : kBytes>(base + value);
        }
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = value;
}

// The inner loop of a tiled product: a broadcast, a row and a multiply-add.
template <int kFloats>
__global__ void product(Stamps stamps, Pattern left, Pattern right, int rounds, int step, float* out) {
    extern __shared__ unsigned words[];
    unsigned a = shared_address(words) + left.lanes[threadIdx.x % 32];
    unsigned b = shared_address(words) + right.lanes[threadIdx.x % 32];
    float sum = 0;
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) {
            float x = __uint_as_float(load<4>(a + i * 4));
            float y = __uint_as_float(load<4>(b + i * kStep));
            asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(x), "f"(y));
        }
        a += step;
        b += step;
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = sum;
}

__global__ void barriers(Stamps stamps, int rounds) {
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) __syncthreads();
    }
    long long end = stamp();
    note(stamps, begin, end);
}

__global__ void warp_barriers(Stamps stamps, int rounds) {
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) __syncwarp();
    }
    long long end = stamp();
    note(stamps, begin, end);
}

// A store, a barrier, a load of what another warp stored, a barrier: a phase with next to nothing in it.
__global__ void phases(Stamps stamps, int rounds, unsigned* out) {
    extern __shared__ unsigned words[];
    unsigned mine = shared_address(words + threadIdx.x);
    unsigned other = shared_address(words + (threadIdx.x + 32) % blockDim.x), value = threadIdx.x;
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        store<4>(mine, value);
        __syncthreads();
        value = load<4>(other);
        __syncthreads();
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = value;
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

// Patterns of accesses of `bytes` each; none goes beyond 32 KiB.
std::vector<Named> patterns(int bytes) {
    std::vector<Named> all;
    for (int distinct : {1, 2, 4, 8, 16}) {
        all.push_back({"runs_of_" + std::to_string(distinct) + "_distinct",
                       pattern_of([=](int lane) { return lane * distinct / 32 * bytes; })});
    }
    all.push_back({"interleaved_2_distinct", pattern_of([=](int lane) { return lane % 2 * bytes; })});
    all.push_back({"interleaved_4_distinct", pattern_of([=](int lane) { return lane % 4 * bytes; })});
    all.push_back({"interleaved_8_distinct", pattern_of([=](int lane) { return lane % 8 * bytes; })});
    all.push_back({"interleaved_16_distinct", pattern_of([=](int lane) { return lane % 16 * bytes; })});
    all.push_back({"two_rows_in_one_bank", pattern_of([](int lane) { return lane / 16 * 128; })});
    all.push_back({"four_rows_in_one_bank", pattern_of([](int lane) { return lane / 8 * 128; })});
    all.push_back({"two_rows_64_bytes_apart", pattern_of([](int lane) { return lane / 16 * 64; })});
    for (int stride : {1, 2, 3, 4, 8, 16, 17, 32, 33}) {
        if (stride * bytes * 32 <= 20 * 1024) {
            all.push_back({"stride_" + std::to_string(stride),
                           pattern_of([=](int lane) { return lane * stride * bytes; })});
        }
    }
    all.push_back({"reversed", pattern_of([=](int lane) { return (31 - lane) * bytes; })});
    return all;
}

Stamps stamps;
unsigned* out;

template <class Kernel>
double per_access(Kernel kernel, const Pattern& pattern, int warps = 32) {
    double took =
        cycles(stamps, warps, [&] { kernel<<<1, 32 * warps, kShared>>>(stamps, pattern, kRounds, 0, out); });
    return took / (double(warps) * kRounds * kUnroll);
}

template <int kBytes>
void measure_width() {
    std::string bits = std::to_string(8 * kBytes);
    for (const Named& each : patterns(kBytes)) {
        report("LDS." + bits + "." + each.name, per_access(loads<kBytes>, each.pattern),
               "cycles/warp instruction/SM");
        report("STS." + bits + "." + each.name, per_access(stores<kBytes>, each.pattern),
               "cycles/warp instruction/SM");
    }
    for (int warps : {1, 2, 4, 8, 16}) {
        report("LDS." + bits + ".stride_1.with_warps_" + std::to_string(warps),
               per_access(loads<kBytes>, patterns(kBytes)[12].pattern, warps), "cycles/warp instruction/SM");
    }
}

template <int kAtomic>
void measure_atomic(const std::string& name) {
    for (int distinct : {1, 2, 4, 8, 16, 32}) {
        Pattern pattern = pattern_of([=](int lane) { return lane % distinct * 4; });
        report(name + ".distinct_" + std::to_string(distinct), per_access(atomics<kAtomic>, pattern),
               "cycles/warp instruction/SM");
    }
    Pattern conflict = pattern_of([](int lane) { return lane * 128; });
    report(name + ".stride_32", per_access(atomics<kAtomic>, conflict), "cycles/warp instruction/SM");
    Pattern own = pattern_of([](int lane) { return lane * 4; });
    report(name + ".one_warp", per_access(atomics<kAtomic>, own, 1), "cycles/warp instruction/SM");
}

void measure_products() {
    for (int tile : {8, 16, 32}) {
        Pattern row = pattern_of([=](int lane) { return lane / tile * tile * 4; });
        Pattern column = pattern_of([=](int lane) { return lane % tile * 4; });
        for (int warps : {4, 8, 16, 32}) {
            double took = cycles(stamps, warps, [&] {
                product<0><<<1, 32 * warps, kShared>>>(stamps, row, column, kRounds, 0, (float*)out);
            });
            report("tiled_product.tile_" + std::to_string(tile) + ".warps_" + std::to_string(warps),
                   took / (double(warps) * kRounds * kUnroll), "cycles/(2 LDS + FFMA)/SM");
        }
    }
}

void measure_barriers() {
    int sms = multiprocessors();
    for (int threads : {32, 64, 128, 256, 512, 1024}) {
        for (int blocks : {1, 2, 4, 8}) {
            if (threads * blocks > 2048) continue;
            double took =
                cycles(stamps, threads / 32, [&] { barriers<<<sms * blocks, threads>>>(stamps, kRounds); });
            std::string name = "threads_" + std::to_string(threads) + ".blocks_" + std::to_string(blocks);
            report("barrier." + name, took / (kRounds * kUnroll), "cycles/barrier of each block");
        }
        double took =
            cycles(stamps, threads / 32, [&] { phases<<<1, threads, kShared>>>(stamps, kRounds, out); });
        report("phase.threads_" + std::to_string(threads), took / kRounds,
               "cycles/(STS, barrier, LDS, barrier)");
    }
    double took = cycles(stamps, 1, [&] { warp_barriers<<<1, 32>>>(stamps, kRounds); });
    report("warp_barrier.latency", took / (kRounds * kUnroll), "cycles");
}

int main() {
    stamps = make_stamps();
    CHECK(cudaMalloc(&out, 1024 * 8));
    double took = cycles(stamps, 1, [&] { chain<<<1, 32, kShared>>>(stamps, kRounds, out); });
    report("LDS.latency", took / (kRounds * kUnroll), "cycles");
    auto wide = [&](const char* name, auto kernel) {
        double took = cycles(stamps, 1, [&] { kernel<<<1, 1, kShared>>>(stamps, kRounds, out); });
        report(name, took / (kRounds * kUnroll), "cycles");
    };
    wide("LDS.32.latency_with_address", wide_chain<4>);
    wide("LDS.64.latency_with_address_and_xor", wide_chain<8>);
    wide("LDS.128.latency_with_address_and_xors", wide_chain<16>);
    wide("ATOMS.add_returned.latency_with_address", wide_chain<0>);
    measure_width<4>();
    measure_width<8>();
    measure_width<16>();
    measure_atomic<kAddOne>("ATOMS.add_one");
    measure_atomic<kAddAny>("ATOMS.add");
    measure_atomic<kAddReturned>("ATOMS.add_returned");
    measure_atomic<kAddFloat>("ATOMS.add_float");
    measure_atomic<kExchange>("ATOMS.exchange");
    measure_products();
    measure_barriers();
    return 0;
}
