// Keeps its device busy or waiting: half messages, floods of them, answers that nobody reads, several at once.
//
// After it: the conversation has ended with the program's time at the latest, and nobody else was kept waiting.
#include "device.h"
#include <thread>
using namespace device;

// A touch of the most bytes that a number can say, and in the end of a nonsensical address.
static Bytes touch(U shared, U number) {
    return Bytes{}.add(number % 2 ? shared : number).add(number % 3 ? huge : 0).add(N(number)).add(N{1}).add(number);
}

int main(int argc, char** argv) {
    device::begin(argc, argv);
    attack::tried(false, attack::target("device"));
    if (is("half a message") && send(line, "abc", 3, MSG_NOSIGNAL)) sleep(60);
    if (is("a payload that never comes") && say(Operation::allocate, {}, 20)) sleep(60);
    if (is("answers that nobody reads")) {
        for (int i = 0; i < 2000000 && say(Operation::memory_info); ++i) continue;
        sleep(60);
    }
    if (is("a connection that is closed in the middle")) {
        say(Operation::allocate, {}, 20);
        shutdown(line, SHUT_WR);
        close(line);
    }
    if (is("a second connection")) {
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        strcpy(name.sun_path, getenv("GRADER_DEVICE"));
        const int other = socket(AF_UNIX, SOCK_STREAM, 0);
        attack::tried(!connect(other, reinterpret_cast<sockaddr*>(&name), sizeof name), "connect twice");
    }
    if (is("touch after touch")) {
        void* shared;
        cudaMallocManaged(&shared, 64);
        for (U i = 0; i < 3000 && say(Operation::touched, touch(U(shared), i)); ++i) hear();
        attack::tried(cudaDeviceSynchronize() != cudaSuccess, "fill the judge's notes");
    }
    if (is("records that nobody waits for")) {
        const Bytes record = Bytes{}.add(U{7}).add(U{0});
        for (int i = 0; i < 100000; ++i) say_number(posted | static_cast<N>(Operation::event_record), record);
        attack::tried(cudaDeviceSynchronize() != cudaSuccess, "drown the device in records");
    }
    if (is("threads that all talk at once")) {
        std::vector<std::thread> all;
        for (int i = 0; i < 8; ++i)
            all.emplace_back([] { for (int n = 0; n < 50; ++n) cudaFree(reinterpret_cast<void*>(allocated(8))); });
        for (std::thread& each : all) each.join();
        attack::tried(cudaDeviceSynchronize() != cudaSuccess, "mix up the answers of threads");
    }
    return !attack::write_result();
}
