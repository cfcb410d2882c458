// Looks for secrets in environments and arguments: its own, and those of all processes that it sees.
//
// After it: neither the secret in the grader's environment came back nor that of a process beside it.
#include "attack.h"

extern char** environ;

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (char** each = environ; *each; ++each)
        if (!attack::canary_in(*each).empty()) puts(*each), attack::tried(true, "find a secret in the environment");
    for (int process : attack::other_processes())
        for (const char* part : {"/environ", "/cmdline", "/task/1/environ"})
            attack::read_canary("/proc/" + std::to_string(process) + part);
    attack::tried(false, "find a secret in the environment");
    return !attack::write_result();
}
