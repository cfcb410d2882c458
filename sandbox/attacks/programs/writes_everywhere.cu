// Writes into every folder of the system: programs, libraries, settings that later programs read.
//
// After it: none could be written, and nothing of it is on this machine.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const std::string mark = attack::target("mark");
    for (const char* folder : {"/", "/bin", "/usr/bin", "/usr/local/bin", "/usr/lib", "/lib/x86_64-linux-gnu", "/etc",
                               "/etc/cron.d", "/root", "/boot", "/opt", "/srv", "/var/lib", "/usr/local/lib/python3",
                               "/proc", "/sys", "/sys/fs/cgroup"})
        attack::tried(attack::write_file(std::string(folder) + "/" + mark, "x"), std::string("write into ") + folder);
    for (const char* name : {"file", "home", "neighbour"}) {
        const std::string path = attack::target(name);
        attack::tried(open(path.c_str(), O_WRONLY | O_APPEND) >= 0, "write to " + path);
    }
    attack::tried(open("/etc/ld.so.preload", O_WRONLY | O_CREAT | O_APPEND, 0644) >= 0, "preload a library");
    return !attack::write_result();
}
