// honest: CUDA's vector types and functions for both sides, on the host alone
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
__host__ __device__ inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
struct Threads {
    dim3 grid, block;
    template <typename F>
    void each(F&& body) const {
        for (unsigned y = 0; y < grid.y * block.y; ++y)
            for (unsigned x = 0; x < grid.x * block.x; ++x) body(make_uint2(x, y));
    }
};
int main() {
    std::vector<float> c(16);
    Threads{dim3(2, 2), dim3(2, 2)}.each([&](uint2 at) { c[at.y * 4 + at.x] = dot(make_float4(at.x, at.y, 1, 2), make_float4(1, 1, 1, 1)); });
    std::printf("%g %g %zu\n", c[0], c[15], sizeof(float4));
}
