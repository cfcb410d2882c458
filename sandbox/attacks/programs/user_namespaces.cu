// Makes namespaces of its own: in a user namespace it would be root, and much of the kernel lies open to it.
//
// After it: none could be made.
#include "attack.h"
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const struct { int flag; const char* name; } kinds[] = {
        {CLONE_NEWUSER, "user"}, {CLONE_NEWNS, "mount"}, {CLONE_NEWNET, "network"}, {CLONE_NEWPID, "process"},
        {CLONE_NEWIPC, "IPC"},   {CLONE_NEWUTS, "name"}, {CLONE_NEWCGROUP, "cgroup"}};
    for (const auto& kind : kinds)
        for (int also : {0, CLONE_NEWUSER}) {
            if (fork() == 0) {
                attack::tried(unshare(kind.flag | also) == 0, std::string("make a namespace: ") + kind.name);
                _exit(0);
            }
            wait(nullptr);
        }
    long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) _exit(0);
    attack::tried(child > 0, "make a namespace by clone");
    unsigned long arguments[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    child = syscall(435 /* clone3 */, arguments, sizeof arguments);
    if (child == 0) _exit(0);
    attack::tried(child > 0, "make a namespace by clone3");
    const int other = open("/proc/1/ns/mnt", O_RDONLY);
    attack::tried(other >= 0 && setns(other, 0) == 0, "enter another namespace");
    return !attack::write_result();
}
