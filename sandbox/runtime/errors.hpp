// The error state of the runtime: what the last call said, and what has broken the context for good.
#pragma once

#include "wire.hpp"

#include <cuda_runtime_api.h>

namespace standin {

// Keeps `code` as the thread's last error, unless it is none or says only "not ready", and gives it back.
// The first error of a call goes to the device, with where the program called: some calls fail without asking it.
cudaError_t keep_from(const void *caller, cudaError_t code);
#define keep(code) keep_from(CALLER, code)
// The error that broke the context; from then on every call that reaches the device gives it.
cudaError_t broken();

// Most calls begin like this: a broken context, or a forked process, does nothing any more.
#define NEEDS_DEVICE                                                                                              \
    if (standin::forked()) return standin::keep(cudaErrorInitializationError);                                    \
    if (standin::broken() != cudaSuccess) return standin::keep(standin::broken())

} // namespace standin
