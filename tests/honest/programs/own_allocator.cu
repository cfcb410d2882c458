// honest: operators new and delete of a class, an allocator for containers, a memory resource
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <new>
#include <vector>
static int balance = 0;
struct Node {
    int value = 7;
    static void* operator new(std::size_t size) {
        ++balance;
        if (void* memory = std::malloc(size)) return memory;
        throw std::bad_alloc();
    }
    static void operator delete(void* memory) {
        --balance;
        std::free(memory);
    }
};
template <typename T>
struct Counting : std::allocator<T> {
    using value_type = T;
    template <typename U>
    struct rebind {
        using other = Counting<U>;
    };
    T* allocate(std::size_t count) {
        ++balance;
        return static_cast<T*>(std::malloc(count * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t) {
        --balance;
        std::free(memory);
    }
};
int main() {
    {
        std::vector<Node*> nodes{new Node, new Node};
        std::vector<double, Counting<double>> numbers(100, 0.5);
        for (Node* node : nodes) delete node;
        alignas(16) unsigned char room[64];
        Node* placed = ::new (room) Node;
        std::printf("%d ", placed->value + static_cast<int>(numbers[99] * 2));
    }
    std::pmr::monotonic_buffer_resource resource(1 << 16);
    std::pmr::vector<int> in_it(1000, 1, &resource);
    std::printf("%d %zu\n", balance, in_it.size());
}
