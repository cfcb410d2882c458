// The processor's record of an access that faulted, and how it is made to run one instruction and trap. `context` is
// what a signal handler is given (sigaction(2)).
#pragma once

#include <cstdint>

namespace standin {

enum class Direction { reads, writes, executes, unknown };

void *instruction_of(void *context);
Direction direction_of(std::uint64_t address, void *context);
// Host and device may update managed memory at the same time with atomic instructions.
bool is_atomic(void *context);

#if defined(__x86_64__)
constexpr bool can_step = true;
#elif defined(__aarch64__)
constexpr bool can_step = false; // the bit that asks for it is the operating system's
#else
#error "programs of this processor's cannot be watched"
#endif
void step(void *context);
void end_step(void *context);

} // namespace standin
