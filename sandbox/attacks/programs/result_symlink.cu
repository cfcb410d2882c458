// Hands in a link instead of a result: to a secret of this machine, under the name that is fetched.
//
// After it: the link was not followed, and there is no result.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(false, "have a link followed");
    return symlink(attack::target("file").c_str(), "C.npy") != 0;
}
