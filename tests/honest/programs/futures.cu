// honest: futures, promises, packaged tasks, shared locks, call_once
#include <future>
#include <iostream>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <vector>
int main() {
    std::vector<std::future<int>> parts;
    for (int i = 0; i < 8; ++i)
        parts.push_back(std::async(std::launch::async, [i] {
            std::vector<int> v(1000);
            std::iota(v.begin(), v.end(), i * 1000);
            return std::accumulate(v.begin(), v.end(), 0);
        }));
    int sum = 0;
    for (auto& part : parts) sum += part.get();
    std::promise<int> promise;
    std::thread giver([&] { promise.set_value(1); });
    sum += promise.get_future().get();
    giver.join();
    std::shared_mutex shared;
    std::shared_lock<std::shared_mutex> one(shared), two(shared, std::try_to_lock);
    std::once_flag once;
    for (int i = 0; i < 3; ++i) std::call_once(once, [&] { ++sum; });
    std::cout << sum << ' ' << two.owns_lock() << '\n';
}
