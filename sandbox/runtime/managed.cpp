// Shared memory, page by page as an operating system does it, but for whole allocations: the device's side holds
// the truth, a host's first access fetches it, and what the host has written goes back before the device's turn.
//
//     at the device ──first read──▶ fetched, read-only ──first write──▶ written ──hand_over──▶ at the device
//
// So a touch while the device may be at work is seen, and reported with its line; it is allowed all the same. Where the
// device is at work on other bytes of an allocation, that stays closed, and each access is let through by itself: the
// processor runs the one instruction and traps, if it can.
#include "managed.hpp"

#include "fault.hpp"
#include "wire.hpp"

#include <execinfo.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace standin {
namespace {

enum class State { at_device, fetched, written };

struct Shared {
    std::uint64_t address = 0;
    std::size_t size = 0, mapped = 0;
    State state = State::at_device;
    bool open = false; // for one access, and closed behind it
};

// What the host is about to do; without a `context` it is a system call that is about to do it.
struct Access {
    std::uint64_t address;
    std::size_t size;
    Direction direction;
    void *context;
};

// A plain table: the handler of a fault must not take memory.
constexpr std::size_t most = 4096;
Shared table[most];
std::size_t used = 0;
bool at_work = false;
// Accesses that were let through one by one; a program that makes more of them gets the whole allocation.
constexpr std::size_t most_steps = 1 << 12;
std::size_t steps = 0;
// Whether this thread is at such an access: another may have closed behind it already.
thread_local bool is_stepping = false;
struct sigaction before, before_steps;
pthread_once_t prepared = PTHREAD_ONCE_INIT;

void *pointer(std::uint64_t address) { return reinterpret_cast<void *>(address); }

void protect(Shared &shared, int protection, State state) {
    mprotect(pointer(shared.address), shared.mapped, protection);
    shared.state = state;
}

Shared *holding(std::uint64_t address) {
    for (std::size_t number = 0; number < used; ++number) {
        if (address - table[number].address < table[number].mapped) return &table[number];
    }
    return nullptr;
}

// Addresses of the calls that led here, the interrupted instruction first.
struct Callers {
    static constexpr int most = 16;
    void *addresses[most];
    std::uint32_t count;

