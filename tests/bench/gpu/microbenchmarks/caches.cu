// Caches under patterns that spread badly: lines at powers of two apart in L1 and L2, products whose rows lie
// so, sectors scattered over DRAM, and lines that nobody has fetched and many multiprocessors ask for.

#include "bench.cuh"

#include <numeric>
#include <random>

constexpr size_t kMemory = size_t(1) << 30;
constexpr size_t kOverwritten = size_t(200) << 20;

Stamps stamps;
char* memory;
unsigned* out;

__global__ void chain(Stamps stamps, void** start, int warm, int rounds, void** out) {
    void** at = start;
    auto next = [&] { asm volatile("ld.global.u64 %0, [%0];" : "+l"(at)); };
#pragma unroll 1
    for (int round = 0; round < warm; ++round) next();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) next();
    long long end = stamp();
    note(stamps, begin, end);
    *out = at;
}

// The chain of the lines at `places`, in the order in which they stand there.
void** link_up(const std::vector<size_t>& places) {
    for (size_t i = 0; i < places.size(); ++i) {
        char* next = memory + places[(i + 1) % places.size()];
        CHECK(cudaMemcpyAsync(memory + places[i], &next, sizeof next, cudaMemcpyHostToDevice));
    }
    CHECK(cudaDeviceSynchronize());
    return (void**)(memory + places[0]);
}

std::vector<size_t> at_stride(int lines, size_t stride, bool shuffled) {
    std::vector<size_t> places(lines);
    for (int i = 0; i < lines; ++i) places[i] = i * stride;
    if (shuffled) std::shuffle(places.begin() + 1, places.end(), std::mt19937_64(7));
    return places;
}

// One thread goes round and round through so many lines: 33 cycles a line where L1 holds them all, 284 where
// it holds none.
void measure_sets() {
    for (size_t stride = 128; stride <= 65536; stride *= 2) {
        for (int lines : {4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048}) {
            if (lines * stride > (size_t(64) << 20)) continue;
            std::string name = ".stride_" + std::to_string(stride) + ".lines_" + std::to_string(lines);
            for (bool shuffled : {false, true}) {
                void** start = link_up(at_stride(lines, stride, shuffled));
                int rounds = std::max(256, lines);
                double took = cycles(
                    stamps, 1, [&] { chain<<<1, 1>>>(stamps, start, 3 * lines, rounds, (void**)out); }, 2);
                report((shuffled ? "L1.sets.shuffled" : "L1.sets.in_order") + name, took / rounds, "cycles");
            }
        }
    }
}

// The naive product of the corpus, whose rows are `pitch` elements apart.
template <int kUnroll>
__global__ void product(const float* A, const float* B, float* C, int size, int pitch) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= size || col >= size) return;
    float sum = 0;
#pragma unroll kUnroll
    for (int k = 0; k < size; ++k) sum += A[row * pitch + k] * B[k * pitch + col];
    C[row * pitch + col] = sum;
}

void measure_products() {
    for (int size : {512, 1024, 2048, 4096}) {
        for (int more : {0, 8, 16, 32, 64, 128, 256}) {
            int pitch = size + more;
            const float* a = (const float*)memory;
            const float *b = a + size_t(size) * pitch, *c = b + size_t(size) * pitch;
            for (int width : {8, 16, 32}) {
                dim3 block(width, 256 / width), grid(size / width, size * width / 256);
                std::string name = ".size_" + std::to_string(size) + ".pitch_" + std::to_string(pitch) +
                                   ".width_" + std::to_string(width);
                auto overwrite = [&] { CHECK(cudaMemsetAsync(memory + kMemory - kOverwritten, 0, kOverwritten)); };
                report("product.unroll_1" + name,
                       1000 * milliseconds([&] { product<1><<<grid, block>>>(a, b, (float*)c, size, pitch); }, 3,
                                           overwrite),
                       "us");
                report("product.unroll_4" + name,
                       1000 * milliseconds([&] { product<4><<<grid, block>>>(a, b, (float*)c, size, pitch); }, 3,
                                           overwrite),
                       "us");
            }
        }
    }
}

