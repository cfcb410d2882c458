// honest: 700 MB in pieces, by new, calloc and mmap, most of them in use
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
int main() {
    constexpr std::size_t part = 200u << 20;
    auto first = std::make_unique<char[]>(part);
    char* second = static_cast<char*>(std::calloc(part, 1));
    char* third = static_cast<char*>(mmap(nullptr, part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char* fourth = static_cast<char*>(std::aligned_alloc(4096, part / 2));
    if (!second || third == MAP_FAILED || !fourth) return 1;
    std::memset(first.get(), 1, part);
    std::memset(second, 2, part);
    std::memset(third, 3, part);
    std::printf("%d\n", first[part - 1] + second[part - 1] + third[part - 1]);
    munmap(third, part);
    std::free(second);
    std::free(fourth);
}
