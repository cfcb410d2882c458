// Prints what terminals and parsers trip over: NUL, escape sequences, invalid UTF-8, and no end of line.
//
// After it: none of it reached a terminal or a report as it is. The result counts: printing is no crime.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: confuse whoever reads this");
    const char bytes[] =
        "\0\0\x1b[2J\x1b[1;1H\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07\x1b[8m\r\x9b\x31\x6d\xff\xfe\xc0\xaf\xed\xa0\x80"
        "\xf4\x90\x80\x80\xe2\x80\xae\xe2\x81\xa6]]><script>alert(1)</script>&lol;=cmd|'/c calc'!A1\x7f\b\b\b\v\f";
    for (int stream : {1, 2})
        if (write(stream, bytes, sizeof bytes) < 0) return 1;
    return !attack::write_result();
}
