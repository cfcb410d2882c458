// honest: iterators over the input, an algorithm, and iterators over the output
#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <vector>
int main() {
    std::vector<int> numbers(std::istream_iterator<int>(std::cin), {});
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
    std::copy(numbers.begin(), numbers.end(), std::ostream_iterator<int>(std::cout, " "));
}
