// honest: two thousand small files, and two hundred open at once
#include <cstdio>
#include <string>
#include <vector>
int main() {
    for (int i = 0; i < 2000; ++i) {
        std::FILE* file = std::fopen(("f" + std::to_string(i)).c_str(), "w");
        if (!file) return 1;
        std::fprintf(file, "%d\n", i);
        std::fclose(file);
    }
    std::vector<std::FILE*> open;
    for (int i = 0; i < 200; ++i) {
        open.push_back(std::fopen(("f" + std::to_string(i)).c_str(), "r"));
        if (!open.back()) return 2;
    }
    int sum = 0, value;
    for (std::FILE* file : open) {
        if (std::fscanf(file, "%d", &value) == 1) sum += value;
        std::fclose(file);
    }
    std::printf("%d\n", sum);
}
