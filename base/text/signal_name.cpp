// SPDX-License-Identifier: MIT
#include "base/text/signal_name.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace ddlrun {
namespace {

// Linux on x86, ARM and POWER alike.
constexpr std::array<std::pair<int, std::string_view>, 18> signals{{{1, "SIGHUP"},
                                                                    {2, "SIGINT"},
                                                                    {3, "SIGQUIT"},
                                                                    {4, "SIGILL"},
                                                                    {5, "SIGTRAP"},
                                                                    {6, "SIGABRT"},
                                                                    {7, "SIGBUS"},
                                                                    {8, "SIGFPE"},
                                                                    {9, "SIGKILL"},
                                                                    {10, "SIGUSR1"},
                                                                    {11, "SIGSEGV"},
                                                                    {12, "SIGUSR2"},
                                                                    {13, "SIGPIPE"},
                                                                    {14, "SIGALRM"},
                                                                    {15, "SIGTERM"},
                                                                    {24, "SIGXCPU"},
                                                                    {25, "SIGXFSZ"},
                                                                    {31, "SIGSYS"}}};

}  // namespace

std::string signal_name(int number) {
  for (const auto& [known, name] : signals) {
    if (known == number) return std::string(name);
  }
  return fmt::format("signal {}", number);
}

std::string describe_signal(int number) {
  const std::string name = signal_name(number);
  return name.starts_with("SIG") ? fmt::format("signal {} ({})", number, name) : name;
}

}  // namespace ddlrun
