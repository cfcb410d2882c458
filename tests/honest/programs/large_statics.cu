// honest: large tables: 100 MB of zeros, and half a megabyte that is written out
#include <array>
#include <cstdio>
static int zeros[25 << 20];
template <std::size_t N>
constexpr std::array<unsigned, N> table() {
    std::array<unsigned, N> made{};
    for (std::size_t i = 0; i < N; ++i) made[i] = static_cast<unsigned>(i * 2654435761u);
    return made;
}
static constexpr auto numbers = table<100000>();
int main(int argc, char**) {
    zeros[argc << 20] = 1;
    std::printf("%u %d\n", numbers[argc * 99999], zeros[1 << 20]);
}
