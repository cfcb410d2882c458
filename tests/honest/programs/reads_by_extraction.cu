// honest: numbers by >>, to the end of the input
#include <iostream>
int main() {
    long long sum = 0, number, count = 0;
    while (std::cin >> number) sum += number, ++count;
    std::cout << count << " numbers, sum " << sum << '\n';
}
