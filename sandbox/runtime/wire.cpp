// The connection: whole messages over a Unix socket, one at a time.
#include "wire.hpp"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace standin {
namespace {

constexpr std::uint32_t protocol_version = 3, posted = 0x8000'0000u;
constexpr std::size_t piece = 1 << 18;
constexpr int no_device_exit = 98; // what a program ends with that cannot go on: see `grader/running/device/service.py`

struct RequestHead {
    std::uint32_t operation, size;
    std::uint64_t caller;
};
// What kernels printed, and what assertions said, comes with any answer, before its payload.
struct AnswerHead {
    std::int32_t code;
    std::uint32_t size, printed, complaints;
};

int connection = -1;
std::atomic<bool> is_forked{false};
// One request at a time. The thread that holds it may be interrupted by its own fault, so it is recursive.
pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
// What the thread whose turn it is still owes, or is still owed: a fault in between finishes it first.
std::size_t left_to_send = 0, left_to_receive = 0;
unsigned char bounce[piece];
// Requests that wait to be sent together with the next one. Programs call before `main` and behind it, so that these
// are bytes that are never constructed.
unsigned char waiting[1 << 15];
std::size_t waiting_bytes = 0;

[[noreturn]] void give_up(const char *why) {
    dprintf(STDERR_FILENO, "CUDA: %s\n", why);
    _exit(no_device_exit);
}

bool send_all(const void *bytes, std::size_t size) {
    auto at = static_cast<const unsigned char *>(bytes);
    while (size) {
        ssize_t sent = send(connection, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        at += sent, size -= static_cast<std::size_t>(sent);
    }
    return true;
}

bool receive_all(void *bytes, std::size_t size) {
    auto at = static_cast<unsigned char *>(bytes);
    while (size) {
        ssize_t got = recv(connection, at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got, size -= static_cast<std::size_t>(got);
    }
    return true;
}

void must(bool done) {
    if (!done) _exit(no_device_exit); // the session has ended, and says why
}

void on_fork() {
    is_forked = true;
    if (connection >= 0) close(connection);
    connection = -1;
}

void connect_once() {
    if (connection >= 0 || is_forked) return;
    const char *path = std::getenv("GRADER_DEVICE");
    if (!path) give_up("this program was linked for the grader's emulator, and none is there");
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (std::strlen(path) >= sizeof name.sun_path) give_up("the path of the emulator's socket is too long");
    std::strcpy(name.sun_path, path);
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, reinterpret_cast<sockaddr *>(&name), sizeof name)) {
        give_up("the emulator does not answer");
    }
    pthread_atfork(nullptr, nullptr, on_fork);
    Payload hello;
    hello.add(protocol_version).add(reinterpret_cast<const void *>(&connect_once));
    if (ask(Operation::hello, nullptr, hello).code != cudaSuccess) give_up("the emulator speaks another protocol");
}

RequestHead head_of(Operation operation, const void *caller, std::size_t size, std::uint32_t how = 0) {
    return {static_cast<std::uint32_t>(operation) | how, static_cast<std::uint32_t>(size),
            reinterpret_cast<std::uint64_t>(caller)};
}

bool send_waiting() {
    bool sent = send_all(waiting, waiting_bytes);
    waiting_bytes = 0;
    return sent;
}

bool send_head(Operation operation, const void *caller, std::size_t size) {
    RequestHead head = head_of(operation, caller, size);
    return send_waiting() && send_all(&head, sizeof head);
}

bool send_access(Operation operation, const void *const *callers, std::uint32_t count, std::uint64_t address,
                 std::uint64_t size, std::uint32_t writes) {
    std::size_t bytes = sizeof address + sizeof size + sizeof writes + sizeof count + count * sizeof *callers;
    return send_head(operation, count ? callers[0] : nullptr, bytes) && send_all(&address, sizeof address) &&
           send_all(&size, sizeof size) && send_all(&writes, sizeof writes) && send_all(&count, sizeof count) &&
           send_all(callers, count * sizeof *callers);
}

void wait_with(const void *bytes, std::size_t size) {
    if (size > sizeof waiting - waiting_bytes) must(send_waiting());
    if (size > sizeof waiting) return must(send_all(bytes, size));
    std::memcpy(waiting + waiting_bytes, bytes, size);
    waiting_bytes += size;
}

void add_request(Operation operation, const void *caller, const Payload &payload, std::uint32_t how = 0) {
    connect_once();
    RequestHead head = head_of(operation, caller, payload.bytes().size(), how);
    wait_with(&head, sizeof head);
    wait_with(payload.bytes().data(), payload.bytes().size());
}

void send_request(Operation operation, const void *caller, const Payload &payload) {
    add_request(operation, caller, payload);
    must(send_waiting());
}

// Device text goes where the program's own text goes, in its turn.
void show(std::size_t size, std::FILE *stream) {
    for (std::size_t part; size; size -= part) {
        part = std::min(size, piece);
        must(receive_all(bounce, part));
        std::fwrite(bounce, 1, part, stream);
    }
}

Answer receive_answer() {
    AnswerHead head{};
    must(receive_all(&head, sizeof head));
    Answer answer;
    answer.code = static_cast<cudaError_t>(head.code);
    show(head.printed, stdout);
    show(head.complaints, stderr);
    answer.bytes.resize(head.size);
    must(receive_all(answer.bytes.data(), head.size));
    return answer;
}

// Each piece goes through a buffer of ours: a fault on the program's array is then in this process, with a line.
template <typename Visit> void each_piece(const Rows &rows, Visit visit) {
    for (std::size_t row = 0; row < rows.height; ++row) {
        auto at = static_cast<unsigned char *>(rows.start) + row * rows.pitch;
        for (std::size_t done = 0; done < rows.width; done += piece) {
            visit(at + done, std::min(piece, rows.width - done));
        }
    }
}

} // namespace

