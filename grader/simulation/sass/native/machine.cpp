#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace sass {

namespace {

// The lanes of 32 bytes that hold 0 or 1.
u32 gathered(const u8 *bytes) {
    u32 mask = 0;
    for (u32 part = 0; part < WARP; part += 8) {
        u64 eight;
        std::memcpy(&eight, bytes + part, 8);
        mask |= u32((eight & 0x0101010101010101) * 0x0102040810204080 >> 56) << part;
    }
    return mask;
}

void require(bool holds) {
    if (!holds) throw std::out_of_range("an instruction that no listing gives");
}

}  // namespace

Machine::Machine(const MachineInput &input) : in(input) {
    const u64 threads = u64(in.block[0]) * in.block[1] * in.block[2];
    require(threads > 0 && threads <= 1 << 20 && in.grid[0] && in.grid[1] && in.grid[2]);
    warps_per_block = u32((threads + WARP - 1) / WARP);
    lane_count = in.block_count * warps_per_block * WARP;
    group.resize(lane_count / WARP), active.resize(lane_count / WARP), where.resize(lane_count);
    recorded.resize(in.op_count);
    constants.reserve(2 * MOST_SOURCES * in.op_count);  // operands point into it
    for (u64 at = 0; at < in.op_count; ++at) {
        check(in.ops[at]);
        for (const Source &source : in.ops[at].sources) sources.push_back(looked_up(source));
    }
}

void Machine::check(const Op &op) const {
    const auto is_predicate = [](s32 number) { return number >= -1 && number < PREDICATES; };
    require(op.code < CODE_COUNT && op.to >= -1 && op.to < REGISTERS && is_predicate(op.guard.index));
    for (const Truth &truth : op.truths) require(is_predicate(truth.index));
    for (s8 predicate : op.decided) require(is_predicate(predicate));
    for (const Source &source : op.sources) require(source.index >= -1 && source.index < REGISTERS);
    require(std::has_single_bit(op.size) && op.size <= 16 && op.space <= LOCAL);
    if (op.code == CODE_load_constant) require(op.immediate < in.bank_count && in.banks[op.immediate].size >= 16);
    if (op.code == CODE_enter || op.code == CODE_leave || op.code == CODE_barrier_to_register ||
        op.code == CODE_register_to_barrier)
        require(op.immediate < BARRIERS);
    if (op.code == CODE_add_with_carries) require(op.count <= MOST_SOURCES);
    if (op.code == CODE_load || op.code == CODE_store || op.code == CODE_atomic || op.code == CODE_copy)
        require(op.count <= TERMS && op.mode <= TERMS);
    if (op.code == CODE_logic_of_predicates) require(op.count <= 2);
    if (op.code == CODE_add_with_carries || op.code == CODE_shift_add || op.code == CODE_multiply_wide)
        require(op.immediate <= MOST_TRUTHS);
}

Machine::Operand Machine::looked_up(const Source &source) {
    if (source.index >= 0) {
        const u32 *low = register_of(source.index, 0);
        return {low, low + lane_count, WARP, source.signs, source.value};
    }
    for (u64 value : {source.value, source.value >> 32}) {
        constants.emplace_back();
        constants.back().fill(u32(value));
    }
    const u32 *low = constants[constants.size() - 2].data();
    return {low, constants.back().data(), 0, u16(source.signs & WIDE_TERM), 1};
}

// Execute the instructions of a straight run for some lanes; a byte 1 for each of them.
Status Machine::straight(u64 first, u64 last, const u8 *chosen) {
    for (u32 warp = 0; warp < group.size(); ++warp) group[warp] = gathered(chosen + warp * WARP);
    reached = first;
    try {
        require(last <= in.op_count);
        for (; reached < last; ++reached)
            if (const Op &op = in.ops[reached]; op.code != CODE_nothing && choose(op)) execute(op, reached);
    } catch (const Stop &stop) {
        return stop.status;
    } catch (const std::bad_alloc &) {
        return NO_MEMORY;
    } catch (const std::out_of_range &) {
        return UNKNOWN;
    }
    return DONE;
}

