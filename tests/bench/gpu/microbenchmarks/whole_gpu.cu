// What the whole GPU does at once: L2 and DRAM by footprint, atomics, launches, clocks.

#include "bench.cuh"

#include <cstdint>

int sms;
char* memory;
constexpr size_t kMemory = size_t(4) << 30;
constexpr size_t kFill = size_t(128) << 20;

__device__ inline uint64_t nanoseconds() {
    uint64_t value;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
    return value;
}

// Passes over `count` vectors by the whole grid, each thread with `kFlying` loads in flight. In each pass a
// block has the part that its neighbour had before, so that L1 does not hold it. `count` is a multiple of
// what the grid loads at a time, or what is left over is not read.
template <class Vector, int kFlying>
__global__ void read(const Vector* from, size_t count, int passes, unsigned* out) {
    unsigned sum = 0;
    size_t width = size_t(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        size_t block = (blockIdx.x + pass) % gridDim.x;
#pragma unroll 1
        for (size_t i = block * blockDim.x + threadIdx.x; i + width * (kFlying - 1) < count;
             i += width * kFlying) {
            Vector values[kFlying];
#pragma unroll
            for (int k = 0; k < kFlying; ++k) values[k] = from[i + k * width];
#pragma unroll
            for (int k = 0; k < kFlying; ++k) {
                for (int word = 0; word < int(sizeof(Vector) / 4); ++word)
                    sum ^= ((unsigned*)&values[k])[word];
            }
        }
        sum += 1;
    }
    if (sum == 12345) *out = sum;
}

template <class Vector>
__global__ void write(Vector* to, size_t count, int passes) {
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        size_t stride = size_t(gridDim.x) * blockDim.x, block = (blockIdx.x + pass) % gridDim.x;
#pragma unroll 4
        for (size_t i = block * blockDim.x + threadIdx.x; i < count; i += stride) to[i] = Vector{};
    }
}

template <class Vector, int kFlying>
__global__ void copy(const Vector* from, Vector* to, size_t count, int passes) {
    size_t width = size_t(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        size_t block = (blockIdx.x + pass) % gridDim.x;
#pragma unroll 1
        for (size_t i = block * blockDim.x + threadIdx.x; i + width * (kFlying - 1) < count;
             i += width * kFlying) {
            Vector values[kFlying];
#pragma unroll
            for (int k = 0; k < kFlying; ++k) values[k] = from[i + k * width];
#pragma unroll
            for (int k = 0; k < kFlying; ++k) to[i + k * width] = values[k];
        }
    }
}

// One element to a thread, as most kernels are written.
__global__ void read_once(const float* from, float* out) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (from[i] == 12345.0f) *out = 1;
}

__global__ void copy_once(const float* from, float* to) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    to[i] = from[i];
}

__global__ void copy_strided(const float* from, float* to, int stride, size_t mask) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    size_t at = (i * stride + i * stride / (mask + 1)) & mask;
    to[i] = from[at];
}

__global__ void spin(float* out, int rounds) {
    float x = threadIdx.x, y = x + 1, z = x + 2, w = x + 3;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            x = fmaf(x, 0.5f, 1.0f);
            y = fmaf(y, 0.5f, 1.0f);
            z = fmaf(z, 0.5f, 1.0f);
            w = fmaf(w, 0.5f, 1.0f);
        }
    }
    if (x + y + z + w == 12345.0f) *out = x;
}

// The SM's clock against the GPU's, over a spin of multiply-adds.
__global__ void clocked(float* out, int rounds, long long* cycles, uint64_t* took) {
    long long begin = stamp();
    uint64_t start = nanoseconds();
    float x = threadIdx.x, y = x + 1, z = x + 2, w = x + 3;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            x = fmaf(x, 0.5f, 1.0f);
            y = fmaf(y, 0.5f, 1.0f);
            z = fmaf(z, 0.5f, 1.0f);
            w = fmaf(w, 0.5f, 1.0f);
        }
    }
    if (x + y + z + w == 12345.0f) *out = x;
    uint64_t stop = nanoseconds();
    long long end = stamp();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *cycles = end - begin;
        *took = stop - start;
    }
}

__global__ void nothing() {}

// Blocks that have shared memory, and use it.
__global__ void little(float* out) {
    extern __shared__ float words[];
    words[threadIdx.x] = 0;
    if (words[threadIdx.x] != 0) *out = 1;
}

// When each block began and ended, by the GPU's clock, and on which SM.
__global__ void wave(uint64_t* begin, uint64_t* end, unsigned* sm, int nanos) {
    if (threadIdx.x != 0) return;
    uint64_t start = nanoseconds(), now = start;
    while (now < start + nanos) now = nanoseconds();
    begin[blockIdx.x] = start;
    end[blockIdx.x] = now;
    unsigned which;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(which));
    sm[blockIdx.x] = which;
}

