// What the core offers to Python, as plain C functions.
#include <cstring>
#include <new>

#include "machine.hpp"
#include "codes.hpp"
#include "offered.hpp"

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

extern "C" {

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