    explicit Callers(void *context) {
        int first = context ? 1 : 0;
        if (context) addresses[0] = instruction_of(context);
        count = static_cast<std::uint32_t>(first + backtrace(addresses + first, most - first));
    }
};

bool is_near_work(const Access &access, bool writes) {
    Callers callers(access.context);
    return touch(callers.addresses, callers.count, access.address, access.size, writes);
}

// The bytes come into pages of their own, which take the place of the closed ones whole: another thread that reads
// there meanwhile faults, too, and waits for its turn. Where there is no room for such pages they come in place.
bool fetch(Shared &shared) {
    shared.state = State::fetched;
    void *pages = mmap(nullptr, shared.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        protect(shared, PROT_READ | PROT_WRITE, State::fetched);
        return pull(shared.address, pointer(shared.address), shared.size);
    }
    bool came = pull(shared.address, pages, shared.size) && !mprotect(pages, shared.mapped, PROT_READ);
    constexpr int how = MREMAP_MAYMOVE | MREMAP_FIXED;
    return came && mremap(pages, shared.mapped, shared.mapped, how, pointer(shared.address)) != MAP_FAILED;
}

// How much of an allocation an access gets.
enum class Given { nothing, one_access, all };

// Gives a shared array to the host, for reading or for writing too; nothing for any other fault.
//
// It is not handed over meanwhile. What the host may write to by now was given to another thread that faulted, too:
// the access is tried again.
Given give(const Access &access) {
    if (forked()) return Given::nothing;
    Turn mine;
    Shared *shared = holding(access.address);
    if (!shared) return Given::nothing;
    bool is_unknown = access.direction == Direction::unknown; // then a write faults twice: first it is taken for a read
    bool writes = access.direction == Direction::writes || (is_unknown && shared->state == State::fetched);
    bool asks = at_work && !(access.context && is_atomic(access.context));
    bool closes_again = asks && is_near_work(access, writes) && can_step && steps < most_steps;
    if (shared->state == State::at_device && !fetch(*shared)) return Given::nothing;
    if (writes || shared->state == State::written) {
        protect(*shared, PROT_READ | PROT_WRITE, State::written);
    } else {
        protect(*shared, PROT_READ, State::fetched);
    }
    shared->open = closes_again;
    steps += closes_again;
    return closes_again ? Given::one_access : Given::all;
}

// Closes what was opened for one access.
void close_again() {
    Turn mine;
    for (std::size_t number = 0; number < used; ++number) {
        Shared &shared = table[number];
        if (!shared.open) continue;
        mprotect(pointer(shared.address), shared.mapped, PROT_NONE);
        shared.open = false;
    }
}

// The instruction behind which an allocation is closed again has run.
void on_step(int signal, siginfo_t *, void *context) {
    if (is_stepping) {
        close_again();
        is_stepping = false;
        end_step(context);
    } else {
        sigaction(signal, &before_steps, nullptr); // a trap of the program's own
        raise(signal);
    }
}

void on_fault(int signal, siginfo_t *information, void *context) {
    auto address = reinterpret_cast<std::uint64_t>(information->si_addr);
    auto direction = direction_of(address, context);
    if (signal == SIGSEGV && direction != Direction::executes) {
        Given given = give({address, 1, direction, context});
        if (given == Given::one_access) is_stepping = true, step(context);
        if (given != Given::nothing) return;
    }
    Callers callers(context);
    tell_fault(callers.addresses, callers.count, address, direction == Direction::writes);
    sigaction(signal, &before, nullptr); // the instruction is tried again, and ends the program as it should
}

void prepare() {
    void *address[1];
    backtrace(address, 1); // its first call takes memory, which the handler must not do
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &before);
    sigaction(SIGBUS, &action, nullptr);
    action.sa_sigaction = on_step;
    sigaction(SIGTRAP, &action, &before_steps);
}

// A fault of the host is reported even before the first call of the runtime.
__attribute__((constructor)) void prepare_early() { pthread_once(&prepared, prepare); }

} // namespace

bool share(std::uint64_t address, std::size_t size, Sharing) {
    Turn mine;
    auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t mapped = (size + page - 1) / page * page;
    if (used == most || address % page) return false;
    void *got = mmap(pointer(address), mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return false;
    table[used++] = Shared{address, size, mapped, State::at_device};
    return true;
}

void unshare(std::uint64_t address) {
    Turn mine;
    Shared *shared = holding(address);
    if (!shared || shared->address != address) return;
    munmap(pointer(address), shared->mapped);
    *shared = table[--used];
}

void unshare_all() {
    Turn mine;
    while (used) unshare(table[used - 1].address);
    at_work = false;
}

void hand_over() {
    Turn mine;
    for (std::size_t number = 0; number < used; ++number) {
        Shared &shared = table[number];
        if (shared.state == State::written) {
            mprotect(pointer(shared.address), shared.mapped, PROT_READ); // one that is closed between accesses, too
            Payload numbers;
            numbers.add(shared.address).add(std::uint64_t{shared.size});
            ask_with(Operation::push, nullptr, numbers, {pointer(shared.address), 0, shared.size, 1});
        }
        if (shared.state != State::at_device) protect(shared, PROT_NONE, State::at_device);
        shared.open = false;
    }
}

// Whether the work is on the bytes that are touched is for the device's side to say.
void device_at_work() { at_work = true; }
void device_idle() { at_work = false; }

Reachable::Reachable(const void *bytes, std::size_t size, bool writes) {
    if (!size || !on_device(bytes)) return;
    auto direction = writes ? Direction::writes : Direction::reads;
    Given given = give({reinterpret_cast<std::uint64_t>(bytes), size, direction, nullptr});
    closes_again_ = given == Given::one_access;
}

Reachable::~Reachable() {
    if (closes_again_) close_again();
}

} // namespace standin
