// honest: the same in C, without a line feed at the end
#include <stdio.h>
int main(void) {
    printf("Hello, %s!", "world");
    return 0;
}
