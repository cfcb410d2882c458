// Uses the kernel's keyrings, which belong to users and not to namespaces: it leaves a key and looks for others'.
//
// After it: it could neither add a key nor see one.
#include "attack.h"
#include <sys/syscall.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (int ring : {-3, -4, -5}) {  // of the session, of the user, of all sessions of the user
        attack::tried(syscall(SYS_add_key, "user", attack::target("mark").c_str(), "x", 1, ring) >= 0, "add a key");
        attack::tried(syscall(SYS_request_key, "user", "canary", nullptr, ring) >= 0, "find a key");
        attack::tried(syscall(SYS_keyctl, 0 /* get the ring's number */, ring, 1) >= 0, "see a keyring");
    }
    return !attack::write_result();
}
