// SPDX-License-Identifier: MIT
// Each kind of value has its own alphabet, listed: what is not named here cannot reach a directive.
#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/script_forms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Letters and digits, and `extra`; the first one a letter, a digit or of `first_too`.
bool has_alphabet(std::string_view text, std::string_view extra, std::string_view first_too = "") {
  if (text.empty() || (!is_alnum(text[0]) && first_too.find(text[0]) == std::string_view::npos)) return false;
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_alnum(c) || extra.find(c) != std::string_view::npos; });
}

// Absolute; without what a scheduler would read as an option, a comment, a quote or an escape of its own.
bool is_path(std::string_view text) {
  if (text.empty() || text[0] != '/' || text.size() > 1024) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f &&
           std::string_view("\"'`#\\$;&|<>(){}*?!").find(c) == std::string_view::npos;
  });
}

bool are_hosts(std::string_view text) {
  const auto names = split(text, ',');
  return std::all_of(names.begin(), names.end(), [](std::string_view name) { return is_host_name(name); });
}

bool is_mail(std::string_view text) {
  const std::size_t at = text.find('@');
  if (text.size() > 254 || !has_alphabet(text.substr(0, at), "._+-")) return false;
  return at == std::string_view::npos || has_alphabet(text.substr(at + 1), ".-");
}

// "1234", "15_3", "0.server", "3[].server", "3[0].server"
bool is_job_id(std::string_view text) {
  const bool digit_first = !text.empty() && text[0] >= '0' && text[0] <= '9';
  return digit_first && text.size() <= 255 && has_alphabet(text, "._-[]");
}

struct CheckedValue {
  bool good;
  std::string_view allowed;
};

CheckedValue check(ValueKind kind, std::string_view text) {
  switch (kind) {
    case ValueKind::job_name:
      return {text.size() <= 64 && has_alphabet(text, "._+-"),
              "1 to 64 of letters, digits and . _ + -, a letter or digit first"};
    case ValueKind::name:
      return {text.size() <= 64 && has_alphabet(text, "._@+-", "_"),
              "1 to 64 of letters, digits and . _ @ + -, a letter, digit or _ first"};
    case ValueKind::resource:
      return {text.size() <= 256 && has_alphabet(text, "._=:,&|*()[]-", "_(["),
              "1 to 256 of letters, digits and . _ = : , & | * ( ) [ ] -"};
    case ValueKind::path:
      return {is_path(text), "an absolute path without blanks, quotes, #, \\, $ or other signs of the shell"};
    case ValueKind::hosts:
      return {are_hosts(text), "names of hosts, joined by commas: n1,n2"};
    case ValueKind::mail:
      return {is_mail(text), "an address: name@example.org"};
    case ValueKind::job_id:
      return {is_job_id(text), "a job id as the scheduler prints it: 1234, 15_3, 0.server"};
  }
  return {false, ""};
}

std::string render_array_part(const ArrayRange& part, bool is_list) {
  if (is_list && part.first == part.last) return std::to_string(part.first);
  std::string text = fmt::format("{}-{}", part.first, part.last);
  if (part.step > 1) text += fmt::format(":{}", part.step);
  return text;
}

}  // namespace

std::string directive_value(ValueKind kind, std::string_view text, std::string_view key,
                            std::string_view origin) {
  const CheckedValue checked = check(kind, text);
  if (checked.good) return std::string(text);
  throw Error(ErrorKind::request,
              {fmt::format("{}: '{}' cannot be in a directive of the job script", key, printable(text, 60)),
               std::string(origin.empty() ? key : origin), fmt::format("{}", checked.allowed)});
}

std::string verbatim_directive(std::string_view text, std::string_view origin) {
  const bool has_control = std::any_of(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!has_control && text.size() > 1 && text[0] == '-' && text.size() <= 4096) return std::string(text);
  throw Error(ErrorKind::request,
              {fmt::format("'{}' is no directive: one line, beginning with '-'", printable(text, 60)),
               std::string(origin), "--exclude=n7, without #SBATCH or #PBS"});
}

std::string application_directive(const JobSpec& job, const templates::SiteProfile& site,
                                  std::string_view otherwise) {
  std::string form(site.application_directive.empty() ? otherwise : site.application_directive);
  const std::string value = directive_value(ValueKind::name, job.application, "application");
  const std::size_t at = form.find("{}");
  if (at == std::string::npos) {
    throw Error(ErrorKind::request,
                {fmt::format("application_directive '{}' has no {{}} for the code", printable(form, 60)),
                 site.file.empty() ? site.name : site.file, "application_directive: \"-A {}\""});
  }
  return verbatim_directive(form.replace(at, 2, value), site.file.empty() ? "application" : site.file);
}

std::string output_path(const JobSpec& job, const JobDirectory& dir) {
  if (job.output.empty()) return directive_value(ValueKind::path, dir.output(), "the job's directory");
  const std::string path = job.output[0] == '/' ? job.output : job.workdir + "/" + job.output;
  return directive_value(ValueKind::path, path, "output");
}

std::string render_memory(std::uint64_t bytes, std::string_view mega, std::string_view giga) {
  const std::uint64_t whole = 1u << 30;
  if (bytes % whole == 0) return fmt::format("{}{}", bytes / whole, giga);
  return fmt::format("{}{}", bytes / (1u << 20) + (bytes % (1u << 20) != 0 ? 1 : 0), mega);
}

std::uint64_t array_tasks(const ArrayRange& array) {
  std::uint64_t tasks = (array.last - array.first) / array.step + 1;
  for (const ArrayRange& part : array.more) tasks += array_tasks(part);
  return tasks;
}

std::string render_array(const ArrayRange& array) {
  const bool is_list = !array.more.empty();
  std::string text = render_array_part(array, is_list);
  for (const ArrayRange& part : array.more) text += "," + render_array_part(part, is_list);
  if (array.max_parallel > 0) text += fmt::format("%{}", array.max_parallel);
  return text;
}

}  // namespace ddlrun::schedulers
