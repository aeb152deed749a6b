// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_names.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view name_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

bool is_ipv4(std::string_view name) {
  const auto parts = split(name, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           // 010 is octal to Open MPI, 08 is a name
           return parse_unsigned(part, 255).has_value() && (part.size() == 1 || part[0] != '0');
         });
}

bool is_keyword(std::string_view name) {
  static constexpr std::array<std::string_view, 6> keywords{"rank",     "slot",      "slots",
                                                            "username", "user-name", "user_name"};
  return std::find(keywords.begin(), keywords.end(), name) != keywords.end();
}

std::string_view without_user(std::string_view name) {
  const auto at = name.rfind('@');
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

std::optional<NameProblem> check_number(std::string_view name) {
  if (name.size() > 1 && name[0] == '0') {
    return NameProblem{
        "digits-only-name", Severity::error,
        fmt::format("\"{}\" is read as a number: to Open MPI the host is called {}", name, folded_name(name)),
        "use a name with a letter in it, or the host's IPv4 address", ""};
  }
  if (!parse_unsigned(name, 2147483647)) {
    return NameProblem{
        "digits-only-name", Severity::error,
        fmt::format("\"{}\" is read as a number and is too large for one", printable(name, 40)),
        "use a name with a letter in it, or the host's IPv4 address", ""};
  }
  return NameProblem{
      "digits-only-name", Severity::warning,
      fmt::format("the name \"{}\" is only digits: ssh and the resolver take it for an address", name),
      "use a name with a letter in it, or the host's IPv4 address", ""};
}

std::optional<NameProblem> check_plain_host_name(std::string_view name, int mpi_major) {
  const auto bad = name.find_first_not_of(name_letters);
  if (name.empty() || bad != std::string_view::npos || name[0] == '-' || name[0] == '.' ||
      name.size() > 253) {
    return NameProblem{"bad-host-name", Severity::error,
                       fmt::format("\"{}\" is not a host name", printable(name, 64)),
                       "a host name has letters, digits, '-' and '.', and begins with a letter or digit", ""};
  }
  if (is_ipv4(name)) return std::nullopt;
  if (name.find('.') != std::string_view::npos &&
      name.find_first_not_of("0123456789.") == std::string_view::npos) {
    return NameProblem{
        "bad-host-name", Severity::error,
        fmt::format("\"{}\" is not an IPv4 address; Open MPI cuts it at the first dot", printable(name, 64)),
        "four numbers from 0 to 255 without leading zeros, or a host name", ""};
  }
  if (is_digits(name)) return check_number(name);
  if (is_keyword(name)) {
    return NameProblem{
        "keyword-as-name", Severity::error,
        fmt::format("\"{}\" is a word of the rankfile language; Open MPI refuses it as a host", name),
        "use another name of that host, or its IPv4 address", ""};
  }
  if (name.find('.') != std::string_view::npos && digits.find(name[0]) != std::string_view::npos) {
    return NameProblem{
        "digit-first-fqdn", Severity::error,
        fmt::format("\"{}\" has a dot and begins with a digit; Open MPI refuses it as a syntax error",
                    printable(name, 64)),
        "use the name before the first dot; Open MPI cuts names there anyway",
        std::string(name.substr(0, name.find('.')))};
  }
  if (mpi_major < 5 && folded_name(name).find('_') != std::string_view::npos) {
    return NameProblem{
        "underscore-in-name", Severity::error,
        fmt::format("\"{}\" has an underscore: Open MPI maps the ranks, then ends with \"illegal "
                    "character in the following node name\" (status 255)",
                    printable(name, 64)),
        "use an alias without '_', or the host's IPv4 address", ""};
  }
  return std::nullopt;
}

}  // namespace

bool is_relative_name(std::string_view name) {
  return name.size() > 2 && name[0] == '+' && name[1] == 'n' && is_digits(name.substr(2));
}

std::string_view folded_name(std::string_view name) {
  name = without_user(name);
  if (is_ipv4(name)) return name;
  if (is_digits(name)) {
    const auto first = name.find_first_not_of('0');
    return first == std::string_view::npos ? name.substr(name.size() - 1) : name.substr(first);
  }
  const auto dot = name.find('.');
  return dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot);
}

// Measured with Open MPI 4.1.4 and 5.0.7. 5 takes "+n0" without a resource manager too, and '_'.
std::optional<NameProblem> check_host_name(std::string_view name, int mpi_major) {
  if (is_relative_name(name)) {
    if (mpi_major >= 5) return std::nullopt;
    return NameProblem{
        "relative-host", Severity::error,
        fmt::format("\"{}\" counts the hosts of an allocation; without a resource manager mpirun "
                    "refuses it, even with a hostfile",
                    name),
        "write the host's name", ""};
  }
  const auto at = name.find('@');
  if (at == std::string_view::npos) return check_plain_host_name(name, mpi_major);
  const std::string_view host = name.substr(at + 1);
  if (auto problem = check_plain_host_name(host, mpi_major)) {
    if (!problem->corrected.empty())
      problem->corrected = fmt::format("{}@{}", name.substr(0, at), problem->corrected);
    return problem;
  }
  if (at == 0) {
    return NameProblem{"user-in-name", Severity::error,
                       fmt::format("\"{}\" has no user before the @", printable(name)), "leave the @ out",
                       std::string(host)};
  }
  return NameProblem{
      "user-in-name", Severity::warning,
      fmt::format("\"{}\" names a login: not every launcher of Open MPI uses it", printable(name)),
      "set the user in ~/.ssh/config and write the host alone", ""};
}

std::map<std::string, std::string> own_rankfile_names(const std::vector<std::string>& hosts,
                                                      const std::vector<std::string>& own_names) {
  const auto short_name = [](const std::string& name) { return name.substr(0, name.find('.')); };
  std::map<std::string, std::string> renamed;
  std::set<std::string> taken(hosts.begin(), hosts.end());
  for (std::size_t i = 0; i < hosts.size() && i < own_names.size(); ++i) {
    const std::string own = short_name(own_names[i]);
    if (own.empty() || own == short_name(hosts[i])) continue;
    if (!is_host_name(own) || check_host_name(own, 5) || !taken.insert(own).second) return {};
    renamed[hosts[i]] = own;
  }
  return renamed;
}

std::string rename_rankfile_hosts(std::string_view text, const std::map<std::string, std::string>& names) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    const std::size_t end = line.find(' ', equals == line.npos ? line.size() : equals);
    const auto found = line.starts_with("rank ") && end != line.npos
                           ? names.find(std::string(line.substr(equals + 1, end - equals - 1)))
                           : names.end();
    lines.emplace_back(line);
    if (found != names.end()) lines.back().replace(equals + 1, end - equals - 1, found->second);
  }
  return join(lines, "\n");
}

}  // namespace ddlrun::rankfile
