// What Python hands over and gets back. Each struct is mirrored in `native_code.py`.
#pragma once

#include "numbers.hpp"

namespace sass {

constexpr u32 WARP = 32;
constexpr u32 ALL = ~u32(0);
constexpr s32 REGISTERS = 512, UNIFORM = 256;  // uniform registers and predicates stand behind the others
constexpr s32 MORE_REGISTERS = 8;              // behind the last, for what is wider than a register
constexpr s32 PREDICATES = 16, UNIFORM_PREDICATES = 8;
constexpr u32 BARRIERS = 32;                   // of convergence; the hardware has 16
constexpr u32 MOST_SOURCES = 6, MOST_TRUTHS = 3, TERMS = 3;

enum Code : u16 {
#define SASS_INTEGER(X) X(add) X(add_with_carries) X(add_halves) X(multiply_add) X(multiply_wide) X(shift_add) \
    X(compare) X(extreme) X(dot) X(difference)
#define SASS_BITS(X) X(move) X(funnel_shift) X(logic) X(logic_of_predicates) X(select) X(permute) X(population) \
    X(reverse) X(leading) X(extend) X(bit_mask) X(special) X(to_predicates) X(from_predicates) X(votes) X(to_uniform)
#define SASS_FLOATING(X) X(add_f32) X(multiply_f32) X(fma_f32) X(add_f64) X(multiply_f64) X(fma_f64) X(extreme_f32) \
    X(compare_f32) X(compare_f64) X(extreme_f64) X(set_f32) X(slow_division) X(function_f32) X(function_f64)
#define SASS_HALVES(X) X(add_f16) X(multiply_f16) X(fma_f16) X(extreme_f16) X(compare_f16) X(set_f16) X(pack_f16)
#define SASS_CONVERSIONS(X) X(to_real) X(to_integer) X(between_reals)
#define SASS_WARPS(X) X(shuffle) X(vote) X(match) X(reduce) X(enter) X(leave) X(barrier_to_register) \
    X(register_to_barrier)
#define SASS_MEMORY(X) X(load) X(store) X(load_constant) X(copy) X(atomic)
#define SASS_OTHERS(X) X(nothing) X(control) X(refuse)
#define SASS_CODES(X) SASS_INTEGER(X) SASS_BITS(X) SASS_FLOATING(X) SASS_HALVES(X) SASS_CONVERSIONS(X) \
    SASS_WARPS(X) SASS_MEMORY(X) SASS_OTHERS(X)
#define NAMED(name) CODE_##name,
    SASS_CODES(NAMED)
#undef NAMED
    CODE_COUNT,
};

// A register (and the one behind it, where an instruction takes 64 bits), or with index -1 a fixed value.
struct Source {
    s16 index;
    u16 signs;
    u32 unused;
    u64 value;
};

enum Sign : u16 {
    NEGATED = 1, INVERTED = 2, ABSOLUTE = 4,  // of an integer
    REAL_ABSOLUTE = 8, REAL_NEGATED = 16,     // of a real number, in this order
    WIDE_TERM = 32,                           // of an address: a pair of registers; else `value` is what scales it
};

// A predicate; with index -1 true.
struct Truth {
    s8 index;
    u8 inverted;
};

// An instruction. What `mode` and `flags` say is its own.
struct Op {
    u16 code;
    s16 to;  // the register that it writes; -1 for none
    Truth guard, truths[MOST_TRUTHS];
    s8 decided[2];  // the predicates that it writes
    u8 size;        // bytes of an access or a number
    u8 count;       // of sources, or of address terms
    u8 space;
    u8 mode;
    u8 joins;  // a Join
    u8 unused;
    u32 flags;
    u32 immediate;
    s64 offset, goal;  // of an address, in bytes, and of the second one of a copy
    Source sources[MOST_SOURCES];
};

enum Space : u8 { GENERIC, GLOBAL, SHARED, LOCAL };
enum Join : u8 { AND, OR, XOR };
enum Comparison : u8 { EQ, NE, LT, LE, GT, GE, NUMBERS, NOT_NUMBERS };
enum Direction : u8 { RN, RM, RP, RZ };
enum Update : u8 { ADD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, EXCHANGE, INCREMENT, DECREMENT, SWAP, ADD_HALVES };

enum Flag : u32 {
    SIGNED = 1,
    HIGH = 2,
    CARRIES_IN = 4,      // the truths from the first on, as many as `immediate` says
    EXTENDED = 8,
    LEFT = 16,
    WRAPS = 32,
    WIDE = 64,
    JOINED = 128,
    UNORDERED = 256,     // a comparison that also holds for NaN
    SATURATES = 512,
    RECTIFIES = 1024,
    NAN_WINS = 2048,
    BRAIN = 4096,        // bfloat16 instead of float16
    SINGLE_RESULT = 8192,
    ACCUMULATES = 1 << 14,
    AS_ONE = 1 << 15,    // true as the number 1
    REAL = 1 << 16,
    TELLS = 1 << 17,     // whether an exchange took place, instead of the old value
    SMALLEST = 1 << 19,
    NAN_IS_ZERO = 1 << 20,
    UPPER_PART = 1 << 21,
    ANY = 1 << 22,
    SIGNED_SECOND = 1 << 23,
};

struct Bank {
    const u8 *bytes;
    u64 size;
};

struct MachineInput {
    const Op *ops;
    u64 op_count;
    const u8 *kept;  // of each instruction, whether its accesses are recorded
    const Bank *banks;
    u64 bank_count;
    u32 *registers;    // REGISTERS + MORE_REGISTERS rows of a word for each lane
    u8 *predicates;    // PREDICATES rows
    u32 *convergence;  // BARRIERS rows
    u32 *votes;        // a word for each lane
    u8 *global_bytes, *shared_bytes, *local_bytes;
    u64 global_size;
    s64 global_base;
    s64 shared_window, local_window, window_size;
    u64 shared_size, local_size;  // of a block, and of a lane
    const u64 *blocks;            // the numbers in the grid of those that run
    u64 block_count;
    u32 block[3], grid[3];
};

// An access of all lanes; its addresses are `count` numbers, one where it is that of all lanes.
struct Access {
    u32 op, space, size;
    u32 mask;  // the number of its mask, counted from 1; 0 for all lanes
    u64 first, count;
};

enum Status : s32 { DONE, UNKNOWN, STRAY, NO_MEMORY };

enum Special : u32 {
    TID_X, TID_Y, TID_Z, CTAID_X, CTAID_Y, CTAID_Z, NTID_X, NTID_Y, NTID_Z, NCTAID_X, NCTAID_Y, NCTAID_Z,
    LANEID, LTMASK, EQMASK, LEMASK, GTMASK, GEMASK, SWINHI, NOUGHT,
};

}  // namespace sass
