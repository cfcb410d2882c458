#include "multiprocessor.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>

#include "offered.hpp"

namespace speed {

namespace {

constexpr f64 READ_AFTER = 12;  // cycles until an access has read its operands, at least

void check(bool holds) {
    if (!holds) throw std::out_of_range("a simulation whose parts do not fit together");
}

bool within(u64 first, u64 count, u64 size) { return first <= size && count <= size - first; }

void check(const Simulation &of) {
    check(of.pipe_count <= MOST_PIPES && of.device.l1_lines > 0);
    for (u64 at = 0; at < of.operation_count; ++at) {
        const Operation &operation = of.operations[at];
        check(operation.pipe >= ALONE && operation.pipe < s64(of.pipe_count) && operation.kind <= VARIABLE);
        check(operation.sets < SCOREBOARDS || operation.sets == NO_SCOREBOARD);
        check(operation.reads < SCOREBOARDS || operation.reads == NO_SCOREBOARD);
        check(operation.waits < 1u << SCOREBOARDS && operation.line < of.source_line_count);
    }
    for (u64 at = 0; at < of.executed_count; ++at) check(of.executed[at] < of.operation_count);
    for (u64 at = 0; at < of.requested_count; ++at) check(of.requested[at] < of.request_count);
    for (u64 at = 0; at < of.request_count; ++at) {
        const Request &request = of.requests[at];
        check(within(request.line, request.lines, of.line_count));
        check(within(request.exchanged, request.exchanges, of.word_count));
    }
    for (u64 at = 0; at < of.trace_count; ++at) {
        const Trace &trace = of.traces[at];
        check(within(trace.operation, trace.operations, of.executed_count));
        check(within(trace.request, trace.requests, of.requested_count));
        check(within(trace.mark, trace.marks, of.mark_count));
    }
}

bool goes_through_unit(u32 kind) { return kind >= UNIT_SHARED && kind <= UNIT_SHUFFLE; }

}  // namespace

Multiprocessor::Multiprocessor(Simulation &of) : given(of), memory(of.device) {
    places.resize((PIPES + of.pipe_count) * of.source_line_count);
    u64 first = 0;
    for (u64 block = 0; block < of.block_count; ++block) {
        check(within(first, of.warps[block], of.trace_count));
        for (u64 number = first; number < first + of.warps[block]; ++number) {
            const Trace &trace = of.traces[number];
            warps.push_back({&trace, of.executed + trace.operation, of.requested + trace.request, u32(block),
                             u32(number - first), u32(number % PARTITIONS)});
        }
        blocks.push_back({u32(first), u32(of.warps[block]), u32(of.warps[block]), {}});
        first += of.warps[block];
    }
}

void Multiprocessor::run() {
    for (u64 number = 0; number < std::min<u64>(given.slots, blocks.size()); ++number)
        begin_block(f64(number) * given.apart);
    while (!events.empty()) {
        const auto [time, at, number] = events.top();
        events.pop();
        if (at < warps[number].trace->operations)
            step(time, at, number), ++given.issued;
        else
            end(time, warps[number].block);
    }
    std::copy(memory.busy, memory.busy + UNITS, given.busy);
    for (std::size_t number = 0; number < warps.size(); ++number) given.reached[number] = warps[number].mark;
}

// The warps of the next block begin, if there is one.
void Multiprocessor::begin_block(f64 time) {
    if (begun == blocks.size()) return;
    const Block &block = blocks[begun++];
    for (u32 number = block.first; number < block.first + block.warps; ++number) {
        std::fill(warps[number].boards, warps[number].boards + SCOREBOARDS, time);
        events.emplace(time, 0, number);
    }
}

// A warp has come to its end; after the last of its block another block begins.
void Multiprocessor::end(f64 time, u32 number) {
    Block &block = blocks[number];
    if (--block.alive == 0) {
        given.ends[number] = time;
        begin_block(time + given.device.block_gap);
    } else if (block.waiting.size() >= block.alive) {
        release(block, time);
    }
}

// A warp issues one instruction.
void Multiprocessor::step(f64 time, u64 at, u32 number) {
    Warp &warp = warps[number];
    const Trace &trace = *warp.trace;
    const Operation &operation = given.operations[warp.operations[at]];
    if (warp.mark < trace.marks && at == given.marks[trace.mark + warp.mark])
        given.times[trace.marked + warp.mark++] = time;
    time = issue(time, warp, operation);
    warp.at = at + 1;
    f64 free = time + operation.stall;
    if (operation.kind == BARRIER) return arrive(time, number);
    if (operation.stall > 1) add(LATENCY, operation.line, operation.stall - 1);
    if (operation.kind == BRANCH) {
        const bool is_last = at + 1 == trace.operations;
        if (!is_last && warp.operations[at + 1] != warp.operations[at] + 1) free += given.device.branch;
    } else if (operation.kind != NO_UNIT) {
        start(time, warp, operation);
    }
    events.emplace(ready(free, warp), at + 1, number);
}

void Multiprocessor::arrive(f64 time, u32 number) {
    Block &block = blocks[warps[number].block];
    arrivals = std::max(arrivals, time) + given.device.barrier_arrival;
    block.waiting.push_back(number);
    warps[number].since = time;
    if (block.waiting.size() >= block.alive) release(block, std::max(time, arrivals));
}

// When the slot, the pipe and the unit of an instruction are free; it is issued then.
f64 Multiprocessor::issue(f64 time, const Warp &warp, const Operation &operation) {
    const f64 began = time;
    f64 &slot = slots[warp.partition];
    if (slot > time) {
        add(ISSUE, operation.line, slot - time);
        time = slot;
    }
    slot = time + 1;
    if (operation.pipe != ALONE) {
        f64 &pipe = pipes[warp.partition][operation.pipe];
        if (pipe > time) {
            add(PIPES + u32(operation.pipe), operation.line, pipe - time);
            time = pipe;
        }
        pipe = time + operation.busy;
        given.used[operation.pipe] += operation.busy;
    } else if (goes_through_unit(operation.kind)) {
        const f64 room = memory.unit - given.device.queue;
        if (room > began && room > time) {
            const bool to_global = operation.kind >= UNIT_LOAD && operation.kind <= UNIT_ATOMIC;
            add(to_global ? L1 : SHARED, operation.line, room - time);
            time = room;
        }
    }
    return time;
}

// When the scoreboards let a warp issue its next instruction, `free` at the earliest.
f64 Multiprocessor::ready(f64 free, const Warp &warp) {
    if (warp.at >= warp.trace->operations) return free;
    const Operation &operation = given.operations[warp.operations[warp.at]];
    f64 time = free;
    int last = -1;
    for (u32 boards = operation.waits; boards; boards &= boards - 1) {
        const int board = std::countr_zero(boards);
        if (warp.boards[board] > time) time = warp.boards[board], last = board;
    }
    if (last >= 0)
        blame(operation.line, warp.queueing[last], warp.waiting[last], time - free, warp.queued[last]);
    return time;
}

// What a warp waits for: first what stood in a queue, then what merely takes its time.
void Multiprocessor::blame(u32 line, u32 queueing, u32 waiting, f64 cycles, f64 queued) {
    const f64 waited = std::min(cycles, queued);
    if (waited > 0) add(queueing, line, waited);
    if (cycles > waited) add(waiting, line, cycles - waited);
}

// Release the warps of a block, all of which have arrived at a barrier.
void Multiprocessor::release(Block &block, f64 time) {
    const Device &device = given.device;
    const f64 free = time + device.barrier_base + device.barrier_per_warp * f64(block.waiting.size());
    const std::vector<u32> waiting = std::move(block.waiting);
    block.waiting.clear();
    for (u32 number : waiting) {
        Warp &warp = warps[number];
        add(AT_BARRIER, given.operations[warp.operations[warp.at - 1]].line, free - warp.since);
        events.emplace(ready(free, warp), warp.at, number);
    }
}

// An instruction goes to its unit; its scoreboards say when it is done.
void Multiprocessor::start(f64 time, Warp &warp, const Operation &operation) {
    Answer got;
    if (operation.kind == VARIABLE) {
        got = {time + operation.latency, 0, ARITHMETIC, LATENCY};
    } else if (operation.kind == UNIT_SHUFFLE) {
        got = memory.shuffle(time, operation.latency);
    } else {
        check(warp.request < warp.trace->requests);
        const Request &request = given.requests[warp.requests[warp.request]];
        const Asker asker{warp.block, warp.number, s64(warp.request++), warp.trace->shift};
        got = memory.access(time, Kind(operation.kind), operation.latency, request, given.lines, given.words, asker);
    }
    warp.wait_for(operation.sets, got.done, got.queue, got.queueing, got.waiting);
    warp.wait_for(operation.reads, std::max(time + READ_AFTER, std::min(got.done, memory.unit)), 0, L1, LATENCY);
}

// A scoreboard counts one more, which is done then; it is free when all are that it counts.
void Multiprocessor::Warp::wait_for(u32 board, f64 done, f64 queue, u32 queueing_for, u32 waiting_for) {
    if (board == NO_SCOREBOARD || !(done > boards[board])) return;
    boards[board] = done, queued[board] = queue;
    queueing[board] = queueing_for, waiting[board] = waiting_for;
}

void Multiprocessor::add(u32 cause, u32 line, f64 cycles) {
    u32 &place = places[cause * given.source_line_count + line];
    if (!place) {
        given.waited[given.waits] = {0, cause, line};
        place = u32(++given.waits);
    }
    given.waited[place - 1].cycles += cycles;
}

}  // namespace speed

