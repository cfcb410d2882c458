// What the programs in these files share: each is a kernel, and the host code that sets it up under its name.
#pragma once
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>
#include <cuda_fp16.h>

using Vec = std::vector<float>;
inline std::map<std::string, void (*)()>& programs() { static std::map<std::string, void (*)()> all; return all; }
struct Registered { Registered(const char* name, void (*run)()) { programs()[name] = run; } };
#define PROGRAM(name) \
    static void run_##name(); static Registered registered_##name(#name, run_##name); static void run_##name()
#define AT (int)(blockIdx.x * blockDim.x + threadIdx.x)

template <class T> T* sent(const std::vector<T>& v) {
    T* p; cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <class T> T* empty(size_t n) { T* p; cudaMalloc(&p, n * sizeof(T)); cudaMemset(p, 0, n * sizeof(T)); return p; }
inline Vec numbers(int n, int step) { Vec v(n); for (int i = 0; i < n; ++i) v[i] = (i * step) % 11 - 5; return v; }
int main(int, char** argv) { programs().at(argv[1])(); cudaDeviceSynchronize(); return 0; }
