// Loops over the lanes of a warp that take part.
#pragma once

#include <bit>

#include "core.hpp"

template <typename F>
[[gnu::always_inline]] inline void each(u32 mask, F body) {
    if (mask == NONE) {
        for (int lane = 0; lane < WARP; ++lane) body(lane);
    } else {
        for (; mask; mask &= mask - 1) body(std::countr_zero(mask));
    }
}

// A lane's value in the register that begins at `slot`, and what a register of a type holds for a lane.
template <typename T>
inline T lane_of(const u8 *slot, int lane) {
    if constexpr (sizeof(T) == 8)
        return reinterpret_cast<const T *>(slot)[lane];
    else if constexpr (std::is_same_v<T, Pred>)
        return Pred(int(slot[lane]));
    else if constexpr (sizeof(T) == 4)
        return reinterpret_cast<const T *>(slot)[lane];
    else
        return T(reinterpret_cast<const u32 *>(slot)[lane]);
}

template <typename T>
struct Stored {
    using type = T;
};
template <>
struct Stored<Pred> {
    using type = u8;
};
