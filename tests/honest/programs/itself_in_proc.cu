// honest: what it may know of itself: its status, its name, its descriptors
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
int main() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word && word != "VmRSS:") {
    }
    long kilobytes = 0;
    status >> kilobytes;
    int open = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++open;
    std::cout << (kilobytes > 100) << (open >= 3) << (std::filesystem::read_symlink("/proc/self/exe").has_filename()) << '\n';
}
