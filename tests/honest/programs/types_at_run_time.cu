// honest: virtual bases, casts, type names, pointers to members
#include <iostream>
#include <memory>
#include <typeinfo>
#include <vector>
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Named : virtual Shape {
    const char* name = "named";
};
struct Square : Named, virtual Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};
int main() {
    std::vector<std::shared_ptr<Shape>> shapes{std::make_shared<Square>(3.0)};
    double Square::*member = &Square::side;
    for (const auto& shape : shapes)
        if (auto square = std::dynamic_pointer_cast<Square>(shape))
            std::cout << square.get()->*member << ' ' << shape->area() << ' ' << (typeid(*shape) == typeid(Square)) << '\n';
}
