// Instructions on bits: shifts, logic, bytes, counts; predicates, special registers and selections.
#include <algorithm>

#include "machine.hpp"

namespace sass {

namespace {

// A funnel of two words is shifted, and one half of it taken.
u32 shifted(const Op &op, u32 x, u32 amount, u32 y) {
    const u32 flags = op.flags, most = flags & WIDE ? 64 : 32;
    const u32 shift = flags & WRAPS ? amount % most : std::min(amount, most);
    const bool is_high = flags & HIGH, is_wide = flags & WIDE;
    const u64 funnel = x | u64(y) << 32;
    if (flags & LEFT) {
        if (!is_wide && !is_high) return shift > 31 ? 0 : x << shift;
        const u64 moved = shift > 63 ? 0 : funnel << shift;
        return u32(is_high ? moved >> 32 : moved);
    }
    if (flags & SIGNED && is_high && !is_wide) return u32(s32(y) >> std::min(shift, 31u));
    const u32 by = std::min(shift, 63u);
    const u64 moved = flags & SIGNED ? u64(s64(funnel) >> by) : shift > 63 ? 0 : funnel >> by;
    return u32(is_high ? moved >> 32 : moved);
}

u32 of_three_bits(u32 x, u32 y, u32 z, u32 table) {
    return (z & of_two_bits(x, y, (table >> 1 & 1) | (table >> 2 & 2) | (table >> 3 & 4) | (table >> 4 & 8))) |
           (~z & of_two_bits(x, y, (table & 1) | (table >> 1 & 2) | (table >> 2 & 4) | (table >> 3 & 8)));
}

u32 leading(const Op &op, u32 word) {
    const u32 position = highest_bit(!(op.flags & SIGNED) || s32(word) >= 0 ? word : ~word);
    return position == ALL ? ALL : op.flags & LEFT ? 31 - position : position;
}

u32 bit_mask(u32 first, u32 width) { return u32(((u64(1) << std::min(width, 32u)) - 1) << (first & 31)); }

}  // namespace

void Machine::bits(const Op &op) {
    switch (op.code) {
        case CODE_move: return of_words(op, [](u32 a, u32, u32) { return a; });
        case CODE_funnel_shift: return of_words(op, [&](u32 a, u32 b, u32 c) { return shifted(op, a, b, c); });
        case CODE_permute: return of_words(op, [](u32 a, u32 b, u32 c) { return permuted(a, c, b); });
        case CODE_population: return of_words(op, [](u32 a, u32, u32) { return u32(std::popcount(a)); });
        case CODE_reverse: return of_words(op, [](u32 a, u32, u32) { return reversed(a); });
        case CODE_leading: return of_words(op, [&](u32 a, u32, u32) { return leading(op, a); });
        case CODE_extend:
            if (op.flags & SIGNED) return of_words(op, [](u32 a, u32 b, u32) { return low_bits_s32(a, b); });
            return of_words(op, [](u32 a, u32 b, u32) { return low_bits_u32(a, b); });
        case CODE_bit_mask: return of_words(op, [](u32 a, u32 b, u32) { return bit_mask(a, b); });
        case CODE_logic:
            return each_warp([&](u32 warp, u32 mask) {
                Words x, y, z, result;
                const u32 *a = word(0, warp, x), *b = word(1, warp, y), *c = word(2, warp, z);
                for (u32 lane = 0; lane < WARP; ++lane)
                    result[lane] = of_three_bits(a[lane], b[lane], c[lane], op.immediate);
                write(op.to, warp, mask, result);
                if (op.decided[0] < 0) return;
                u32 holds = op.flags & JOINED ? truth(op.truths[0], warp) : 0;
                for (u32 lane = 0; lane < WARP; ++lane) holds |= u32(result[lane] != 0) << lane;
                decide(op.decided[0], warp, mask, holds);
            });
        case CODE_logic_of_predicates:
            return each_warp([&](u32 warp, u32 mask) {
                const u32 a = truth(op.truths[0], warp), b = truth(op.truths[1], warp), c = truth(op.truths[2], warp);
                const u32 tables[] = {op.immediate & 255, op.immediate >> 8 & 255};
                for (u32 number = 0; number < op.count; ++number)
                    decide(op.decided[number], warp, mask, of_three_bits(a, b, c, tables[number]));
            });
        case CODE_select:
            return each_warp([&](u32 warp, u32 mask) {
                Words x, y, result;
                const u32 *a = word(0, warp, x), *b = word(1, warp, y), which = truth(op.truths[0], warp);
                for (u32 lane = 0; lane < WARP; ++lane) result[lane] = which >> lane & 1 ? a[lane] : b[lane];
                write(op.to, warp, mask, result);
            });
        case CODE_special:
            return each_warp([&](u32 warp, u32 mask) {
                Words result, nought = {};
                for (u32 lane = 0; lane < WARP; ++lane) result[lane] = special(op.immediate, warp * WARP + lane);
                write(op.to, warp, mask, result);
                if (op.flags & WIDE) write(op.to + 1, warp, mask, nought);
            });
        case CODE_to_predicates:
            return each_warp([&](u32 warp, u32 mask) {
                Words x;
                const u32 *a = word(0, warp, x);
                each(op.immediate & 127, [&](u32 predicate) {
                    u32 holds = 0;
                    for (u32 lane = 0; lane < WARP; ++lane) holds |= (a[lane] >> op.mode >> predicate & 1) << lane;
                    decide(s32(predicate), warp, mask, holds);
                });
            });
        case CODE_from_predicates:
            return each_warp([&](u32 warp, u32 mask) {
                Words x, result;
                const u32 *a = word(0, warp, x), kept = op.immediate;
                for (u32 lane = 0; lane < WARP; ++lane) result[lane] = a[lane] & ~(kept << op.mode);
                each(kept & 127, [&](u32 predicate) {
                    const u32 holds = truth({s8(predicate), 0}, warp);
                    for (u32 lane = 0; lane < WARP; ++lane)
                        result[lane] |= (holds >> lane & 1) << predicate << op.mode;
                });
                write(op.to, warp, mask, result);
            });
        case CODE_votes:
            return each_warp([&](u32 warp, u32 mask) {
                Words result;
                u32 holds = 0;
                for (u32 lane = 0; lane < WARP; ++lane) {
                    result[lane] = in.votes[warp * WARP + lane];
                    holds |= u32(result[lane] != 0) << lane;
                }
                write(op.to, warp, mask, result);
                for (s8 predicate : op.decided) decide(predicate, warp, mask, holds);
            });
        default: return to_uniform(op);
    }
}

// A word of the first lane of each warp. What the predicate says where lanes differ is not known.
void Machine::to_uniform(const Op &op) {
    each_warp([&](u32 warp, u32 mask) {
        Words x, result;
        const u32 *a = word(0, warp, x), chosen = a[std::countr_zero(mask)];
        std::fill(result, result + WARP, chosen);
        if (op.decided[0] >= 0)
            each(mask, [&](u32 lane) {
                if (a[lane] != chosen) throw Stop{UNKNOWN};
            });
        write(op.to, warp, mask, result);
        decide(op.decided[0], warp, mask, ALL);
    });
}

u32 Machine::special(u32 name, u64 number) const {
    const u64 linear = number % (warps_per_block * WARP), block = in.blocks[number / (warps_per_block * WARP)];
    const u32 lane = u32(number % WARP), x = in.block[0], y = in.block[1], columns = in.grid[0], rows = in.grid[1];
    switch (name) {
        case TID_X: return u32(linear % x);
        case TID_Y: return u32(linear / x % y);
        case TID_Z: return u32(linear / (u64(x) * y));
        case CTAID_X: return u32(block % columns);
        case CTAID_Y: return u32(block / columns % rows);
        case CTAID_Z: return u32(block / (u64(columns) * rows));
        case NTID_X: case NTID_Y: case NTID_Z: return in.block[name - NTID_X];
        case NCTAID_X: case NCTAID_Y: case NCTAID_Z: return in.grid[name - NCTAID_X];
        case LANEID: return lane;
        case LTMASK: return (u32(1) << lane) - 1;
        case EQMASK: return u32(1) << lane;
        case LEMASK: return u32((u64(2) << lane) - 1);
        case GTMASK: return ~u32((u64(2) << lane) - 1);
        case GEMASK: return ~((u32(1) << lane) - 1);
        case SWINHI: return u32(in.shared_window >> 32);
        default: return 0;
    }
}

}  // namespace sass
