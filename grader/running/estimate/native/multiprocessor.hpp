// One multiprocessor, simulated, as `multiprocessor.py` describes it.
#pragma once

#include <queue>

#include "memory_system.hpp"

namespace speed {

constexpr u32 PARTITIONS = 4, SCOREBOARDS = 6, NO_SCOREBOARD = 7, MOST_PIPES = 16;
constexpr s32 ALONE = -1;  // the pipe of what only takes a slot

// Each struct is mirrored in `native_simulation.py`.
struct Operation {
    f64 busy, stall, latency;
    s32 pipe;
    u32 kind, sets, reads;
    u32 waits;  // scoreboards, as bits
    u32 line;   // an index among the lines of all operations
};

// Where the trace of a warp is among those of all; blocks that do the same elsewhere share theirs.
struct Trace {
    u64 operation, operations, request, requests, mark, marks;
    s64 shift;
    u64 marked;  // where the times of its marks go
};

struct Waited {
    f64 cycles;
    u32 cause, line;
};

struct Simulation {
    Device device;
    const Operation *operations;
    const u32 *executed;  // the operations of all traces
    const Request *requests;
    const u32 *requested;  // the requests of all traces
    const Line *lines;
    const s64 *words;
    const u64 *marks;
    const Trace *traces;
    const u64 *warps;  // of each block
    u64 operation_count, executed_count, request_count, requested_count, line_count, word_count, mark_count;
    u64 trace_count, block_count, source_line_count, pipe_count;
    u64 slots;
    f64 apart;
    // What comes of it. There is room for all causes at all lines.
    Waited *waited;
    f64 *times;     // of the marks
    u64 *reached;   // marks of each warp
    f64 *ends;      // of each block
    f64 used[MOST_PIPES], busy[UNITS];
    u64 waits, issued;
};

class Multiprocessor {
  public:
    explicit Multiprocessor(Simulation &of);
    void run();

  private:
    struct Warp {
        const Trace *trace;
        const u32 *operations, *requests;
        u32 block, number, partition;
        u64 at = 0, request = 0, mark = 0;
        f64 boards[SCOREBOARDS] = {}, queued[SCOREBOARDS] = {};
        u32 queueing[SCOREBOARDS] = {}, waiting[SCOREBOARDS] = {};
        f64 since = 0;  // when it came to the barrier at which it waits

        void wait_for(u32 board, f64 done, f64 queue, u32 queueing_for, u32 waiting_for);
    };
    struct Block {
        u32 first, warps, alive;
        std::vector<u32> waiting;
    };
    using Event = std::tuple<f64, u64, u32>;  // a time, the place of the next instruction, and the warp

    void begin_block(f64 time);
    void end(f64 time, u32 number);
    void step(f64 time, u64 at, u32 number);
    void arrive(f64 time, u32 number);
    f64 issue(f64 time, const Warp &warp, const Operation &operation);
    f64 ready(f64 free, const Warp &warp);
    void release(Block &block, f64 time);
    void start(f64 time, Warp &warp, const Operation &operation);
    void blame(u32 line, u32 queueing, u32 waiting, f64 cycles, f64 queued);
    void add(u32 cause, u32 line, f64 cycles);

    Simulation &given;
    MemorySystem memory;
    std::vector<Warp> warps;
    std::vector<Block> blocks;
    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
    std::vector<u32> places;  // of a cause at a line among what was waited, counted from 1
    f64 slots[PARTITIONS] = {}, pipes[PARTITIONS][MOST_PIPES] = {};
    f64 arrivals = 0;
    std::size_t begun = 0;
};

}  // namespace speed
