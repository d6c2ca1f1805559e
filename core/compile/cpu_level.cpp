#include "core/compile/cpu_level.h"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace uop {
namespace {

constexpr std::array<std::string_view, 4> kLevels = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

#if defined(__x86_64__)
/// One bit of ecx of a cpuid leaf. For instructions without state of their own; those with (AVX, AVX-512) go through
/// __builtin_cpu_supports, which also asks whether the operating system saves that state.
bool has_ecx(unsigned leaf, unsigned bit) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (c >> bit & 1) != 0;
}

int machine_level() {
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") &&
                  __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                  __builtin_cpu_supports("popcnt") && has_ecx(1, 13) /* cx16 */ && has_ecx(0x80000001, 0) /* lahf */;
  const bool v3 = v2 && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                  has_ecx(1, 29) /* f16c */ && has_ecx(1, 22) /* movbe */ && has_ecx(0x80000001, 5) /* lzcnt */;
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? 3 : v3 ? 2 : v2 ? 1 : 0;
}
#elif defined(__aarch64__)
constexpr std::string_view kBaseline = "armv8-a";
#else
constexpr std::string_view kBaseline = "generic";
#endif

/// Position among the x86-64 levels, or -1.
std::ptrdiff_t rank(std::string_view level) {
  const auto at = std::find(kLevels.begin(), kLevels.end(), level);
  return at == kLevels.end() ? -1 : at - kLevels.begin();
}

}  // namespace

std::string machine_cpu_level() {
#if defined(__x86_64__)
  return std::string(kLevels[static_cast<std::size_t>(machine_level())]);
#else
  return std::string(kBaseline);
#endif
}

StatusOr<std::string> resolve_cpu_level(std::string_view option, const std::string& machine) {
  if (option == "native" || option == machine) return machine;
  if (rank(option) < 0)
    return invalid_argument("option cpu: unknown level '{}'; use native, x86-64, x86-64-v2, x86-64-v3 or x86-64-v4",
                            option);
  if (rank(option) > rank(machine))
    return invalid_argument("option cpu: {} is above what this machine has, which is {}; use native or a lower level",
                            option, machine);
  return std::string(option);
}

std::vector<std::string> cpu_flags(const std::string& level) {
  if (level == "generic") return {};
  std::vector<std::string> flags = {"-march=" + level};
  // Rendered vectors are as wide as the registers; without this gcc would split them in halves.
  if (level == "x86-64-v4") flags.push_back("-mprefer-vector-width=512");
  return flags;
}

}  // namespace uop
