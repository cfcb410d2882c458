// honest: a second of sleep, half a second of work, and clocks
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>
int main() {
    using clock = std::chrono::steady_clock;
    const auto begun = clock::now();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const auto slept = clock::now() - begun;
    volatile double x = 1;
    while (std::clock() < CLOCKS_PER_SEC / 2) x = x * 1.0000001;
    const bool sane = slept >= std::chrono::seconds(1) && std::time(nullptr) > 1700000000;
    std::puts(sane ? "rested" : "strange");
}
