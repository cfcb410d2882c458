// What all microbenchmarks share: checked calls, results as lines of text, and how a kernel's cycles are
// read.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t status = (call);                                                             \
        if (status != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(1);                                                                        \
        }                                                                                        \
    } while (0)

// One result: its name, its value and its unit, separated by tabs.
inline void report(const std::string& name, double value, const char* unit) {
    std::printf("%s\t%.6g\t%s\n", name.c_str(), value, unit);
    std::fflush(stdout);
}

// When each warp began and ended, by its SM's clock. Warps beyond the array are not recorded.
struct Stamps {
    long long* first;
    long long* last;
};

constexpr int kStamps = 32 * 16;

__device__ inline long long stamp() {
    long long value;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
    return value;
}

__device__ inline void note(Stamps stamps, long long begin, long long end) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0 && warp < kStamps) {
        stamps.first[warp] = begin;
        stamps.last[warp] = end;
    }
}

inline Stamps make_stamps() {
    Stamps stamps;
    CHECK(cudaMalloc(&stamps.first, kStamps * sizeof(long long)));
    CHECK(cudaMalloc(&stamps.last, kStamps * sizeof(long long)));
    return stamps;
}

// Cycles from the first beginning to the last end of the first `warps` warps, which must be of one SM: the
// least of some launches, the first of which is not counted.
inline double cycles(Stamps stamps, int warps, const std::function<void()>& launch, int launches = 4) {
    double least = 1e300;
    for (int number = 0; number < launches; ++number) {
        launch();
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        std::vector<long long> first(warps), last(warps);
        CHECK(cudaMemcpy(first.data(), stamps.first, warps * sizeof(long long), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(last.data(), stamps.last, warps * sizeof(long long), cudaMemcpyDeviceToHost));
        double took = double(*std::max_element(last.begin(), last.end()) -
                             *std::min_element(first.begin(), first.end()));
        if (number > 0) least = std::min(least, took);
    }
    return least;
}

// Milliseconds between two events around `work`: the median of some repetitions after one that is not
// counted.
inline double milliseconds(
    const std::function<void()>& work, int repetitions = 7, const std::function<void()>& before = [] {}) {
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<float> times;
    for (int number = 0; number <= repetitions; ++number) {
        before();
        CHECK(cudaEventRecord(start));
        work();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaGetLastError());
        CHECK(cudaEventSynchronize(stop));
        float took;
        CHECK(cudaEventElapsedTime(&took, start, stop));
        if (number > 0) times.push_back(took);
    }
    std::sort(times.begin(), times.end());
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return times[times.size() / 2];
}

inline int multiprocessors() {
    int count;
    CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return count;
}
