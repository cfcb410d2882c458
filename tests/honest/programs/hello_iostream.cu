// honest: the first program of every course
#include <iostream>
int main() {
    std::cout << "Hello, world!" << std::endl;
}
