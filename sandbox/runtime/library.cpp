#include "library.hpp"
#include "errors.hpp"
#include "managed.hpp"

namespace standin {

Answer compute(Operation operation, const Payload &payload, const void *caller) {
    Answer answer;
    answer.code = forked() ? cudaErrorInitializationError : broken();
    if (answer.code != cudaSuccess) return answer;
    hand_over();
    answer = ask(operation, caller, payload);
    if (answer.code == cudaSuccess) device_at_work();
    return answer;
}

} // namespace standin
