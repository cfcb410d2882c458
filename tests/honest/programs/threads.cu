// honest: sixteen threads, a mutex, atomics, a barrier by condition variables
#include <atomic>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>
int main() {
    std::atomic<long> total{0};
    std::mutex mutex;
    std::condition_variable all_here;
    int here = 0;
    thread_local int own = 1;
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; ++i)
        threads.emplace_back([&, i] {
            {
                std::unique_lock<std::mutex> lock(mutex);
                if (++here == 16) all_here.notify_all();
                all_here.wait(lock, [&] { return here == 16; });
            }
            for (int n = 0; n < 1000; ++n) total += i;
            own += i;
        });
    for (auto& thread : threads) thread.join();
    std::cout << total << ' ' << own << '\n';
}
