// What other parts of the stand-in ask about streams.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

namespace standin {

// The default stream by either of its names.
inline bool is_default(cudaStream_t stream) { return !stream || stream == cudaStreamLegacy; }
// What a stream was made with; nothing of a stream that is not there.
std::optional<unsigned> flags_of(cudaStream_t stream);
void forget_handles();
// As cudaLaunchHostFunc; `caller` is where the program called.
cudaError_t launch_on_host(cudaStream_t stream, cudaHostFn_t function, void *data, const void *caller);

} // namespace standin
