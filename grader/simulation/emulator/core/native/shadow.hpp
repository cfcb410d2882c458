// Races: for each cell of memory who wrote and who read it last, and when.
//
// Time is a counter that every barrier of a block, every `__syncwarp` and every new block moves on. An access
// happens before another of the same block if a barrier came between them, or, within a warp, a `__syncwarp`.
// Accesses of two blocks are never ordered. So it is enough to keep the last write and the reads since then:
// whoever is ordered behind the last of them is ordered behind all (Flanagan and Freund, "FastTrack", 2009,
// with barriers in place of vector clocks). What cannot be told apart in one word counts as a race; the other
// engine then says whether it is one.
#pragma once

#include <cstdlib>
#include <memory>

#include "core.hpp"

constexpr u32 SEVERAL = 0xFFFF;  // in place of a thread, or a warp: not of one

// The last access to a cell: from its lowest bits on its moment (0: none), its thread and its warp. One number,
// for it is read right after it was written.
using Cell = u64;

inline u32 stamp_of(Cell cell) { return u32(cell); }
inline u32 thread_of(Cell cell) { return u32(cell >> 32) & SEVERAL; }
inline u32 warp_of(Cell cell) { return u32(cell >> 48); }
inline Cell cell_of(u32 stamp, u32 thread, u32 warp) { return Cell(stamp) | Cell(thread) << 32 | Cell(warp) << 48; }

// The moment of an access, and since when accesses of others are not ordered before it.
struct Moment {
    u32 now, interval_began, warp_began;
    u32 block_began;  // of memory that blocks share: what is older is of another block; else 0
    u32 warp;
};

class Shadow {
  public:
    bool prepare(u64 cells, bool with_reads) {
        cells_ = cells;
        writes_.reset(static_cast<Cell *>(std::calloc(cells, sizeof(Cell))));
        if (with_reads) reads_.reset(static_cast<Cell *>(std::calloc(cells, sizeof(Cell))));
        return writes_ && (reads_ || !with_reads);
    }
    bool is_there() const { return bool(writes_); }
    bool prepare_updates() {
        if (!updates_) updates_.reset(static_cast<Cell *>(std::calloc(cells_, sizeof(Cell))));
        return bool(updates_);
    }

    // False if the read races with a write.
    [[gnu::always_inline]] bool read(u64 cell, u32 thread, const Moment &at) {
        const Cell w = writes_[cell];
        if (stamp_of(w) >= at.interval_began || stamp_of(w) < at.block_began)
            if (stamp_of(w) && conflicts(w, thread, at)) return false;
        if (updates_ && stamp_of(updates_[cell]) && conflicts(updates_[cell], thread, at)) return false;
        if (reads_) join(reads_[cell], thread, at);
        return true;
    }

    // False if an atomic operation races with a plain access; with others of its kind it does not.
    [[gnu::always_inline]] bool update(u64 cell, u32 thread, const Moment &at) {
        const Cell w = writes_[cell];
        if (stamp_of(w) && conflicts(w, thread, at)) return false;
        if (reads_ && stamp_of(reads_[cell]) && conflicts(reads_[cell], thread, at)) return false;
        join(updates_[cell], thread, at);
        return true;
    }

    // False if the write races with a write or a read.
    [[gnu::always_inline]] bool write(u64 cell, u32 thread, const Moment &at) {
        const Cell w = writes_[cell];
        if (stamp_of(w) && conflicts(w, thread, at)) return false;
        if (reads_) {
            const Cell r = reads_[cell];
            if (stamp_of(r) && conflicts(r, thread, at)) return false;
            reads_[cell] = 0;
        }
        if (updates_) {
            if (stamp_of(updates_[cell]) && conflicts(updates_[cell], thread, at)) return false;
            updates_[cell] = 0;
        }
        writes_[cell] = cell_of(at.now, thread, at.warp);
        return true;
    }

    // As `write`, for the cells one after another of eight lanes; false where any was accessed before.
    [[gnu::always_inline]] bool write_first(u64 cell, u32 thread, const Moment &at) {
        if (reads_ || updates_) return false;
        Cell before = 0;
        for (int lane = 0; lane < EIGHT; ++lane) before |= writes_[cell + lane];
        if (before) return false;
        for (int lane = 0; lane < EIGHT; ++lane) writes_[cell + lane] = cell_of(at.now, thread + lane, at.warp);
        return true;
    }

  private:
    static u32 since(Cell cell, const Moment &at) {
        return warp_of(cell) == at.warp ? at.warp_began : at.interval_began;
    }
    static bool conflicts(Cell cell, u32 thread, const Moment &at) {
        const u32 stamp = stamp_of(cell);
        return stamp < at.block_began || (thread_of(cell) != thread && stamp >= since(cell, at));
    }
    // One more access of the kind that a cell is about.
    [[gnu::always_inline]] static void join(Cell &cell, u32 thread, const Moment &at) {
        const Cell r = cell, mine = cell_of(at.now, thread, at.warp);
        const u32 before = stamp_of(r);
        if (before < at.interval_began && (before >= at.block_began || !before))
            cell = mine;
        else if (r != mine && r != cell_of(at.now, SEVERAL, at.warp) && r != cell_of(at.now, SEVERAL, SEVERAL))
            cell = merged(r, thread, at);
    }
    // One more reader in the same interval, or beside a reader of another block, who stays unordered.
    static Cell merged(Cell r, u32 thread, const Moment &at) {
        if (stamp_of(r) < at.block_began) return cell_of(stamp_of(r), SEVERAL, SEVERAL);
        if (stamp_of(r) < since(r, at)) return cell_of(at.now, thread, at.warp);
        return cell_of(at.now, thread_of(r) == thread ? thread : SEVERAL, warp_of(r) == at.warp ? at.warp : SEVERAL);
    }
    struct Freed {
        void operator()(Cell *cells) const { std::free(cells); }
    };
    std::unique_ptr<Cell[], Freed> writes_, reads_, updates_;
    u64 cells_ = 0;
};
