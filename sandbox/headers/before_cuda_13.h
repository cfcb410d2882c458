// What CUDA 13 has under another name, or with other parameters, as programs for earlier versions call it.
// All are templates, which give way to functions of these names that a program defines itself, and are inlined,
// so that calls of the runtime belong to the program's own lines.
#ifndef GRADER_BEFORE_CUDA_13_H
#define GRADER_BEFORE_CUDA_13_H

#include <cuda_runtime_api.h>

#if defined(__cplusplus) && CUDART_VERSION >= 13000

template <typename = void> __forceinline__ cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
template <typename = void> __forceinline__ cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

// A device was its number, and the host was a number, too.
inline cudaMemLocation before_cuda_13_location(int device) {
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

template <typename = void>
__forceinline__ cudaError_t cudaMemPrefetchAsync(const void *data, size_t bytes, int device, cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(data, bytes, before_cuda_13_location(device), 0, stream);
}

template <typename = void>
__forceinline__ cudaError_t cudaMemAdvise(const void *data, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(data, bytes, advice, before_cuda_13_location(device));
}

#endif
#endif
