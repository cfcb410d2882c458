// honest: lines by getline, the last one without a line feed, Windows' ends taken off
#include <iostream>
#include <string>
int main() {
    std::string line;
    for (int number = 1; std::getline(std::cin, line); ++number) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        std::cout << number << ": " << line << '\n';
    }
}
