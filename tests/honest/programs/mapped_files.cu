// honest: a file of its own, mapped, changed in memory and read again
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
int main() {
    const int file = open("mapped.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || flock(file, LOCK_EX) || ftruncate(file, 1 << 20)) return 1;
    char* bytes = static_cast<char*>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    if (bytes == MAP_FAILED) return 2;
    bytes[12345] = 'x';
    if (msync(bytes, 1 << 20, MS_SYNC) || munmap(bytes, 1 << 20)) return 3;
    char byte = 0;
    if (pread(file, &byte, 1, 12345) != 1 || fsync(file) || close(file) || unlink("mapped.bin")) return 4;
    std::printf("%c\n", byte);
}
