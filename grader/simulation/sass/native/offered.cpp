// What the execution of machine code offers to Python, as plain C functions.
#include <new>
#include <stdexcept>

#include "machine.hpp"
#include "offered.hpp"

namespace {
const char *const NAMES[] = {
#define NAMED(name) #name,
    SASS_CODES(NAMED)
#undef NAMED
};
}  // namespace

extern "C" {

OFFERED const char *sass_name(unsigned code) { return code < sass::CODE_COUNT ? NAMES[code] : nullptr; }

OFFERED void sass_sizes(unsigned *sizes) {
    sizes[0] = sizeof(sass::Source), sizes[1] = sizeof(sass::Op), sizes[2] = sizeof(sass::Bank);
    sizes[3] = sizeof(sass::MachineInput), sizes[4] = sizeof(sass::Access);
}

// A machine that is about to begin; null where its parts do not fit together, or without enough memory.
OFFERED void *sass_begin(const sass::MachineInput *input) {
    try {
        return new sass::Machine(*input);
    } catch (const std::exception &) {
        return nullptr;
    }
}

// Run instructions for some lanes; the status, and the instruction that it came to.
OFFERED int sass_straight(void *machine, unsigned long long first, unsigned long long last,
                          const unsigned char *lanes, unsigned long long *reached) {
    auto &m = *static_cast<sass::Machine *>(machine);
    const int status = m.straight(first, last, lanes);
    *reached = m.reached;
    return status;
}

// The accesses that were recorded so far: how many there are, of addresses and words of masks as well.
OFFERED void sass_recorded(void *machine, unsigned long long *counts, const void **parts) {
    auto &m = *static_cast<sass::Machine *>(machine);
    counts[0] = m.accesses.size(), counts[1] = m.addresses.size(), counts[2] = m.masks.size();
    parts[0] = m.accesses.data(), parts[1] = m.addresses.data(), parts[2] = m.masks.data();
}

OFFERED void sass_end(void *machine) { delete static_cast<sass::Machine *>(machine); }
}