enum Place { kOne, kOnePerWarp, kOwn, kFewBins, kManyBins };

template <class T, int kPlace, bool kReturned>
__global__ void atomics(T* memory, int rounds, T* out) {
    size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    size_t threads = size_t(gridDim.x) * blockDim.x;
    unsigned state = unsigned(thread) * 2654435761u + 12345u;
    T sum = 0;
#pragma unroll 8
    for (int round = 0; round < rounds; ++round) {
        size_t at = 0;
        if (kPlace == kOnePerWarp) at = thread / 32 * 32;
        if (kPlace == kOwn) at = thread + size_t(round % 2) * threads;
        if (kPlace == kFewBins || kPlace == kManyBins) {
            state = state * 1664525u + 1013904223u;
            at = kPlace == kFewBins ? state >> 24 : state >> 12;
        }
        T old = atomicAdd(memory + at, T(threadIdx.x));
        if (kReturned) sum += old;
    }
    if (kReturned && sum == T(12345)) *out = sum;
}

void bandwidth(
    const std::string& name, double bytes, const std::function<void()>& work,
    const std::function<void()>& before = [] {}) {
    report(name, bytes / milliseconds(work, 7, before) / 1e6, "GB/s");
}

// The vectors among `bytes` that a grid with `flying` of them to a thread reads without a remainder.
size_t whole(size_t bytes, int vector, int flying, int blocks, int threads) {
    size_t width = size_t(vector) * flying * blocks * threads;
    return bytes / width * width / vector;
}

template <class Vector, int kFlying>
void measure_reading(const std::string& name, size_t bytes, int blocks, int threads) {
    auto* out = (unsigned*)(memory + kMemory - 256);
    size_t count = whole(bytes, sizeof(Vector), kFlying, blocks, threads);
    if (count == 0) return;
    int passes = std::max<int>(1, int((size_t(1) << 30) / bytes));
    bandwidth(name, double(count) * sizeof(Vector) * passes,
              [&] { read<Vector, kFlying><<<blocks, threads>>>((Vector*)memory, count, passes, out); });
}

void measure_footprints() {
    int blocks = sms * 2, threads = 1024;
    for (int mib : {4, 8, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 64, 80, 96, 128, 512, 1536}) {
        size_t bytes = size_t(mib) << 20;
        int passes = std::max<int>(1, int((size_t(1) << 30) / bytes));
        std::string at = ".MiB_" + std::to_string(mib);
        measure_reading<uint4, 2>("read_128_bits_2_flying" + at, bytes, blocks, threads);
        measure_reading<unsigned, 1>("read_32_bits_1_flying" + at, bytes, blocks, threads);
        measure_reading<unsigned, 2>("read_32_bits_2_flying" + at, bytes, blocks, threads);
        measure_reading<unsigned, 4>("read_32_bits_4_flying" + at, bytes, blocks, threads);
        bandwidth("write_128_bits" + at, double(bytes) * passes,
                  [&] { write<uint4><<<blocks, threads>>>((uint4*)memory, bytes / 16, passes); });
        bandwidth("write_32_bits" + at, double(bytes) * passes,
                  [&] { write<unsigned><<<blocks, threads>>>((unsigned*)memory, bytes / 4, passes); });
        // One half of the footprint is read and the other written; the bytes of both count.
        size_t count = whole(bytes / 2, 4, 2, blocks, threads);
        if (count == 0) continue;
        bandwidth("copy_32_bits_2_flying" + at, 8.0 * double(count) * passes, [&] {
            copy<unsigned, 2>
                <<<blocks, threads>>>((unsigned*)memory, (unsigned*)(memory + bytes / 2), count, passes);
        });
    }
}

// What few warps get, each with few loads in flight: latency under load.
void measure_parallelism() {
    for (int warps : {1, 2, 4, 8, 16, 32}) {
        std::string at = ".warps_" + std::to_string(warps);
        for (int mib : {16, 512}) {
            std::string where = mib == 16 ? "L2" : "DRAM";
            size_t bytes = size_t(mib) << 20;
            if (mib == 16) measure_reading<uint4, 4>("one_SM.128_bits_4_flying" + at, bytes, 1, 32 * warps);
            measure_reading<unsigned, 1>("parallelism." + where + ".32_bits_1_flying" + at, bytes, sms,
                                         32 * warps);
            measure_reading<unsigned, 4>("parallelism." + where + ".32_bits_4_flying" + at, bytes, sms,
                                         32 * warps);
            measure_reading<uint4, 1>("parallelism." + where + ".128_bits_1_flying" + at, bytes, sms,
                                      32 * warps);
            measure_reading<uint4, 4>("parallelism." + where + ".128_bits_4_flying" + at, bytes, sms,
                                      32 * warps);
        }
    }
}

