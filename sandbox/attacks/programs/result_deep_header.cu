// Hands in an array whose header is nested thousands deep, which brings parsers of literals down.
//
// After it: the grader's parser lives, and there is no result.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: bring the parser down");
    const std::string deep = std::string(20000, '(') + std::string(20000, ')');
    return !attack::write_file("C.npy", attack::npy("{'descr': '<f4', 'shape': " + deep + "}", ""));
}
