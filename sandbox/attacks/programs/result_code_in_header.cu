// Hands in an array whose header is a program: who evaluates it instead of parsing it runs it.
//
// After it: it was not run. The folder that it would make on this machine is not there.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: run code in whoever reads the header");
    const std::string call = "__import__('os').mkdir('/tmp/" + attack::target("mark") + "')";
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (34, 34 + 0 * bool(" + call + ")), }";
    return !attack::write_file("C.npy", attack::npy(header, std::string(34 * 34 * 4, '\0')));
}
