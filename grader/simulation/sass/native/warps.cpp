// Lanes of a warp: exchange of values, and which of them meet again after they parted.
#include <algorithm>

#include "machine.hpp"

namespace sass {

namespace {

enum Shuffle : u8 { UP, DOWN, BUTTERFLY, INDEXED };
enum Reduction : u8 { SUM, LEAST, MOST, ALL_BITS, ANY_BITS, ODD_BITS };

u32 reduced(const Op &op, u32 x, u32 y) {
    const bool is_signed = op.flags & SIGNED;
    switch (op.mode) {
        case SUM: return x + y;
        case LEAST: return is_signed ? u32(std::min(s32(x), s32(y))) : std::min(x, y);
        case MOST: return is_signed ? u32(std::max(s32(x), s32(y))) : std::max(x, y);
        case ALL_BITS: return x & y;
        case ANY_BITS: return x | y;
        default: return x ^ y;
    }
}

}  // namespace

void Machine::warps_of(const Op &op) {
    Words room;
    switch (op.code) {
        case CODE_shuffle: return shuffle(op);
        case CODE_match: return match(op);
        case CODE_reduce: return reduce(op);
        case CODE_leave: return leave(op);
        case CODE_vote:
            return each_warp([&](u32 warp, u32 mask) {
                const u32 given = truth(op.truths[0], warp), votes = given & mask;
                const bool all = votes == mask, any = votes != 0;
                const bool agreed = op.flags & ANY ? any : op.flags & EXTENDED ? all || !any : all;
                std::fill(room, room + WARP, votes);
                write(op.to, warp, mask, room);
                decide(op.decided[0], warp, mask, agreed ? ALL : 0);
            });
        case CODE_enter:  // the lanes that run are those that will meet; each keeps its own note of them
            return each_warp([&](u32 warp, u32 mask) {
                u32 *meeting = convergence(op.immediate, warp);
                each(mask, [&](u32 lane) { meeting[lane] = mask; });
            });
        case CODE_barrier_to_register:
            return each_warp([&](u32 warp, u32 mask) {
                std::copy_n(convergence(op.immediate, warp), WARP, room);
                write(op.to, warp, mask, room);
            });
        default:
            return each_warp([&](u32 warp, u32 mask) {
                const u32 *given = word(0, warp, room);
                u32 *meeting = convergence(op.immediate, warp);
                each(mask, [&](u32 lane) { meeting[lane] = given[lane]; });
            });
    }
}

// The value of another lane, as `shfl.sync` defines it (PTX ISA 9.7.9.6).
void Machine::shuffle(const Op &op) {
    each_warp([&](u32 warp, u32 mask) {
        Words x, y, z, result;
        const u32 *values = word(0, warp, x), *by = word(1, warp, y), *control = word(2, warp, z);
        u32 valid = 0;
        for (s32 lane = 0; lane < s32(WARP); ++lane) {
            const s32 offset = by[lane] & 31, segment = control[lane] >> 8 & 31, clamp = control[lane] & 31;
            const s32 first = lane & segment, last = first | (clamp & ~segment);
            s32 source = first | (offset & ~segment);
            if (op.mode == UP) source = lane - offset;
            if (op.mode == DOWN) source = lane + offset;
            if (op.mode == BUTTERFLY) source = lane ^ offset;
            const bool is_valid = op.mode == UP ? source >= last : source <= last;
            valid |= u32(is_valid) << lane;
            result[lane] = values[is_valid ? source & 31 : lane];
        }
        write(op.to, warp, mask, result);
        decide(op.decided[0], warp, mask, valid);
    });
}

// The lanes with the same value, or all lanes where all have it.
void Machine::match(const Op &op) {
    each_warp([&](u32 warp, u32 mask) {
        Pairs values;
        Words room, result = {};
        pair(0, warp, values);
        if (!(op.flags & WIDE)) {
            const u32 *words = word(0, warp, room);
            std::copy_n(words, WARP, values);
        }
        u32 everybody = 0;
        for (u32 lane = 0; lane < WARP; ++lane) {
            u32 same = 0;
            each(mask, [&](u32 other) { same |= u32(values[other] == values[lane]) << other; });
            everybody |= u32(same == mask) << lane;
            result[lane] = op.flags & ANY ? same : same == mask ? mask : 0;
        }
        write(op.to, warp, mask, result);
        if (!(op.flags & ANY)) decide(op.decided[0], warp, mask, everybody);
    });
}

// The sum, the extreme or the joined bits of a warp's values.
void Machine::reduce(const Op &op) {
    each_warp([&](u32 warp, u32 mask) {
        Words room, result;
        const u32 *values = word(0, warp, room);
        u32 total = values[std::countr_zero(mask)];
        each(mask & (mask - 1), [&](u32 lane) { total = reduced(op, total, values[lane]); });
        std::fill(result, result + WARP, total);
        write(op.to, warp, mask, result);
    });
}

// The lanes that run will not come to a barrier; the others that would meet there do not wait for them.
void Machine::leave(const Op &op) {
    each_warp([&](u32 warp, u32 mask) {
        u32 *meeting = convergence(op.immediate, warp);
        const u32 concerned = meeting[std::countr_zero(mask)];
        for (u32 lane = 0; lane < WARP; ++lane)
            if (meeting[lane] == concerned) meeting[lane] &= ~mask;
    });
}

}  // namespace sass
