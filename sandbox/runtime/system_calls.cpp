// System calls on shared memory. The kernel of the operating system does not fault: where an access of the program would
// fetch the array, its call would fail (EFAULT). So the functions that hand memory of the program to the kernel fetch it
// first; they stand before those of the C library, whose own streams and those of C++ end in them.
#undef _FORTIFY_SOURCE // which defines the same functions
#include "managed.hpp"

#include <cstdint>
#include <cstdio>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

using standin::Reachable;

namespace {

constexpr bool reads = false, writes = true;

std::size_t bytes_of(std::size_t size, std::size_t count) {
    return count && size > SIZE_MAX / count ? 0 : size * count;
}

// The parts are few: the kernel refuses more than it has room for (IOV_MAX).
template <typename Call> ssize_t for_each_part(const iovec *parts, int count, bool use, Call call) {
    if (count <= 0) return call();
    Reachable mine(parts->iov_base, parts->iov_len, use);
    return for_each_part(parts + 1, count - 1, use, call);
}

} // namespace

#define STANDS_BEFORE extern "C" __attribute__((weak))

STANDS_BEFORE std::size_t fwrite(const void *from, std::size_t size, std::size_t count, FILE *stream) {
    Reachable mine(from, bytes_of(size, count), reads);
    flockfile(stream);
    std::size_t done = fwrite_unlocked(from, size, count, stream);
    funlockfile(stream);
    return done;
}

STANDS_BEFORE std::size_t fread(void *to, std::size_t size, std::size_t count, FILE *stream) {
    Reachable mine(to, bytes_of(size, count), writes);
    flockfile(stream);
    std::size_t done = fread_unlocked(to, size, count, stream);
    funlockfile(stream);
    return done;
}

STANDS_BEFORE ssize_t write(int file, const void *from, std::size_t size) {
    Reachable mine(from, size, reads);
    return syscall(SYS_write, file, from, size);
}

STANDS_BEFORE ssize_t read(int file, void *to, std::size_t size) {
    Reachable mine(to, size, writes);
    return syscall(SYS_read, file, to, size);
}

STANDS_BEFORE ssize_t pwrite(int file, const void *from, std::size_t size, off_t at) {
    Reachable mine(from, size, reads);
    return syscall(SYS_pwrite64, file, from, size, at);
}

STANDS_BEFORE ssize_t pread(int file, void *to, std::size_t size, off_t at) {
    Reachable mine(to, size, writes);
    return syscall(SYS_pread64, file, to, size, at);
}

STANDS_BEFORE ssize_t writev(int file, const iovec *parts, int count) {
    return for_each_part(parts, count, reads, [=] { return syscall(SYS_writev, file, parts, count); });
}

STANDS_BEFORE ssize_t readv(int file, const iovec *parts, int count) {
    return for_each_part(parts, count, writes, [=] { return syscall(SYS_readv, file, parts, count); });
}
