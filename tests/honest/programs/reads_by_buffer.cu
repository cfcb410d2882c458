// honest: the whole input as one stream buffer
#include <iostream>
int main() {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    std::cout << std::cin.rdbuf();
}
