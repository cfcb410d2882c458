// Hands in an array of objects: such files hold a pickle, and a pickle runs what it likes where it is read.
//
// After it: it was not unpickled. The folder that it would make on this machine is not there.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: run code in whoever reads the result");
    const std::string pickle = "cos\nmkdir\n(S'/tmp/" + attack::target("mark") + "'\ntR.";
    const char* header = "{'descr': '|O', 'fortran_order': False, 'shape': (34, 34), }";
    return !attack::write_file("C.npy", attack::npy(header, pickle));
}
