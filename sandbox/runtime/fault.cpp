#include "fault.hpp"

#include <ucontext.h>

#include <cstring>

#if defined(__aarch64__)
#include <asm/sigcontext.h>
#endif

namespace standin {
namespace {

mcontext_t &machine(void *context) { return static_cast<ucontext_t *>(context)->uc_mcontext; }

} // namespace

#if defined(__x86_64__)

// Intel SDM, volume 3, "Page-Fault Exception" and "Single-Step Exception Condition".
constexpr long is_write = 2, fetches_instruction = 16;
constexpr greg_t trap_flag = 0x100;

void *instruction_of(void *context) { return reinterpret_cast<void *>(machine(context).gregs[REG_RIP]); }

Direction direction_of(std::uint64_t, void *context) {
    auto code = machine(context).gregs[REG_ERR];
    if (code & fetches_instruction) return Direction::executes;
    return code & is_write ? Direction::writes : Direction::reads;
}

// A LOCK prefix, or an exchange with memory (Intel SDM, volume 2, "Instruction Format").
bool is_atomic(void *context) {
    auto *code = static_cast<const unsigned char *>(instruction_of(context));
    constexpr unsigned char lock = 0xF0, exchange_bytes = 0x86, exchange = 0x87;
    while (*code == 0x66 || *code == 0x67 || *code == 0xF2 || *code == 0xF3) ++code;
    if (*code == lock) return true;
    if ((*code & 0xF0) == 0x40) ++code; // REX
    return *code == exchange_bytes || *code == exchange;
}

void step(void *context) { machine(context).gregs[REG_EFL] |= trap_flag; }
void end_step(void *context) { machine(context).gregs[REG_EFL] &= ~trap_flag; }

#elif defined(__aarch64__)

// Arm ARM, "ESR_EL1": whether a data abort was a write.
constexpr std::uint64_t is_write = 1 << 6;

void *instruction_of(void *context) { return reinterpret_cast<void *>(machine(context).pc); }

// The syndrome stands among records behind the registers, if the operating system says it.
Direction direction_of(std::uint64_t address, void *context) {
    if (address == machine(context).pc) return Direction::executes;
    const unsigned char *at = machine(context).__reserved, *end = at + sizeof machine(context).__reserved;
    for (_aarch64_ctx head{}; at + sizeof(esr_context) <= end; at += head.size) {
        std::memcpy(&head, at, sizeof head);
        if (head.size < sizeof head) break;
        if (head.magic != ESR_MAGIC) continue;
        esr_context syndrome{};
        std::memcpy(&syndrome, at, sizeof syndrome);
        return syndrome.esr & is_write ? Direction::writes : Direction::reads;
    }
    return Direction::unknown;
}

// Arm ARM, "Loads and Stores": exclusive accesses, compare-and-swap, and the atomic operations on memory.
bool is_atomic(void *context) {
    std::uint32_t code = 0;
    std::memcpy(&code, instruction_of(context), sizeof code);
    bool is_exclusive_or_ordered = (code & 0x3F000000) == 0x08000000, is_ordered = code >> 23 & 1;
    bool compares_and_swaps = is_ordered && (code >> 21 & 1);
    if (is_exclusive_or_ordered) return !is_ordered || compares_and_swaps;
    return (code & 0x3B200C00) == 0x38200000;
}

void step(void *) {}
void end_step(void *) {}

#endif

} // namespace standin
