// SPDX-License-Identifier: MIT
#include "launch/rank/control_line.hpp"

namespace ddlrun::launch {

std::string_view without_tag(std::string_view text) {
  std::string_view body = text;
  if (!body.empty() && body.back() == ' ') body.remove_suffix(1);
  constexpr std::string_view tail = "]<stderr>:";
  if (body.size() < tail.size() || body.substr(body.size() - tail.size()) != tail) return text;
  const std::size_t open = body.rfind('[');
  return open == std::string_view::npos ? text : text.substr(0, open);
}

Marked cut_marker(std::string_view line, std::string_view lead) {
  const std::size_t at = line.find(lead);
  if (at == std::string_view::npos) return {std::nullopt, std::string(line)};
  const std::string_view body = line.substr(at + lead.size());
  const std::size_t end = body.find(';');
  if (end == std::string_view::npos) return {std::nullopt, std::string(line)};
  std::string_view after = body.substr(end + 1);
  const std::size_t padding = after.find_first_not_of(' ');  // of pad_to_frame()
  if (padding != std::string_view::npos && after[padding] == '\n') after.remove_prefix(padding + 1);
  return {body.substr(0, end), std::string(without_tag(line.substr(0, at))) + std::string(after)};
}

std::optional<std::string_view> value_of(std::string_view word, std::string_view key) {
  if (word.size() <= key.size() || word.substr(0, key.size()) != key || word[key.size()] != '=') {
    return std::nullopt;
  }
  return word.substr(key.size() + 1);
}

}  // namespace ddlrun::launch
