// Hands in a hard link: to files of the system, and to the program itself, which is a regular file.
//
// After it: what is fetched is no product, whatever it is.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const std::string secret = attack::target("file");
    for (const char* path : {secret.c_str(), "/etc/shadow", "/etc/passwd", "/proc/self/exe"})
        attack::tried(link(path, "C.npy") == 0 && path == secret.c_str(), std::string("link to ") + path);
    linkat(AT_FDCWD, "/proc/self/exe", AT_FDCWD, "C.npy", AT_SYMLINK_FOLLOW);
    return 0;
}
