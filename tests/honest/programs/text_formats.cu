// honest: manipulators, string streams, regular expressions
#include <iomanip>
#include <iostream>
#include <regex>
#include <sstream>
int main() {
    std::cout << std::setw(8) << std::setfill('*') << std::fixed << std::setprecision(2) << 3.14159 << ' ' << std::hex
              << std::showbase << 255 << ' ' << std::boolalpha << true << ' ' << std::quoted("a \"b\"") << '\n';
    const std::string text = "tile 4x4, tile 16x16";
    const std::regex size(R"((\d+)x(\d+))");
    for (std::sregex_iterator match(text.begin(), text.end(), size), end; match != end; ++match)
        std::cout << (*match)[1] << ';';
    std::cout << '\n';
}
