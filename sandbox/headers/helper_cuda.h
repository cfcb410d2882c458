// What programs written like NVIDIA's samples take from their `helper_cuda.h`: calls that are checked, and a device.
#ifndef GRADER_HELPER_CUDA_H
#define GRADER_HELPER_CUDA_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

inline int ftoi(float value) { return static_cast<int>(value >= 0 ? value + 0.5 : value - 0.5); }

inline const char *_cudaGetErrorEnum(cudaError_t code) { return cudaGetErrorName(code); }

// The driver and libraries have codes of their own.
template <typename Status> const char *_cudaGetErrorEnum(Status) { return "<unknown>"; }

template <typename Status> void check(Status code, const char *call, const char *file, int line) {
    if (!code) return;
    std::fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<int>(code),
                 _cudaGetErrorEnum(code), call);
    std::exit(EXIT_FAILURE);
}

#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

inline bool __printLastCudaError(const char *message, const char *file, int line) {
    const cudaError_t code = cudaGetLastError();
    if (code == cudaSuccess) return false;
    std::fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line, message,
                 static_cast<int>(code), cudaGetErrorString(code));
    return true;
}

inline void __getLastCudaError(const char *message, const char *file, int line) {
    if (__printLastCudaError(message, file, line)) std::exit(EXIT_FAILURE);
}

inline int gpuDeviceInit(int device) {
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    device = MAX(device, 0);
    if (device >= count) return -device;
    checkCudaErrors(cudaSetDevice(device));
    return device;
}

inline int gpuGetMaxGflopsDeviceId() { return 0; }

inline int findCudaDevice(int argc, const char **argv) {
    int device = gpuGetMaxGflopsDeviceId(), major = 0, minor = 0;
    if (checkCmdLineFlag(argc, argv, "device")) device = getCmdLineArgumentInt(argc, argv, "device");
    if (gpuDeviceInit(device) < 0) {
        std::printf("exiting...\n");
        std::exit(EXIT_FAILURE);
    }
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    std::printf("GPU Device %d: compute capability %d.%d\n\n", device, major, minor);
    return device;
}

inline bool checkCudaCapabilities(int least_major, int least_minor) {
    int device = 0, major = 0, minor = 0;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return major > least_major || (major == least_major && minor >= least_minor);
}

// How many units for single precision a multiprocessor has.
inline int _ConvertSMVer2Cores(int major, int minor) {
    return major == 3 ? 192 : major == 6 && minor == 0 ? 64 : major == 7 || (major == 8 && minor == 0) ? 64 : 128;
}

#endif
