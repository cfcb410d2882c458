// What Python hands over and gets back. Each struct is mirrored by a ctypes.Structure in `library.py`.
#pragma once

#include "numbers.hpp"

constexpr int WARP = 32;
constexpr int EIGHT = 8;         // lanes that are moved at once, and words of a sector
constexpr u32 CONSTANT = 1u << 31;  // an operand's offset is into the constants, which all warps share
constexpr u32 NONE = ~u32(0);

// One micro-operation. Offsets are bytes in the registers of a warp, or in the constants.
struct Op {
    u16 code;
    u8 guard_kind;  // 0: none, 1: where the predicate holds, 2: where it does not
    u8 space;       // of an access: a Space
    u32 guard;
    u32 dst;
    u32 a, b, c;
    u32 more[3];    // further registers of a vector access
    u32 target;     // of a branch: the index of an operation; of an access: its site
    s64 imm;        // an offset in bytes
    u32 order;      // of threads that parted those with the lowest order run
    u16 size;       // bytes of an element of an access
    u8 count;       // elements of a vector access
    u8 flags;       // see below
    u16 weight;     // instructions of the PTX that it stands for
    u16 flops;      // of one lane
};

enum Flag : u8 {
    ADDRESS_64 = 1,  // the base of an address is a register of 64 bits
    WIDE = 2,        // an element goes into, or comes from, a register of 64 bits
    SIGNED = 4,      // a narrow element is extended by its sign
    NARROW_16 = 8,   // … to 16 bits only
    NOTED = 16,      // that it was executed is asked afterwards
    STRONG = 32,     // a load that may wait for what another thread stores
    COPYING = 64,    // a load that may read bytes of the thread's own memory that it has not set
};

// How memory is accessed, in the order of the operations for it.
enum Way : u8 { READ, WRITE, UPDATE };

// Atomic operations, in the order of `_UPDATES` in `accesses.py` (PTX ISA 9.7.13.6).
enum Update : u32 { ADD, AND, OR, XOR, MIN_U, MAX_U, MIN_S, MAX_S, EXCHANGE, SWAP_IF_EQUAL, INCREMENT, DECREMENT, ADD_FLOAT };

enum Space : u8 { GENERIC, GLOBAL, SHARED, LOCAL };

// The bytes that the address of a site may reach; `known` is 0 where only the allocations limit it.
struct Bound {
    s64 low, high;
    u32 known;
    u32 space;
};

struct Array {
    s64 start, end;  // bytes in the buffer of global memory
    u8 constant;     // only the host may write it
    u8 filled;       // every byte of it was set before the launch
    u8 tracked;      // its reads are kept, for the kernel writes it as well
    u8 unused[5];
};

struct LaunchInput {
    const Op *ops;
    u64 op_count;
    u8 *executed;    // set to 1 for each operation with the flag NOTED that a lane executes
    const u8 *constants;
    const Bound *bounds;
    const Array *arrays;
    u64 array_count;
    u8 *global_bytes;
    u8 *global_set;  // a byte 1 for each byte that holds a value; null where that is not asked
    s64 global_base;
    s64 shared_window, local_window;  // where the windows begin in generic addresses
    u32 grid[3], block[3];
    u32 register_bytes;
    u32 shared_bytes, local_bytes;
    u32 special[32];  // offset of each special register; NONE where the kernel does not read it
    u32 detect;       // look for reads of unset memory, and count less
    u32 grain_shift;  // 0: bytes are told apart, 2: words are
    u64 budget;       // operations of a warp
    u64 patience;     // of them, those without the end of a block after which the launch is paused
    u8 *touched;      // set to 1 for each byte of global memory that is read, written, updated: three rows; or null
    u64 touched_bytes;  // of a row; what lies behind them is not marked
};

constexpr u64 WORK_OF_BEGINNING = 16;  // operations that laying out a warp counts as

enum Status : u32 {
    RUNNING,     // the slice is over
    ENDED,       // all blocks came to their end, and nothing is wrong with them
    NOT_CLEAN,   // something may be wrong: the other engine says what
    TRACK,       // begin again, with the reads of an array kept
    OUT_OF_WORK, // the budget is spent
    PAUSED,      // a block has taken long, and may never end
};

// Why a launch is not clean, for measurements and tests.
enum Reason : u32 {
    NO_REASON, BOUNDS, ALIGNMENT, UNSET_MEMORY, RACE, EXITED_BEFORE_BARRIER, PARTED_AT_BARRIER, STUCK,
    LANES_MISSING, MIXED_SPACES, NOT_LOWERED, NO_MEMORY, SPINNING,
};

struct Result {
    u32 status, reason;
    u32 op;     // index of the operation of the reason
    u32 array;  // to track
    u64 work;   // operations of warps
    u64 global_load_bytes, global_store_bytes, global_load_sectors, global_store_sectors;
    u64 shared_load_bytes, shared_store_bytes, shared_bank_conflicts;
    u64 flops, instructions, barriers;
    u64 ended_blocks, ended_work;  // blocks that came to their end, and the work until then
};

#define CONTROL_OPS(X) \
    X(branch) X(jump) X(exit) X(barrier) X(barrier_popc) X(barrier_and) X(barrier_or) X(load) X(store) X(update) \
    X(warp_sync) X(shfl_up) X(shfl_down) X(shfl_bfly) X(shfl_idx) X(match_any_32) X(match_all_32) X(match_any_64) \
    X(match_all_64) X(redux) X(vote_all) X(vote_any) X(vote_uni) X(vote_ballot) X(active_mask) X(refuse)
