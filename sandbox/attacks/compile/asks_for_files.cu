// Asks the preprocessor whether files of this machine exist: one bit each, without any complaint.
//
// After it: the answer was no.
#include "attack.h"

#if __has_include("/canary/file") || __has_include("/canary/home") || __has_include("/canary/neighbour")
static const bool found = true;
#else
static const bool found = false;
#endif

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(found, "learn that a file exists");
    return !attack::write_result();
}
