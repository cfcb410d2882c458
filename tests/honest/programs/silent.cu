// honest: no output at all, and input that nobody reads
int main() {}