// The lanes for which an instruction has an effect; false where there are none.
bool Machine::choose(const Op &op) {
    if (op.guard.index < 0 && !op.guard.inverted) {
        active = group;
        return true;
    }
    u32 any = 0;
    for (u32 warp = 0; warp < group.size(); ++warp)
        any |= active[warp] = group[warp] ? group[warp] & truth(op.guard, warp) : 0;
    return any;
}

void Machine::execute(const Op &op, u64 at) {
    current = at;
    switch (op.code) {
#define CASE(name) case CODE_##name:
        SASS_INTEGER(CASE) return integer(op);
        SASS_BITS(CASE) return bits(op);
        SASS_FLOATING(CASE) return floating(op);
        SASS_HALVES(CASE) return halves(op);
        SASS_CONVERSIONS(CASE) return conversions(op);
        SASS_WARPS(CASE) return warps_of(op);
        SASS_MEMORY(CASE) return memory(op);
#undef CASE
        default: throw Stop{UNKNOWN};
    }
}

// The words of an operand, with their signs: where they are, or in `room`.
const u32 *Machine::word(u32 number, u32 warp, Words &room) const {
    const Operand &of = operand(number);
    const u32 *words = of.low + of.step * warp;
    if (!of.signs) return words;
    for (u32 lane = 0; lane < WARP; ++lane) {
        u32 value = words[lane];
        if (of.signs & NEGATED) value = 0 - value;
        if (of.signs & INVERTED) value = ~value;
        if (of.signs & ABSOLUTE && s32(value) < 0) value = 0 - value;
        if (of.signs & REAL_ABSOLUTE) value &= 0x7FFFFFFF;
        if (of.signs & REAL_NEGATED) value ^= 0x80000000;
        room[lane] = value;
    }
    return room;
}

void Machine::pair(u32 number, u32 warp, Pairs &values) const {
    const Operand &of = operand(number);
    const u32 *low = of.low + of.step * warp, *high = of.high + of.step * warp;
    for (u32 lane = 0; lane < WARP; ++lane) values[lane] = low[lane] | u64(high[lane]) << 32;
    if (!(of.signs & (NEGATED | REAL_ABSOLUTE | REAL_NEGATED))) return;
    constexpr u64 sign = u64(1) << 63;
    for (u64 &value : values) {
        if (of.signs & NEGATED) value = 0 - value;
        if (of.signs & REAL_ABSOLUTE) value &= ~sign;
        if (of.signs & REAL_NEGATED) value ^= sign;
    }
}

u32 Machine::truth(Truth of, u32 warp) const {
    const u32 inverted = of.inverted ? ALL : 0;
    if (of.index < 0) return ~inverted;
    return gathered(in.predicates + of.index * lane_count + warp * WARP) ^ inverted;
}

// Give the lanes of a mask their values. A uniform register is one for the warp, whichever of its lanes run.
void Machine::write(s32 to, u32 warp, u32 mask, const Words &values) const {
    if (to < 0) return;
    u32 *words = register_of(to, warp);
    if (mask == ALL || to >= UNIFORM)
        std::memcpy(words, values, sizeof values);
    else
        each(mask, [&](u32 lane) { words[lane] = values[lane]; });
}

void Machine::write(s32 to, u32 warp, u32 mask, const Pairs &values) const {
    if (to < 0) return;
    Words low, high;
    for (u32 lane = 0; lane < WARP; ++lane) low[lane] = u32(values[lane]), high[lane] = u32(values[lane] >> 32);
    write(to, warp, mask, low);
    write(to + 1, warp, mask, high);
}

void Machine::decide(s32 predicate, u32 warp, u32 mask, u32 values) const {
    if (predicate < 0) return;
    u8 *truths = in.predicates + predicate * lane_count + warp * WARP;
    if (predicate >= UNIFORM_PREDICATES) mask = ALL;
    if (mask == ALL)
        for (u32 lane = 0; lane < WARP; ++lane) truths[lane] = values >> lane & 1;
    else
        each(mask, [&](u32 lane) { truths[lane] = values >> lane & 1; });
}

}  // namespace sass
