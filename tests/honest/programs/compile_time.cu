// honest: primes and deep templates, all found by the compiler
#include <array>
#include <cstdio>
template <int N>
struct Depth : Depth<N - 1> {
    static constexpr int value = Depth<N - 1>::value + 1;
};
template <>
struct Depth<0> {
    static constexpr int value = 0;
};
constexpr auto sieve() {
    std::array<bool, 20000> composite{};
    for (unsigned i = 2; i < composite.size(); ++i)
        for (unsigned j = 2 * i; j < composite.size(); j += i) composite[j] = true;
    return composite;
}
constexpr int primes() {
    int count = 0;
    const auto composite = sieve();
    for (unsigned i = 2; i < composite.size(); ++i) count += !composite[i];
    return count;
}
int main() {
    static_assert(Depth<190>::value == 190);
    constexpr int count = primes();
    std::printf("%d\n", count);
}
