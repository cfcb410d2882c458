// Instructions that access memory. Every address is checked here before a byte is touched.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "halves.hpp"
#include "machine.hpp"

namespace sass {

namespace {

constexpr u32 WORD = 4;
constexpr s64 LOW_WORD = 0xFFFFFFFF;

template <typename T>
T value_at(const u8 *bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

u32 narrow_value(const u8 *bytes, u32 size, bool is_signed) {
    if (size == 1) return is_signed ? u32(s32(s8(*bytes))) : *bytes;
    const u16 half = value_at<u16>(bytes);
    return is_signed ? u32(s32(s16(half))) : half;
}

// The smaller or the larger of two numbers; what is no number wins.
template <typename T>
T extreme_of(T x, T y, bool is_smallest) {
    if constexpr (std::is_floating_point_v<T>) return is_smallest ? lesser_or_nan(x, y) : greater_or_nan(x, y);
    return is_smallest ? std::min(x, y) : std::max(x, y);
}

template <typename T>
T updated(const Op &op, T old, T given, T other) {
    switch (op.joins) {
        case ADD: return old + given;
        case MIN: return extreme_of(old, given, true);
        case MAX: return extreme_of(old, given, false);
        case EXCHANGE: return given;
        case INCREMENT: return old >= given ? T(0) : T(old + 1);
        case DECREMENT: return old == 0 || old > given ? given : T(old - 1);
        case SWAP: return old == given ? other : old;
    }
    if constexpr (std::is_integral_v<T>) {
        if (op.joins == BIT_AND) return old & given;
        if (op.joins == BIT_OR) return old | given;
        if (op.joins == BIT_XOR) return old ^ given;
    }
    if constexpr (std::is_same_v<T, u32>)
        return op.flags & BRAIN ? paired<half_sum<Brain>>(old, given) : paired<half_sum<Half>>(old, given);
    throw Stop{UNKNOWN};
}

}  // namespace

void Machine::memory(const Op &op) {
    switch (op.code) {
        case CODE_load: return load(op);
        case CODE_store: return store(op);
        case CODE_load_constant: return load_constant(op);
        case CODE_copy: return copy(op);
        default: return atomic(op);
    }
}

// The sums of the terms of an address, for the lanes that run.
void Machine::find_addresses(const Op &op, u32 first_source, s64 offset, bool is_wide) {
    const u32 terms = first_source ? op.mode : op.count;
    each_warp([&](u32 warp, u32) {
        s64 *to = where.data() + warp * WARP;
        std::fill(to, to + WARP, offset);
        for (u32 number = first_source; number < first_source + terms; ++number) {
            const Operand &of = operand(number);
            const u32 *low = of.low + of.step * warp, *high = of.high + of.step * warp;
            if (of.signs & WIDE_TERM)
                for (u32 lane = 0; lane < WARP; ++lane) to[lane] += s64(low[lane] | u64(high[lane]) << 32);
            else
                for (u32 lane = 0; lane < WARP; ++lane) to[lane] += s64(low[lane] * of.scale);
        }
        if (!is_wide)
            for (u32 lane = 0; lane < WARP; ++lane) to[lane] &= LOW_WORD;
    });
}

// An access in its space; a generic one in each space to which any lane goes.
template <typename F>
void Machine::spaced(const Op &op, F access) {
    find_addresses(op, 0, op.offset, op.space != SHARED && op.space != LOCAL);
    if (op.space == SHARED || op.space == LOCAL) return part(op, Space(op.space), active, access);
    const auto moved = [&](const Mask &mask, s64 start) {
        for (u32 warp = 0; warp < mask.size(); ++warp)
            each(mask[warp], [&](u32 lane) { where[warp * WARP + lane] -= start; });
    };
    if (op.space == GLOBAL) {
        moved(active, in.global_base);
        return part(op, GLOBAL, active, access);
    }
    Mask rest = active;
    for (Space space : {SHARED, LOCAL}) {
        const s64 start = space == SHARED ? in.shared_window : in.local_window;
        Mask inside(rest.size());
        u32 any = 0;
        for (u32 warp = 0; warp < rest.size(); ++warp) {
            each(rest[warp], [&](u32 lane) {
                const s64 address = where[warp * WARP + lane];
                inside[warp] |= u32(address >= start && address - start < in.window_size) << lane;
            });
            rest[warp] &= ~inside[warp], any |= inside[warp];
        }
        if (!any) continue;
        moved(inside, start);
        part(op, space, inside, access);
    }
    if (std::any_of(rest.begin(), rest.end(), [](u32 mask) { return mask; })) {
        moved(rest, in.global_base);
        part(op, GLOBAL, rest, access);
    }
}

// The access of some lanes in one space: noted, checked for all of them, and made warp by warp.
template <typename F>
void Machine::part(const Op &op, Space space, const Mask &mask, F access) {
    note(op, space, mask);
    for (u32 warp = 0; warp < mask.size(); ++warp)
        if (mask[warp]) check(space, where.data() + warp * WARP, mask[warp], op.size);
    for (u32 warp = 0; warp < mask.size(); ++warp)
        if (mask[warp])
            access(warp, mask[warp], Cells{bytes_of(space, warp), where.data() + warp * WARP, local_step(space)});
}

// Whether the accesses of a warp lie within their space, each at a multiple of its size.
void Machine::check(Space space, const s64 *at, u32 mask, u32 size) const {
    const u64 limit = space == GLOBAL ? in.global_size : space == SHARED ? in.shared_size : in.local_size;
    if (limit < size) throw Stop{STRAY};
    const u64 last = limit - size;
    u64 strays = 0;
    if (mask == ALL)
        for (u32 lane = 0; lane < WARP; ++lane) strays |= u64(u64(at[lane]) > last) | (u64(at[lane]) & (size - 1));
    else
        each(mask, [&](u32 lane) { strays |= u64(u64(at[lane]) > last) | (u64(at[lane]) & (size - 1)); });
    if (strays) throw Stop{STRAY};
}

// Where the bytes of a space begin for a warp; those of local memory are its first lane's.
u8 *Machine::bytes_of(Space space, u32 warp) const {
    if (space == GLOBAL) return in.global_bytes;
    if (space == SHARED) return in.shared_bytes + warp / warps_per_block * in.shared_size;
    return in.local_bytes + u64(warp) * WARP * in.local_size;
}

// Record an access: where all lanes have one address, that alone, and what an instruction repeats once.
void Machine::note(const Op &op, Space space, const Mask &mask) {
    if (!in.kept[current]) return;
    const bool is_whole = std::all_of(mask.begin(), mask.end(), [](u32 lanes) { return lanes == ALL; });
    u32 number = 0;
    if (!is_whole) {
        const u64 size = mask.size();
        if (masks.size() < size || !std::equal(mask.begin(), mask.end(), masks.end() - s64(size)))
            masks.insert(masks.end(), mask.begin(), mask.end());
        number = u32(masks.size() / size);
    }
    const s64 *first = nullptr;
    bool is_one = true;
    for (u32 warp = 0; warp < mask.size() && is_one; ++warp)
        each(mask[warp], [&](u32 lane) {
            const s64 *address = where.data() + warp * WARP + lane;
            if (!first) first = address;
            is_one &= *address == *first;
        });
    const s64 nowhere = 0;
    const s64 *given = !is_one ? where.data() : first ? first : &nowhere;
    const u64 count = is_one ? 1 : where.size();
    Span &latest = recorded[current];
    if (latest.count != count || std::memcmp(addresses.data() + latest.first, given, count * sizeof(s64))) {
        latest = {addresses.size(), count};
        addresses.append(given, count);
    }
    accesses.push_back({u32(current), space, op.size, number, latest.first, latest.count});
}

void Machine::load(const Op &op) {
    spaced(op, [&](u32 warp, u32 mask, Cells cells) {
        Words values = {};
        if (op.size < WORD) {
            each(mask, [&](u32 lane) { values[lane] = narrow_value(cells.at(lane), op.size, op.flags & SIGNED); });
            return write(op.to, warp, mask, values);
        }
        if (op.to < 0) return;
        for (u32 number = 0; number < op.size / WORD; ++number) {
            const auto take = [&](u32 lane) { values[lane] = value_at<u32>(cells.at(lane) + WORD * number); };
            if (mask == ALL)
                for (u32 lane = 0; lane < WARP; ++lane) take(lane);
            else
                each(mask, take);
            write(op.to + s32(number), warp, mask, values);
        }
    });
}

void Machine::store(const Op &op) {
    spaced(op, [&](u32 warp, u32 mask, Cells cells) {
        Words room;
        if (op.size <= WORD) {
            const u32 *values = word(TERMS, warp, room);
            return each(mask, [&](u32 lane) { std::memcpy(cells.at(lane), values + lane, op.size); });
        }
        const Operand &of = operand(TERMS);
        for (u32 number = 0; number < op.size / WORD; ++number) {
            const u32 *values = of.low + of.step * warp + (of.step ? number * lane_count : 0);
            each(mask, [&](u32 lane) { std::memcpy(cells.at(lane) + WORD * number, values + lane, WORD); });
        }
    });
}

// Bytes of a constant bank, at an offset that a register may decide.
void Machine::load_constant(const Op &op) {
    const Bank &bank = in.banks[op.immediate];
    each_warp([&](u32 warp, u32 mask) {
        Words room, values;
        const u32 *index = word(0, warp, room);
        const u32 width = std::min<u32>(op.size, WORD);
        const auto at = [&](u32 lane) {
            const s64 offset = std::clamp<s64>(s64(s32(index[lane])) + op.offset, 0, s64(bank.size) - op.size);
            return bank.bytes + offset / width * width;
        };
        u32 starts[WARP];
        for (u32 lane = 0; lane < WARP; ++lane) starts[lane] = u32(at(lane) - bank.bytes);
        for (u32 number = 0; number < std::max<u32>(1, op.size / WORD); ++number) {
            for (u32 lane = 0; lane < WARP; ++lane) {
                const u8 *bytes = bank.bytes + starts[lane] + WORD * number;
                const bool is_narrow = op.size < WORD;
                values[lane] = is_narrow ? narrow_value(bytes, op.size, op.flags & SIGNED) : value_at<u32>(bytes);
            }
            write(op.to < 0 ? op.to : op.to + s32(number), warp, mask, values);
        }
    });
}

// Each lane copies from global to shared memory, at once, as a thread that waits for it sees it.
void Machine::copy(const Op &op) {
    find_addresses(op, TERMS, op.goal, false);
    const std::vector<s64> goals = where;
    const Mask all = active;
    const auto goals_of = [&](u32 warp) { return Cells{bytes_of(SHARED, warp), goals.data() + warp * WARP, 0}; };
    u32 any = 0;
    for (u32 warp = 0; warp < all.size(); ++warp) {
        if (all[warp]) check(SHARED, goals.data() + warp * WARP, all[warp], op.size);
        any |= active[warp] = all[warp] ? all[warp] & truth(op.truths[0], warp) : 0;
    }
    const Mask reading = active;
    if (any)
        spaced(op, [&](u32 warp, u32 mask, Cells cells) {
            each(mask, [&](u32 lane) { std::memcpy(goals_of(warp).at(lane), cells.at(lane), op.size); });
        });
    else
        note(op, GLOBAL, active);
    for (u32 warp = 0; warp < all.size(); ++warp)
        each(all[warp] & ~reading[warp], [&](u32 lane) { std::memset(goals_of(warp).at(lane), 0, op.size); });
}

void Machine::atomic(const Op &op) {
    const bool is_wide = op.size == 8, is_signed = op.flags & SIGNED;
    if (op.flags & REAL) return is_wide ? update<f64>(op) : update<f32>(op);
    if (is_signed) return is_wide ? update<s64>(op) : update<s32>(op);
    return is_wide ? update<u64>(op) : update<u32>(op);
}

// Lanes update numbers one after the other, and get what they read before.
template <typename T>
void Machine::update(const Op &op) {
    spaced(op, [&](u32 warp, u32 mask, Cells cells) {
        Pairs given, other, before = {};
        pair(TERMS, warp, given), pair(TERMS + 1, warp, other);
        Words room;
        if constexpr (sizeof(T) == WORD) std::copy_n(word(TERMS, warp, room), WARP, given);
        if constexpr (sizeof(T) == WORD) std::copy_n(word(TERMS + 1, warp, room), WARP, other);
        each(mask, [&](u32 lane) {
            u8 *cell = cells.at(lane);
            const T old = value_at<T>(cell), value = value_at<T>(reinterpret_cast<const u8 *>(given + lane));
            const T now = updated<T>(op, old, value, value_at<T>(reinterpret_cast<const u8 *>(other + lane)));
            std::memcpy(cell, &now, sizeof now);
            const T told = op.flags & TELLS ? T(old == value) : old;
            std::memcpy(before + lane, &told, sizeof told);
        });
        if (sizeof(T) == 8) return write(op.to, warp, mask, before);
        for (u32 lane = 0; lane < WARP; ++lane) room[lane] = u32(before[lane]);
        write(op.to, warp, mask, room);
    });
}

}  // namespace sass
