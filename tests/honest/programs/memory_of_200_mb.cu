// honest: 200 MB at once, every byte of it used
#include <cstdio>
#include <vector>
int main() {
    std::vector<unsigned char> much(200u << 20, 1);
    unsigned long sum = 0;
    for (unsigned char byte : much) sum += byte;
    std::printf("%lu\n", sum);
}
