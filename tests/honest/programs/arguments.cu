// honest: arguments of every form, each on a line of its own
#include <cstdio>
int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) std::printf("[%s]\n", argv[i]);
    return argv[argc] == nullptr && argc > 0 ? 0 : 1;
}
