// honest: all of its output goes to the standard error
#include <cstdio>
#include <iostream>
int main() {
    std::cerr << "warning\n";
    std::clog << "note\n" << std::flush;
    std::perror("no error");
}