// Each warp reads or writes pieces of `bytes` bytes, 4 to a lane, that lie `stride` apart or are scattered.
__global__ void pieces(char* memory, unsigned count, unsigned bytes, unsigned long long stride, int rounds,
                       bool scattered, bool writes, unsigned* out) {
    unsigned lanes = bytes / 4, thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    unsigned all = gridDim.x * blockDim.x / lanes, lane = thread % lanes;
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        unsigned number = thread / lanes + round * all;
        if (scattered) number = number * 2654435761u + 12345;
        number &= count - 1;  // count is a power of two
        char* address = memory + number * stride + lane * 4;
        if (writes)
            asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(thread));
        else {
            unsigned x;
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(address));
            sum ^= x;
        }
    }
    if (sum == 12345) *out = sum;
}

// `pitch` bytes apart lie as many pieces as make `footprint` bytes of pieces, or as memory holds.
void measure_pieces() {
    int sms = multiprocessors();
    for (bool writes : {false, true}) {
        for (unsigned bytes : {4u, 32u, 64u, 128u}) {
            for (size_t stride = std::max(32u, bytes); stride <= 65536; stride *= 2) {
                for (size_t mib : {8, 512}) {
                    unsigned count = unsigned(std::min((mib << 20) / stride, size_t(1) << 24));
                    if (count < 8192) continue;
                    for (bool scattered : {false, true}) {
                        if (scattered && stride > 128) continue;
                        int blocks = sms * 8, threads = 256;
                        size_t all = size_t(blocks) * threads / std::max(1u, bytes / 4);
                        int rounds = int(std::max(size_t(8), std::min(size_t(64), 2 * count / all)));
                        double took = milliseconds(
                            [&] {
                                pieces<<<blocks, threads>>>(memory, count, bytes, stride, rounds, scattered, writes,
                                                            out);
                            },
                            3);
                        report(std::string(writes ? "pieces.write" : "pieces.read") + ".bytes_" +
                                   std::to_string(bytes) + ".stride_" + std::to_string(stride) + ".MiB_" +
                                   std::to_string(mib) + (scattered ? ".scattered" : ""),
                               double(all) * rounds / (took * 1e6), "pieces/ns");
                    }
                }
            }
        }
    }
}

// Blocks of a warp go through chains of 64 bytes that L2 does not hold, `sharing` of them through the same.
__global__ void cold(long long* took, const char* memory, int sharing, int lines, size_t stride, int rounds,
                     unsigned* out) {
    int own = blockIdx.x / sharing;
    const char* at = memory + size_t(own) * lines * stride;
    unsigned offset = threadIdx.x % 16 * 4;
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        unsigned x;
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(at + offset) : "memory");
        at += stride + x;  // all memory is zero
    }
    long long end = stamp();
    if (threadIdx.x == 0) took[blockIdx.x] = end - begin;
    *out = unsigned(size_t(at));
}

void measure_cold() {
    int sms = multiprocessors(), rounds = 48;
    long long* took;
    CHECK(cudaMalloc(&took, sms * 8 * sizeof *took));
    CHECK(cudaMemset(memory, 0, kMemory));
    for (int per_sm : {1, 8}) {
        int blocks = sms * per_sm;
        for (int sharing : {1, 2, 4, 8, 32, 132, 1056}) {
            if (sharing > blocks) continue;
            for (size_t stride : {64, 128, 2048}) {
                std::vector<long long> host(blocks);
                double mean = 1e300;
                for (int trial = 0; trial < 3; ++trial) {
                    CHECK(cudaMemsetAsync(memory + kMemory - kOverwritten, 0, kOverwritten));
                    cold<<<blocks, 32>>>(took, memory, sharing, rounds, stride, rounds, out);
                    CHECK(cudaMemcpy(host.data(), took, blocks * sizeof *took, cudaMemcpyDeviceToHost));
                    mean = std::min(mean, std::accumulate(host.begin(), host.end(), 0.0) / blocks);
                }
                report("cold.blocks_" + std::to_string(blocks) + ".sharing_" + std::to_string(sharing) +
                           ".stride_" + std::to_string(stride),
                       mean / rounds, "cycles/load of a chain");
            }
        }
    }
    CHECK(cudaFree(took));
}

int main() {
    stamps = make_stamps();
    CHECK(cudaMalloc(&out, 1024 * 8));
    CHECK(cudaMalloc(&memory, kMemory));
    CHECK(cudaMemset(memory, 0, kMemory));
    measure_cold();
    measure_products();
    measure_pieces();
    measure_sets();
    return 0;
}
