#include "library.hpp"
#include "capture.hpp"
#include "errors.hpp"
#include "managed.hpp"

namespace standin {

Answer compute(Operation operation, const Payload &payload, cudaStream_t stream, const void *caller) {
    Answer answer;
    answer.code = forked() ? cudaErrorInitializationError : broken();
    if (answer.code != cudaSuccess) return answer;
    if (is_captured(stream)) unsupported("cuBLAS or cuRAND in a stream that is captured", caller);
    hand_over();
    answer = ask(operation, caller, payload);
    if (answer.code == cudaSuccess) device_at_work();
    return answer;
}

} // namespace standin