// One launch each, as kernels are timed: after 128 MiB were overwritten, or read, so that L2 holds other
// data, dirty or clean.
void measure_cold() {
    auto* out = (unsigned*)(memory + kMemory - 256);
    char* other = memory + (size_t(2) << 30);
    auto dirty = [&] { CHECK(cudaMemsetAsync(other, 0x5A, kFill)); };
    auto clean = [&] { read<uint4, 4><<<sms * 2, 1024>>>((uint4*)other, kFill / 16, 1, out); };
    report("events_around_nothing.after_fill", 1e3 * milliseconds([] {}, 50, dirty), "us");
    report("events_around_empty_kernel.after_fill",
           1e3 * milliseconds([] { nothing<<<1, 32>>>(); }, 50, dirty), "us");
    report("events_around_empty_wave.after_fill",
           1e3 * milliseconds([] { nothing<<<sms * 8, 256>>>(); }, 50, dirty), "us");
    for (int mib : {1, 4, 16, 64, 256, 1024}) {
        size_t bytes = size_t(mib) << 20;
        std::string at = ".MiB_" + std::to_string(mib);
        auto reading = [&] { read_once<<<unsigned(bytes / 1024), 256>>>((float*)memory, (float*)out); };
        auto copying = [&] {
            copy_once<<<unsigned(bytes / 2048), 256>>>((float*)memory, (float*)(memory + bytes / 2));
        };
        auto filling = [&] {
            write<unsigned><<<unsigned(bytes / 1024), 256>>>((unsigned*)memory, bytes / 4, 1);
        };
        auto reading_by_1024 = [&] {
            read_once<<<unsigned(bytes / 4096), 1024>>>((float*)memory, (float*)out);
        };
        auto copying_by_1024 = [&] {
            copy_once<<<unsigned(bytes / 8192), 1024>>>((float*)memory, (float*)(memory + bytes / 2));
        };
        report("once.read.blocks_of_1024.after_fill" + at, 1e3 * milliseconds(reading_by_1024, 9, dirty),
               "us");
        report("once.copy.blocks_of_1024.after_fill" + at, 1e3 * milliseconds(copying_by_1024, 9, dirty),
               "us");
        report("once.read.after_fill" + at, 1e3 * milliseconds(reading, 9, dirty), "us");
        report("once.read.after_read" + at, 1e3 * milliseconds(reading, 9, clean), "us");
        report("once.copy.after_fill" + at, 1e3 * milliseconds(copying, 9, dirty), "us");
        report("once.copy.after_read" + at, 1e3 * milliseconds(copying, 9, clean), "us");
        report("once.write.after_fill" + at, 1e3 * milliseconds(filling, 9, dirty), "us");
        report("once.write.after_read" + at, 1e3 * milliseconds(filling, 9, clean), "us");
    }
    size_t elements = size_t(1) << 25;
    for (int stride : {1, 2, 4, 8, 16, 32, 64, 1024, 4096}) {
        auto striding = [&] {
            copy_strided<<<unsigned(elements / 256), 256>>>((float*)memory, (float*)(memory + 4 * elements),
                                                            stride, elements - 1);
        };
        report("strided_copy_of_128MiB.stride_" + std::to_string(stride),
               1e3 * milliseconds(striding, 5, dirty), "us");
    }
}

template <class T, int kPlace, bool kReturned>
void measure_atomic(const std::string& name, int rounds) {
    int blocks = sms * 2, threads = 1024;
    T* out = (T*)(memory + kMemory - 256);
    double took =
        milliseconds([&] { atomics<T, kPlace, kReturned><<<blocks, threads>>>((T*)memory, rounds, out); }, 5);
    report(name, double(blocks) * threads * rounds / took / 1e6, "operations of lanes/ns");
}

template <class T>
void measure_atomics(const std::string& type) {
    measure_atomic<T, kOne, false>("RED." + type + ".one_address", 8);
    measure_atomic<T, kOnePerWarp, false>("RED." + type + ".one_address_per_warp", 64);
    measure_atomic<T, kOwn, false>("RED." + type + ".own_addresses", 64);
    measure_atomic<T, kFewBins, false>("RED." + type + ".random_of_256", 16);
    measure_atomic<T, kManyBins, false>("RED." + type + ".random_of_1M", 64);
    measure_atomic<T, kOne, true>("ATOM." + type + ".one_address", 8);
    measure_atomic<T, kOnePerWarp, true>("ATOM." + type + ".one_address_per_warp", 64);
    measure_atomic<T, kOwn, true>("ATOM." + type + ".own_addresses", 64);
    measure_atomic<T, kFewBins, true>("ATOM." + type + ".random_of_256", 16);
}

