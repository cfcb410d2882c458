// honest: getchar, ungetc and peek
#include <cstdio>
#include <iostream>
int main() {
    int letters = 0, c;
    while ((c = std::getchar()) != EOF && c != '\n') letters += c != ' ';
    std::ungetc('!', stdin);
    std::printf("%d %c\n", letters, std::getchar());
    std::fflush(stdout);
    std::cout << std::cin.peek() << ' ' << std::cin.eof() << '\n';
}
