// honest: every byte there is, NUL and invalid UTF-8 among them
#include <cstdio>
int main() {
    for (int byte = 0; byte < 256; ++byte) std::putchar(byte);
}
