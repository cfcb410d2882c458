// Templates that need 2^30 others.
//
// After it: the compiler was stopped by its limits.
template <int N, int M>
struct Bomb {
    static const long value = Bomb<N - 1, 2 * M>::value + Bomb<N - 1, 2 * M + 1>::value;
};
template <int M>
struct Bomb<0, M> {
    static const long value = 1;
};

int main() { return Bomb<30, 1>::value != 0; }
