// How attacks on the device speak: over the connection that the stand-in for the runtime has opened, and past it.
//
// The argument `device=NAME` says which attack of a file is tried; each needs a connection of its own.
#pragma once
#include "attack.h"
#include <cstdint>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

namespace device {

using U = std::uint64_t;
using N = std::uint32_t;

// As in `sandbox/runtime/wire.hpp`.
enum class Operation : N {
    hello = 1, allocate, free, copy_in, copy_out, copy_within, copy_on_host, fill, kernel, launch, variable,
    synchronise, stream_create, stream_destroy, stream_query, stream_wait, event_create, event_destroy, event_record,
    event_query, event_elapsed, push, pull, pointer, memory_info, occupancy, function_limit, reset, touched,
    errors_asked, unsupported, fault, symbol, call_failed, multiply, combine,
    draw, draw_on_host, solve,
};
constexpr N posted = 0x80000000u;
constexpr U huge = ~U{0};

inline int line = -1;

struct Bytes : std::vector<unsigned char> {
    template <class T> Bytes& add(T value) {
        auto first = reinterpret_cast<const unsigned char*>(&value);
        insert(end(), first, first + sizeof value);
        return *this;
    }
};

inline bool is(const char* name) { return attack::target("device") == name; }

inline void begin(int argc, char** argv) {
    attack::begin(argc, argv);
    void* any;
    cudaMalloc(&any, 4);
    for (int file = 3; file < 64; ++file) {
        sockaddr_un name{};
        socklen_t size = sizeof name;
        if (!getpeername(file, reinterpret_cast<sockaddr*>(&name), &size) && name.sun_family == AF_UNIX) line = file;
    }
    if (line < 0) puts("reached: nothing is between the program and its device");
}

inline bool say_number(N operation, const Bytes& payload, long announced = -1) {
    Bytes all;
    all.add(operation).add(N(announced < 0 ? payload.size() : announced)).add(U{0});
    all.insert(all.end(), payload.begin(), payload.end());
    return send(line, all.data(), all.size(), MSG_NOSIGNAL) == ssize_t(all.size());
}

inline bool say(Operation operation, const Bytes& payload = {}, long announced = -1) {
    return say_number(static_cast<N>(operation), payload, announced);
}

// The code of the next answer; -1 where the device has ended the conversation.
inline int hear() {
    struct { std::int32_t code; N size, printed, complaints; } head;
    if (recv(line, &head, sizeof head, MSG_WAITALL) != sizeof head) return -1;
    std::vector<char> rest(head.size + head.printed + head.complaints);
    if (!rest.empty()) recv(line, rest.data(), rest.size(), MSG_WAITALL);
    return head.code;
}

// Whether the device does what it is asked: it has no reason to.
inline void ask(Operation operation, const Bytes& payload = {}, long announced = -1) {
    const bool sent = say(operation, payload, announced);
    attack::tried(sent && hear() == 0, attack::target("device"));
}

inline U allocated(size_t size) {
    void* address = nullptr;
    cudaMalloc(&address, size);
    return U(address);
}

}  // namespace device
