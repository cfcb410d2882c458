// honest: the environment's locale, own punctuation, wide characters
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <iostream>
#include <locale>
#include <sstream>
struct Dots : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};
int main() {
    const bool found = std::setlocale(LC_ALL, "") != nullptr;
    wchar_t wide[16] = L"";
    const std::size_t letters = std::mbstowcs(wide, "ü✓a", 16);
    std::ostringstream out;
    out.imbue(std::locale(std::locale::classic(), new Dots));
    out << 1234567;
    std::cout << found << ' ' << letters << ' ' << out.str() << ' ' << std::locale("C").name() << '\n';
    std::printf("%ls %.1f\n", wide, 1.5);
}
