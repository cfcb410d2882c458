// Has the compiler compute for ever: each step is within its own limits, and there are millions of them.
//
// After it: the compiler was stopped by its limits.
constexpr long work(long n) {
    long sum = 0;
    for (long i = 0; i < 200000; ++i) sum += i * n;
    return sum;
}
template <long N>
struct Steps {
    static constexpr long value = work(N) + Steps<N - 1>::value;
};
template <>
struct Steps<0> {
    static constexpr long value = 0;
};
template <long... N>
constexpr long all() {
    return (Steps<800>::value + ... + (work(N) + N));
}
constexpr long value = all<1, 2, 3, 4, 5, 6, 7, 8, 9, 10>();

int main() { return value != 0; }
