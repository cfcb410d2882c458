// Errors: their names and texts, the last one of each thread, and those that stay (CUDA Runtime API, "Error Handling").
#include "errors.hpp"
#include "wire.hpp"

#include <atomic>

namespace standin {
namespace {

struct Text {
    int code;
    const char *name, *text;
};
const Text texts[] = {
#include "errors.inc"
};

thread_local cudaError_t last = cudaSuccess;
std::atomic<cudaError_t> breaking{cudaSuccess};

// After these the context is unusable until the process ends (driver_types.h: "the process must be terminated").
bool breaks(cudaError_t code) {
    switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return true;
    default: return false;
    }
}

const Text *find(cudaError_t code) {
    for (const Text &text : texts) {
        if (text.code == code) return &text;
    }
    return nullptr;
}

} // namespace

cudaError_t keep_from(const void *caller, cudaError_t code) {
    if (code == cudaSuccess || code == cudaErrorNotReady) return code;
    last = code;
    static std::atomic<bool> was_one_before{false};
    if (breaks(code)) {
        breaking = code;
    } else if (!was_one_before.exchange(true) && !forked()) {
        ask(Operation::call_failed, caller, Payload().add(static_cast<std::uint32_t>(code)));
    }
    return code;
}

cudaError_t broken() { return breaking; }

void forget_errors() {
    breaking = cudaSuccess;
    last = cudaSuccess;
}

} // namespace standin

using namespace standin;

extern "C" {

const char *cudaGetErrorName(cudaError_t code) {
    const Text *text = find(code);
    return text ? text->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code) {
    const Text *text = find(code);
    return text ? text->text : "unrecognized error code";
}

cudaError_t cudaPeekAtLastError() {
    static const bool told = (forked() || (ask(Operation::errors_asked, CALLER), true));
    (void)told;
    return last;
}

cudaError_t cudaGetLastError() {
    cudaError_t code = cudaPeekAtLastError();
    last = cudaSuccess; // of a broken context, too: the next call gives its error again
    return code;
}

} // extern "C"
