// honest: all that it says goes to the standard error
#include <cstdio>
#include <iostream>
int main() {
    std::cerr << "warning\n";
    std::clog << "note\n" << std::flush;
    std::perror("no error");
}
