// SPDX-License-Identifier: MIT
#include "doctor/gather/sysroot_files.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/parse/hex.hpp"

#include <charconv>

namespace ddlrun::doctor {

std::optional<std::string> SysrootFiles::read(std::string_view path, std::uint64_t max_bytes) const {
  try {
    return context_.system.files.read(at(path), max_bytes);
  } catch (const Error&) {
    return std::nullopt;  // not there is an answer here, and the commonest one
  }
}

std::optional<std::string> SysrootFiles::line(std::string_view path) const {
  const auto text = read(path, 4096);
  return text ? std::optional(std::string(trim(*text))) : std::nullopt;
}

std::optional<std::uint64_t> SysrootFiles::number(std::string_view path) const {
  const auto text = line(path);
  return text ? parse_unsigned(*text) : std::nullopt;
}

std::optional<std::uint64_t> SysrootFiles::hex_number(std::string_view path) const {
  const auto text = line(path);
  return text ? parse_hex(*text) : std::nullopt;
}

std::vector<std::string> SysrootFiles::list(std::string_view dir) const {
  return context_.kernel.list_directory(at(dir));
}

std::optional<std::string> SysrootFiles::link(std::string_view path) const {
  return context_.kernel.read_link(at(path));
}

bool SysrootFiles::exists(std::string_view path) const {
  return context_.kernel.file_info(at(path), true).has_value();
}

std::string_view SysrootFiles::access(std::string_view path) const {
  if (!exists(path)) return "missing";
  const std::string full = at(path);
  const bool ok =
      context_.kernel.may_access(full, Access::read) && context_.kernel.may_access(full, Access::write);
  return ok ? "rw" : "no access";
}

void set_line(Facts& facts, std::string_view name, const std::optional<std::string>& line) {
  if (line) facts.set(name, std::string_view(*line).substr(0, 1024));
}

}  // namespace ddlrun::doctor
