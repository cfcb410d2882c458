// Says that its lines are those of another file: compilers quote the line of the file that is complained about.
//
// After it: no line of that file is in a message.
int main() {
#line 1 "/canary/file"
    return not_declared_here;
#line 1 "/etc/passwd"
    return not_declared_there;
}
