// honest: no output at all, and input that is never read
int main() {}