extern "C" {

OFFERED void speed_sizes(unsigned *sizes) {
    using namespace speed;
    sizes[0] = sizeof(Simulation), sizes[1] = sizeof(Operation), sizes[2] = sizeof(Request), sizes[3] = sizeof(Line);
    sizes[4] = sizeof(Trace), sizes[5] = sizeof(Waited), sizes[6] = sizeof(Answer), sizes[7] = sizeof(Asker);
}

// Simulate blocks to their end: 0, or 1 where the parts do not fit together, or 2 without enough memory.
OFFERED int speed_simulate(speed::Simulation *simulation) {
    try {
        speed::check(*simulation);
        speed::Multiprocessor(*simulation).run();
        return 0;
    } catch (const std::bad_alloc &) {
        return 2;
    } catch (const std::exception &) {
        return 1;
    }
}

// The memory alone, for who asks it without warps.
OFFERED void *speed_memory_begin(const speed::Device *device) {
    return new (std::nothrow) speed::MemorySystem(*device);
}

OFFERED void speed_memory_access(void *memory, double time, unsigned kind, double latency,
                                 const speed::Request *request, const speed::Line *lines, const long long *words,
                                 const speed::Asker *asker, speed::Answer *answer, double *busy) {
    auto &system = *static_cast<speed::MemorySystem *>(memory);
    *answer = system.access(time, speed::Kind(kind), latency, *request, lines,
                            reinterpret_cast<const s64 *>(words), *asker);
    std::copy(system.busy, system.busy + speed::UNITS, busy);
}

OFFERED void speed_memory_end(void *memory) { delete static_cast<speed::MemorySystem *>(memory); }
}
