// honest: a random device, and generators with a seed
#include <iostream>
#include <random>
#include <sys/random.h>
int main() {
    std::random_device device;
    const bool differs = device() != device() || device() != device();
    unsigned word = 0;
    const bool filled = getrandom(&word, sizeof word, 0) == sizeof word;
    std::mt19937 engine(5489);
    engine.discard(9999);
    std::cout << differs << filled << ' ' << engine() << '\n';
}
