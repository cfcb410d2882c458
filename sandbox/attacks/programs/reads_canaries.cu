// Reads a file that everybody on this machine may read: in a temporary folder, at home, in a neighbour's folder.
//
// After it: none of the texts came back. Nothing of this machine is in the sandbox but programs.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (const char* name : {"file", "home", "neighbour"}) {
        const std::string path = attack::target(name);
        attack::read_canary(path);
        for (const char* root : {"/proc/1/root", "/proc/self/root", "/proc/self/cwd/../../../../../..", "/host"})
            attack::read_canary(root + path);
    }
    return !attack::write_result();
}
