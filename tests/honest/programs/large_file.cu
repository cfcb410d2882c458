// honest: a file of 60 MiB, written, sought in and read again
#include <cstdio>
#include <vector>
int main() {
    std::vector<unsigned char> block(1 << 20);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<unsigned char>(i * 7);
    std::FILE* file = std::fopen("large.bin", "w+b");
    if (!file) return 1;
    for (int i = 0; i < 60; ++i)
        if (std::fwrite(block.data(), 1, block.size(), file) != block.size()) return 2;
    std::fseek(file, 0, SEEK_END);
    const long size = std::ftell(file);
    std::rewind(file);
    unsigned long long sum = 0;
    for (std::size_t got; (got = std::fread(block.data(), 1, block.size(), file)) > 0;)
        for (std::size_t i = 0; i < got; ++i) sum += block[i];
    std::fclose(file);
    std::remove("large.bin");
    std::printf("%ld bytes, sum %llu\n", size, sum);
}
