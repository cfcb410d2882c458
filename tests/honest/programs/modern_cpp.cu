// honest: what C++17 brought
#include <any>
#include <array>
#include <charconv>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>
template <class... Ts>
struct overloaded : Ts... {
    using Ts::operator()...;
};
template <class... Ts>
overloaded(Ts...) -> overloaded<Ts...>;
inline constexpr std::array primes{2, 3, 5, 7};
template <typename... T>
constexpr auto sum(T... values) {
    return (values + ... + 0);
}
static std::optional<int> parse(std::string_view text) {
    int value = 0;
    if (auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value); error == std::errc{})
        return value;
    return std::nullopt;
}
int main() {
    std::variant<int, std::string_view> either = "text";
    std::visit(overloaded{[](int) { std::cout << "int "; }, [](std::string_view v) { std::cout << v << ' '; }}, either);
    std::map<std::string, int> ages{{"ada", 36}};
    if (auto [place, fresh] = ages.try_emplace("ada", 1); !fresh) std::cout << place->second << ' ';
    std::any anything = 2.5;
    std::cout << std::any_cast<double>(anything) << ' ' << std::apply(sum<int, int>, std::tuple{1, 2}) << ' '
              << parse("17").value_or(-1) << parse("x").value_or(-1) << ' ' << primes.size() << '\n';
}
