// honest: progress in colour, with carriage returns and a window title
#include <iostream>
int main() {
    std::cout << "\033]0;working\007";
    for (int i = 0; i <= 100; i += 50) std::cout << "\r\033[32m" << i << " %\033[0m" << std::flush;
    std::cout << "\ndone\n";
}
