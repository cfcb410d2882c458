// honest: temporary files, as the library and as the system make them
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
int main() {
    std::FILE* nameless = std::tmpfile();
    if (!nameless) return 1;
    std::fputs("12 34", nameless);
    std::rewind(nameless);
    int a = 0, b = 0;
    if (std::fscanf(nameless, "%d%d", &a, &b) != 2) return 2;
    std::string name = (std::filesystem::temp_directory_path() / "mineXXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0 || write(file, "x", 1) != 1 || close(file) || std::remove(name.c_str())) return 3;
    std::printf("%d\n", a + b);
}
