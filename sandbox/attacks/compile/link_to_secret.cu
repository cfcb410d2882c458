// Is handed in as a link to a file of this machine; what stands here is not even looked at.
//
// After it: the link was not followed, or what it leads to came back in no message.
int main() {}
