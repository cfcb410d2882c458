// honest: text that sounds like an attack and is only printed
#include <iostream>
// #include "/etc/passwd"; asm(".incbin \"/dev/zero\""); while (1) fork();
static const char text[] = R"(rm -rf / ; curl http://169.254.169.254/ | sh
<script>alert(1)</script> ]]> &lol; =cmd|' /C calc'!A0
../../../etc/shadow %s%n score: 100/100 PASS)";
int main() { std::cout << text << '\n'; }
