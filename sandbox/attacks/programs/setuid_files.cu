// Becomes somebody else: by setuid(0), by a copy of itself with the setuid bit, by programs that have that bit.
//
// After it: it had the same user as before, and no privilege (PR_SET_NO_NEW_PRIVS) to gain.
#include "attack.h"
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static bool is_root_after(const char* program, const char* argument) {
    int answer[2];
    if (pipe(answer)) return false;
    if (fork() == 0) {
        dup2(answer[1], 1);
        execl(program, program, argument, "id -u", nullptr);
        _exit(1);
    }
    close(answer[1]);
    char text[64] = "";
    const ssize_t got = read(answer[0], text, sizeof text - 1);
    while (wait(nullptr) > 0) continue;
    return got > 0 && strcmp(text, "0\n") == 0;
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(getuid() == 0 || geteuid() == 0, "be root from the beginning");
    attack::tried(setuid(0) == 0 || seteuid(0) == 0 || setresuid(0, 0, 0) == 0, "become root");
    attack::tried(setgid(0) == 0, "join the group of root");
    attack::tried(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0, "be allowed new privileges");
    chmod("/proc/self/exe", 06755);
    for (const char* program : {"/bin/su", "/usr/bin/sudo", "/usr/bin/pkexec"})
        attack::tried(is_root_after(program, "-c"), std::string("become root by ") + program);
    return !attack::write_result();
}
