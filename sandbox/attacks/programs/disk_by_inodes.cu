// Makes empty files and folders without end: they take no bytes, but a file system has only so many.
//
// After it: the number of files was limited, and they are gone.
#include "attack.h"
#include <sys/stat.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (const std::string folder : {".", "/tmp", "/dev/shm"}) {
        long made = 0;
        for (; made < 100000; ++made) {
            const std::string name = folder + "/" + attack::target("mark") + std::to_string(made);
            const int file = made % 2 ? mkdir(name.c_str(), 0700) : open(name.c_str(), O_CREAT | O_WRONLY, 0600);
            if (file < 0) break;
            if (made % 2 == 0) close(file);
        }
        attack::tried(made >= 100000, "make 100000 files in " + folder);
    }
}
