// honest: writes its result to a file, in text and in binary
#include <fstream>
#include <vector>
int main() {
    std::ofstream("result.txt") << "answer 42\n";
    std::vector<float> numbers{1.5f, -2.0f};
    std::ofstream("result.bin", std::ios::binary).write(reinterpret_cast<const char*>(numbers.data()), 8);
}
