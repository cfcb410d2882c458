// The wire between a student's program and the session that plays its device (grader/running/device/protocol.py).
//
// A request is a head of 16 bytes and a payload; an answer is a head of 8 bytes and a payload. Numbers are
// little-endian. Data of copies follow the answer that allows them, in either direction. A request may be posted: it has
// no answer, and goes with the next one that has. Nothing that is sent from here is believed: this code runs in the
// process of the program that is judged.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace standin {

enum class Operation : std::uint32_t {
    hello = 1,
    allocate,
    free,
    copy_in,
    copy_out,
    copy_within,
    copy_on_host,
    fill,
    kernel,
    launch,
    variable,
    synchronise,
    stream_create,
    stream_destroy,
    stream_query,
    stream_wait,
    event_create,
    event_destroy,
    event_record,
    event_query,
    event_elapsed,
    push,
    pull,
    pointer,
    memory_info,
    occupancy,
    function_limit,
    reset,
    touched,
    errors_asked,
    unsupported,
    fault,
    symbol,
    call_failed,
    multiply,
    combine,
    draw,
    draw_on_host,
    solve,
};

// Where global memory of the device lies; a host pointer is never in there. All of it is among the addresses that a
// process has on the smallest kernels (39 bits, on arm64), and below those that they give to programs and libraries.
constexpr std::uint64_t device_base = std::uint64_t{1} << 36;
constexpr std::uint64_t device_end = device_base + (std::uint64_t{1} << 36);

inline bool on_device(const void *pointer) {
    auto address = reinterpret_cast<std::uint64_t>(pointer);
    return address >= device_base && address < device_end;
}

// What a payload consists of: plain numbers, one after another, without padding.
class Payload {
  public:
    // A pointer, or a handle, travels as the number that it is.
    template <typename Number> Payload &add(Number number) {
        if constexpr (std::is_pointer_v<Number>) return add(reinterpret_cast<std::uint64_t>(number));

        else return add_bytes(&number, sizeof number);
    }

    Payload &add_bytes(const void *bytes, std::size_t size);
    Payload &add_text(const char *text);
    const std::vector<unsigned char> &bytes() const { return bytes_; }

  private:
    std::vector<unsigned char> bytes_;
};

// An answer's code, and what came with it.
class Answer {
  public:
    cudaError_t code = cudaSuccess;
    std::vector<unsigned char> bytes;
    template <typename Number> Number next() {
        Number number{};
        if (position_ + sizeof number <= bytes.size()) {
            __builtin_memcpy(&number, bytes.data() + position_, sizeof number);
        }
        position_ += sizeof number;
        return number;
    }

  private:
    std::size_t position_ = 0;
};

// The rows of an array on the host that a copy reads or writes; one row where it is a plain copy.
struct Rows {
    void *start;
    std::size_t pitch, width, height;
};

// One request and its answer. `caller` is where the program called the runtime.
Answer ask(Operation operation, const void *caller, const Payload &payload = {});
// A request that cannot fail, and gives nothing back: it goes with the next that is asked.
void post(Operation operation, const void *caller, const Payload &payload);
// As `ask`, with rows that are sent once the answer says that they are welcome ...
Answer ask_with(Operation operation, const void *caller, const Payload &payload, const Rows &rows);
// ... or that come with the answer.
Answer ask_for(Operation operation, const void *caller, const Payload &payload, const Rows &rows);

// For signal handlers, as they take no memory: the fault that ends the program, which has no answer and finishes what the
// thread was sending; and a touch of shared memory. `writes` says what the access at the address was.
void tell_fault(const void *const *callers, std::uint32_t count, std::uint64_t address, bool writes);
// True where the bytes may be touched, and the device is at work on others of that allocation.
bool touch(const void *const *callers, std::uint32_t count, std::uint64_t address, std::size_t size, bool writes);
// Bytes of an array, from a signal handler; false if the session does not answer.
bool pull(std::uint64_t address, void *to, std::size_t size);

// True once the program has forked: the child has no device (CUDA does not survive a fork either).
bool forked();

// Holds the connection for several requests in a row; a thread may hold it more than once.
class Turn {
  public:
    Turn();
    ~Turn();
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;
};
[[noreturn]] void unsupported(const char *what, const void *caller);

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

} // namespace standin
