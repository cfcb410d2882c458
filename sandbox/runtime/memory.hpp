// Copies for other parts of the stand-in, which call in the name of the program.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>

namespace standin {

// As cudaMemcpy2D, or with a stream cudaMemcpy2DAsync; `caller` is where the program called.
cudaError_t copy_rows(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, const void *caller,
                      std::optional<cudaStream_t> stream = {});

// As cudaMemset2DAsync, cudaMemcpy3DAsync, and cudaMemcpyToSymbolAsync or its counterpart, whichever pointer is null.
cudaError_t fill_rows(void *address, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      cudaStream_t stream, const void *caller);
cudaError_t copy_planes_of(const cudaMemcpy3DParms *wanted, cudaStream_t stream, const void *caller);
cudaError_t copy_of_symbol(const void *symbol, void *to, const void *from, std::size_t size, std::size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, const void *caller);

} // namespace standin
