// Leaves something in shared memory for a later submission, or for the grader: files, segments, queues.
//
// After it: nothing of it is on this machine, and a second run finds nothing either.
#include "attack.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const std::string note = "left by an attack", mark = attack::target("mark");
    for (const std::string folder : {".", "/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/dev/mqueue"}) {
        const std::string name = folder + "/" + mark;
        attack::tried(attack::content(name) == note, "find the note of an earlier run in " + folder);
        attack::write_file(name, note);
    }
    attack::tried(shmget(0x6ad1, 4096, 0) >= 0, "find the segment of an earlier run");
    attack::tried(msgget(0x6ad1, 0) >= 0, "find the queue of an earlier run");
    shmget(0x6ad1, 4096, IPC_CREAT | 0666);
    msgget(0x6ad1, IPC_CREAT | 0666);
    return !attack::write_result();
}
