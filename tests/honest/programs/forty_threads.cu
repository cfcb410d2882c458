// honest: forty threads at once, some of them detached, one after the other a hundred more
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>
using namespace std::chrono_literals;
static std::atomic<int> running{0}, done{0};
int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 40; ++i)
        threads.emplace_back([] {
            ++running;
            while (running < 40) std::this_thread::yield();
            ++done;
        });
    for (auto& thread : threads) thread.join();
    for (int i = 0; i < 100; ++i) std::thread([] { ++done; }).join();
    std::thread([] { ++done; }).detach();
    while (done < 141) std::this_thread::sleep_for(1ms);
    std::printf("%d\n", done.load());
}
