// What the library offers to Python, as plain C functions.
#include <cstring>
#include <new>

#include "machine.hpp"
#include "codes.hpp"

namespace {
const char *const NAMES[] = {
#define PURE1(name, ...) #name,
#define PURE2(name, ...) #name,
#define PURE3(name, ...) #name,
#include "pure.inc"
#include "rare.inc"
#undef PURE1
#undef PURE2
#undef PURE3
#define CONTROL(name) #name,
    CONTROL_OPS(CONTROL)
#undef CONTROL
};
}  // namespace

#define OFFERED [[gnu::visibility("default")]]

extern "C" {

// The digest of the sources that the library was made of.
OFFERED const char *core_digest() { return DIGEST; }

// True if the processor has what the library of `WIDE` in `sources.py` is compiled for (x86-64-v3).
OFFERED int core_can_be_wide() {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("f16c");
#else
    return 0;
#endif
}

OFFERED const char *core_name(unsigned code) { return code < CODE_COUNT ? NAMES[code] : nullptr; }

OFFERED void core_sizes(unsigned *sizes) {
    sizes[0] = sizeof(Op), sizes[1] = sizeof(Bound), sizes[2] = sizeof(Array), sizes[3] = sizeof(LaunchInput),
    sizes[4] = sizeof(Result);
}

// A machine that is about to begin; null where there is not enough memory.
OFFERED void *core_begin(const LaunchInput *input) {
    try {
        return new Machine(*input);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

// Run for some operations of warps; the status, and what has come of it so far.
OFFERED unsigned core_run(void *machine, unsigned long long operations, Result *result) {
    Machine &m = *static_cast<Machine *>(machine);
    m.run(operations);
    *result = m.result;
    return m.result.status;
}

// Let a machine that has paused go on.
OFFERED void core_go_on(void *machine) { static_cast<Machine *>(machine)->go_on(); }

OFFERED void core_end(void *machine) { delete static_cast<Machine *>(machine); }
}