void measure_launches() {
    const int many = 2000;
    double took = milliseconds([] {
        for (int i = 0; i < many; ++i) nothing<<<1, 32>>>();
    });
    report("launch.back_to_back", 1e3 * took / many, "us/kernel");
    report("launch.events_around_nothing", 1e3 * milliseconds([] {}, 50), "us");
    report("launch.events_around_one", 1e3 * milliseconds([] { nothing<<<1, 32>>>(); }, 50), "us");
    for (int threads : {32, 64, 128, 256, 512, 1024}) {
        for (int blocks : {10000, 100000, 1000000}) {
            double ms = milliseconds([&] { nothing<<<blocks, threads>>>(); }, 5);
            report("empty_blocks.threads_" + std::to_string(threads) + ".blocks_" + std::to_string(blocks),
                   1e6 * ms / blocks, "ns/block");
        }
    }
}

void measure_shared_launches() {
    for (int kib : {1, 4, 8, 16, 32, 64}) {
        CHECK(cudaFuncSetAttribute(little, cudaFuncAttributeMaxDynamicSharedMemorySize, kib << 10));
        const int blocks = 100000;
        double ms = milliseconds([&] { little<<<blocks, 256, kib << 10>>>((float*)memory); }, 5);
        report("little_blocks.threads_256.shared_" + std::to_string(kib) + "KiB", 1e6 * ms / blocks,
               "ns/block");
    }
}

// How long the blocks of one wave take to begin, and how long the next block of an SM takes to follow.
void measure_waves() {
    uint64_t *begin, *end;
    unsigned* sm;
    const int most = 1 << 14;
    CHECK(cudaMalloc(&begin, most * 8));
    CHECK(cudaMalloc(&end, most * 8));
    CHECK(cudaMalloc(&sm, most * 4));
    for (int threads : {32, 256, 1024}) {
        int resident = std::min(32, 2048 / threads), blocks = sms * resident;
        for (int run = 0; run < 3; ++run) wave<<<blocks * 2, threads>>>(begin, end, sm, 50000);
        CHECK(cudaDeviceSynchronize());
        std::vector<uint64_t> first(blocks * 2), last(blocks * 2);
        CHECK(cudaMemcpy(first.data(), begin, blocks * 16, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(last.data(), end, blocks * 16, cudaMemcpyDeviceToHost));
        std::sort(first.begin(), first.end());
        std::sort(last.begin(), last.end());
        std::string name = "wave.threads_" + std::to_string(threads);
        report(name + ".until_all_began", double(first[blocks - 1] - first[0]), "ns");
        report(name + ".first_end_to_next_beginning", double(first[blocks]) - double(last[0]), "ns");
        report(name + ".both_waves", double(last.back() - first[0]), "ns of 100000");
    }
}

void measure_clocks() {
    long long* counted;
    uint64_t* took;
    CHECK(cudaMallocHost(&counted, 16));
    CHECK(cudaMallocHost(&took, 16));
    auto one = [&](const char* name, int blocks, int rounds) {
        clocked<<<blocks, 1024>>>((float*)memory, rounds, counted, took);
        CHECK(cudaDeviceSynchronize());
        report(name, 1e3 * double(*counted) / double(*took), "MHz");
    };
    one("clock.one_SM", 1, 20000);
    one("clock.all_SMs_busy_for_ms", sms * 2, 4000);
    one("clock.all_SMs_busy_for_100_ms", sms * 2, 100000);
    double ms = milliseconds([&] { spin<<<sms * 2, 1024>>>((float*)memory, 20000); }, 3);
    report("FFMA.whole_GPU", double(sms) * 2 * 1024 * 20000 * 128 * 2 / ms / 1e9, "TFLOP/s");
}

int main() {
    sms = multiprocessors();
    CHECK(cudaMalloc(&memory, kMemory));
    CHECK(cudaMemset(memory, 0, kMemory));
    measure_clocks();
    measure_launches();
    measure_shared_launches();
    measure_waves();
    measure_footprints();
    measure_parallelism();
    measure_cold();
    CHECK(cudaMemset(memory, 0, size_t(64) << 20));
    measure_atomics<unsigned>("u32");
    measure_atomics<float>("f32");
    return 0;
}
