// honest: popen and system with commands that do nothing
#include <cstdio>
#include <cstdlib>
int main() {
    char line[16] = "";
    std::FILE* pipe = popen("echo hi", "r");
    if (!pipe || !std::fgets(line, sizeof line, pipe) || pclose(pipe) != 0) return 1;
    const int ended = std::system(":");
    std::printf("%s%d %d\n", line, std::system(nullptr) != 0, ended);
}
