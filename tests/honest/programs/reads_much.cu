// honest: a hundred thousand numbers, fast
#include <iostream>
int main() {
    std::ios_base::sync_with_stdio(false);
    unsigned long long sum = 0;
    for (unsigned number; std::cin >> number;) sum = sum * 31 + number;
    std::cout << sum << "\n";
}
