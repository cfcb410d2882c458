// Hands in a folder under the result's name, with folders in folders in it.
//
// After it: there is no result, and nothing of the folders is left.
#include "attack.h"
#include <sys/stat.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(false, "hand in a folder");
    for (const char* name = "C.npy"; mkdir(name, 0700) == 0 && chdir(name) == 0; name = "folder") {
        char path[4096];
        if (!getcwd(path, sizeof path) || strlen(path) > 2000) break;
    }
    return 0;
}
