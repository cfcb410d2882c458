// honest: one byte less than 1 MiB on each stream
#include <cstdio>
int main() {
    for (int i = 0; i < (1 << 20) - 1; ++i) {
        std::putchar(i % 64 == 63 ? '\n' : 'x');
        std::putc(i % 64 == 63 ? '\n' : 'e', stderr);
    }
}
