// Streams that are captured: what is asked of them goes into a graph, and is done when that is launched.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <optional>
#include <vector>

namespace standin {

// Work for whatever stream it is given.
using Work = std::function<cudaError_t(cudaStream_t)>;

// Each gives what a call has to return that asks something of a stream, where the stream is captured, or is the default
// stream that must not wait for one that is; nothing where the call goes on as usual.
std::optional<cudaError_t> captured(cudaStream_t stream, const Work &work);
std::optional<cudaError_t> captured_record(cudaEvent_t event, cudaStream_t stream);
std::optional<cudaError_t> captured_wait(cudaStream_t stream, cudaEvent_t event);
std::optional<cudaError_t> captured_synchronise(cudaStream_t stream);
// As these, of the whole device.
std::optional<cudaError_t> captured_synchronise_all();

// What a call asks of its stream, kept instead of done: for a node of a graph.
cudaError_t collect(const Work &call, std::vector<Work> &works);

bool is_captured(cudaStream_t stream);
void forget_captures();

} // namespace standin
