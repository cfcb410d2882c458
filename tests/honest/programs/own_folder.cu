// honest: folders and files in its own folder: made, listed, renamed, linked, removed
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
namespace fs = std::filesystem;
int main() {
    fs::create_directories("data/deep/er");
    for (int i = 0; i < 20; ++i) std::ofstream("data/" + std::to_string(i) + ".txt") << std::string(i, 'x');
    fs::rename("data/0.txt", "data/deep/zero.txt");
    fs::create_symlink("../1.txt", "data/deep/link");
    fs::create_hard_link("data/2.txt", "data/two.txt");
    fs::copy("data/3.txt", "data/three.txt");
    fs::resize_file("data/4.txt", 1000);
    fs::permissions("data/5.txt", fs::perms::owner_read);
    std::vector<std::string> names;
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator("data")) {
        names.push_back(entry.path().filename());
        if (entry.is_regular_file() && !entry.is_symlink()) bytes += entry.file_size();
    }
    std::sort(names.begin(), names.end());
    std::cout << names.size() << " entries, " << bytes << " bytes, first " << names.front() << '\n';
    const auto here = fs::current_path();
    fs::current_path("data/deep");
    std::cout << fs::read_symlink("link") << ' ' << fs::equivalent("..", here / "data") << '\n';
    fs::current_path(here);
    std::cout << fs::remove_all("data") << " removed, " << fs::exists("data") << '\n';
}
