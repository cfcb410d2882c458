// honest: a hundred and fifty thousand nodes in maps, lists and strings
#include <iostream>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
int main() {
    std::map<int, std::string> ordered;
    std::unordered_map<std::string, int> hashed;
    std::list<int> list;
    for (int i = 0; i < 50000; ++i) {
        ordered[(i * 7919) % 50021] = std::to_string(i);
        hashed[std::to_string(i)] = i;
        list.push_front(i);
    }
    std::cout << ordered.size() + hashed.size() + list.size() << '\n';
}
