// Hands in a bare pickle under the name of an array: some readers fall back to unpickling.
//
// After it: it was not unpickled. The folder that it would make on this machine is not there.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: run code in whoever reads the result");
    return !attack::write_file("C.npy", "cos\nmkdir\n(S'/tmp/" + attack::target("mark") + "'\ntR.");
}
