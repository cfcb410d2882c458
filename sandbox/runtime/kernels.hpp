// What a program has registered before `main`: its kernels and its variables, by their addresses on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace standin {

struct Place {
    cudaError_t code;
    std::uint64_t address, size;
};

// Where a variable lies on the device, by the address of its shadow on the host.
Place variable(const void *symbol, const void *caller);
// The session's number of a kernel, by the address of its stub; negative if there is none.
std::int64_t kernel_number(const void *stub, const void *caller);
// Tells the session of a variable whose shadow an address of the host lies in: the program takes its name for a pointer.
void name_symbol(const void *address, const void *caller);
// As cudaLaunchKernel; `caller` is where the program called.
cudaError_t launch_kernel(const void *stub, dim3 grid, dim3 block, std::size_t shared_bytes, void **arguments,
                          cudaStream_t stream, const void *caller);
// Forgets what the device knew, after `cudaDeviceReset`.
void forget_kernels();

} // namespace standin
