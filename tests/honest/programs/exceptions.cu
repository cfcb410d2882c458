// honest: exceptions thrown, caught, nested, thrown again, across threads
#include <exception>
#include <future>
#include <iostream>
#include <new>
#include <stdexcept>
struct Own : std::runtime_error {
    using std::runtime_error::runtime_error;
};
static void outer() {
    try {
        throw Own("inner");
    } catch (...) {
        std::throw_with_nested(std::logic_error("outer"));
    }
}
int main() {
    try {
        outer();
    } catch (const std::exception& error) {
        std::cout << error.what();
        try {
            std::rethrow_if_nested(error);
        } catch (const Own& own) {
            std::cout << " < " << own.what() << '\n';
        }
    }
    auto failing = std::async(std::launch::async, []() -> int { throw 42; });
    try {
        failing.get();
    } catch (int number) {
        std::cout << number << '\n';
    }
    try {
        volatile std::size_t much = std::size_t(1) << 60;
        char* volatile memory = new char[much];
        std::cout << (memory != nullptr);
    } catch (const std::bad_alloc&) {
        std::cout << "no such memory\n";
    }
    try {
        std::string("short").at(99);
    } catch (const std::out_of_range&) {
        std::cout << "out of range\n";
    }
}
