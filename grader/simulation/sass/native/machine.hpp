// Lanes of some blocks side by side: an instruction is executed for all of them before the next one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "operations.hpp"

namespace sass {

// Ends the execution: an instruction that is not interpreted, or an access outside the arrays.
struct Stop {
    Status status;
};

// The addresses of all accesses, which may be many: to grow must copy nothing.
class Addresses {
  public:
    Addresses() = default;
    ~Addresses() { std::free(numbers); }
    Addresses(const Addresses &) = delete;
    Addresses &operator=(const Addresses &) = delete;

    u64 size() const { return used; }
    const s64 *data() const { return numbers; }
    void append(const s64 *more, u64 count) {
        if (used + count > room) {
            const u64 wanted = std::max(2 * room, used + count);
            void *grown = std::realloc(numbers, wanted * sizeof(s64));
            if (!grown) throw std::bad_alloc();
            numbers = static_cast<s64 *>(grown), room = wanted;
        }
        std::memcpy(numbers + used, more, count * sizeof(s64));
        used += count;
    }

  private:
    s64 *numbers = nullptr;
    u64 used = 0, room = 0;
};

// Where each lane of a warp accesses memory; every place was checked.
struct Cells {
    u8 *bytes;
    const s64 *offsets;
    u64 step;  // from the local memory of a lane to that of the next

    u8 *at(u32 lane) const { return bytes + offsets[lane] + lane * step; }
};

class Machine {
  public:
    explicit Machine(const MachineInput &input);
    Status straight(u64 first, u64 last, const u8 *lanes);

    u64 reached = 0;  // the instruction that ended the execution
    std::vector<Access> accesses;
    Addresses addresses;
    std::vector<u32> masks;

    u64 lanes() const { return lane_count; }

  private:
    // A source that was looked up: the words of its lanes in each warp.
    struct Operand {
        const u32 *low, *high;
        u64 step;  // from warp to warp; 0 for a fixed value
        u16 signs;
        u64 scale;
    };
    using Words = u32[WARP];
    using Pairs = u64[WARP];

    void check(const Op &op) const;
    Operand looked_up(const Source &source);
    bool choose(const Op &op);
    void execute(const Op &op, u64 at);

    void integer(const Op &op);
    void bits(const Op &op);
    void floating(const Op &op);
    void halves(const Op &op);
    void conversions(const Op &op);
    void warps_of(const Op &op);
    void memory(const Op &op);

    void compare(const Op &op);
    void extreme(const Op &op);
    void funnel_shift(const Op &op);
    void to_uniform(const Op &op);
    u32 special(u32 name, u64 lane) const;
    void function(const Op &op);
    void extreme_f64(const Op &op);
    void integer_of_real(const Op &op);
    void reals_of(const Op &op, u32 warp, u64 (&values)[WARP], u32 (&room)[WARP]) const;
    template <typename F> void compare_reals(const Op &op, F holds);
    void shuffle(const Op &op);
    void match(const Op &op);
    void reduce(const Op &op);
    void leave(const Op &op);

    using Mask = std::vector<u32>;
    void find_addresses(const Op &op, u32 first_source, s64 offset, bool is_wide);
    template <typename F> void spaced(const Op &op, F access);
    template <typename F> void part(const Op &op, Space space, const Mask &mask, F access);
    void check(Space space, const s64 *at, u32 mask, u32 size) const;
    u8 *bytes_of(Space space, u32 warp) const;
    u64 local_step(Space space) const { return space == LOCAL ? in.local_size : 0; }
    void note(const Op &op, Space space, const Mask &mask);
    void load(const Op &op);
    void store(const Op &op);
    void load_constant(const Op &op);
    void copy(const Op &op);
    void atomic(const Op &op);
    template <typename T> void update(const Op &op);
    template <typename T> void update_with(const Op &op);

    // The operands of the instruction at hand.
    const Operand &operand(u32 number) const { return sources[MOST_SOURCES * current + number]; }
    const u32 *word(u32 number, u32 warp, Words &room) const;
    void pair(u32 number, u32 warp, Pairs &values) const;
    u32 truth(Truth of, u32 warp) const;
    u32 *register_of(s32 number, u32 warp) const { return in.registers + number * lane_count + warp * WARP; }
    void write(s32 to, u32 warp, u32 mask, const Words &values) const;
    void write(s32 to, u32 warp, u32 mask, const Pairs &values) const;
    void decide(s32 predicate, u32 warp, u32 mask, u32 values) const;
    u32 *convergence(u32 number, u32 warp) const { return in.convergence + number * lane_count + warp * WARP; }

    template <typename F> void each_warp(F body) const {
        for (u32 warp = 0; warp < active.size(); ++warp)
            if (active[warp]) body(warp, active[warp]);
    }

    template <typename F> void of_words(const Op &op, F function) const;
    template <typename F> void of_reals(const Op &op, F function) const;
    template <typename F> void of_doubles(const Op &op, F function) const;

    MachineInput in;
    u64 lane_count;
    u32 warps_per_block;
    std::vector<Operand> sources;
    std::vector<std::array<u32, WARP>> constants;
    Mask group, active;     // the lanes that run, and those of the current instruction
    std::vector<s64> where;      // their addresses
    struct Span {
        u64 first, count;
    };
    std::vector<Span> recorded;  // of each instruction, the addresses of its latest access
    u64 current = 0;
};

template <typename F>
[[gnu::always_inline]] inline void each(u32 mask, F body) {
    for (; mask; mask &= mask - 1) body(u32(std::countr_zero(mask)));
}

inline f32 as_real(u32 bits) { return __builtin_bit_cast(f32, bits); }
inline u32 bits_of(f32 number) { return __builtin_bit_cast(u32, number); }
inline f64 as_double(u64 bits) { return __builtin_bit_cast(f64, bits); }
inline u64 bits_of(f64 number) { return __builtin_bit_cast(u64, number); }

inline u32 joined(u8 how, u32 x, u32 y) { return how == AND ? x & y : how == OR ? x | y : x ^ y; }

// What a function of three words gives for each lane.
template <typename F>
void Machine::of_words(const Op &op, F function) const {
    each_warp([&](u32 warp, u32 mask) {
        Words x, y, z, result;
        const u32 *a = word(0, warp, x), *b = word(1, warp, y), *c = word(2, warp, z);
        for (u32 lane = 0; lane < WARP; ++lane) result[lane] = function(a[lane], b[lane], c[lane]);
        write(op.to, warp, mask, result);
    });
}

template <typename F>
void Machine::of_reals(const Op &op, F function) const {
    of_words(op, [=](u32 a, u32 b, u32 c) { return bits_of(f32(function(as_real(a), as_real(b), as_real(c)))); });
}

template <typename F>
void Machine::of_doubles(const Op &op, F function) const {
    each_warp([&](u32 warp, u32 mask) {
        Pairs a, b, c, result;
        pair(0, warp, a), pair(1, warp, b), pair(2, warp, c);
        for (u32 lane = 0; lane < WARP; ++lane)
            result[lane] = bits_of(f64(function(as_double(a[lane]), as_double(b[lane]), as_double(c[lane]))));
        write(op.to, warp, mask, result);
    });
}

}  // namespace sass