Payload &Payload::add_bytes(const void *bytes, std::size_t size) {
    auto first = static_cast<const unsigned char *>(bytes);
    bytes_.insert(bytes_.end(), first, first + size);
    return *this;
}

Payload &Payload::add_text(const char *text) {
    auto size = static_cast<std::uint32_t>(std::strlen(text));
    return add(size).add_bytes(text, size);
}

Turn::Turn() { pthread_mutex_lock(&turn); }
Turn::~Turn() { pthread_mutex_unlock(&turn); }

bool forked() { return is_forked; }

Answer ask(Operation operation, const void *caller, const Payload &payload) {
    Turn mine;
    send_request(operation, caller, payload);
    return receive_answer();
}

void post(Operation operation, const void *caller, const Payload &payload) {
    Turn mine;
    add_request(operation, caller, payload, posted);
}

Answer ask_with(Operation operation, const void *caller, const Payload &payload, const Rows &rows) {
    Turn mine;
    send_request(operation, caller, payload);
    Answer answer = receive_answer();
    if (answer.code != cudaSuccess) return answer;
    left_to_send = rows.width * rows.height;
    each_piece(rows, [](unsigned char *at, std::size_t size) {
        std::memcpy(bounce, at, size);
        must(send_all(bounce, size));
        left_to_send -= size;
    });
    return answer;
}

Answer ask_for(Operation operation, const void *caller, const Payload &payload, const Rows &rows) {
    Turn mine;
    send_request(operation, caller, payload);
    Answer answer = receive_answer();
    if (answer.code != cudaSuccess) return answer;
    left_to_receive = rows.width * rows.height;
    each_piece(rows, [](unsigned char *at, std::size_t size) {
        must(receive_all(bounce, size));
        left_to_receive -= size;
        std::memcpy(at, bounce, size);
    });
    return answer;
}

void tell_fault(const void *const *callers, std::uint32_t count, std::uint64_t address, bool writes) {
    if (is_forked || pthread_mutex_trylock(&turn)) return;
    if (connection >= 0) {
        static unsigned char zeros[4096];
        for (; left_to_receive; left_to_receive -= std::min(left_to_receive, sizeof zeros)) {
            if (!receive_all(zeros, std::min(left_to_receive, sizeof zeros))) break;
        }
        std::memset(zeros, 0, sizeof zeros);
        for (; left_to_send; left_to_send -= std::min(left_to_send, sizeof zeros)) {
            if (!send_all(zeros, std::min(left_to_send, sizeof zeros))) break;
        }
        send_access(Operation::fault, callers, count, address, 1, writes);
    }
    pthread_mutex_unlock(&turn);
}

bool touch(const void *const *callers, std::uint32_t count, std::uint64_t address, std::size_t size, bool writes) {
    Turn mine;
    AnswerHead head{};
    return connection >= 0 && send_access(Operation::touched, callers, count, address, size, writes) &&
           receive_all(&head, sizeof head) && head.code == cudaErrorNotReady;
}

bool pull(std::uint64_t address, void *to, std::size_t size) {
    Turn mine;
    std::uint64_t numbers[] = {address, size};
    AnswerHead head{};
    return send_head(Operation::pull, nullptr, sizeof numbers) && send_all(numbers, sizeof numbers) &&
           receive_all(&head, sizeof head) && head.code == cudaSuccess &&
           !head.size && !head.printed && !head.complaints && receive_all(to, size);
}

void unsupported(const char *what, const void *caller) {
    Payload name;
    ask(Operation::unsupported, caller, name.add_text(what));
    std::fflush(nullptr); // it ends here, but what it has printed is its own
    give_up("not supported by the grader's emulator");
}

} // namespace standin
