// SPDX-License-Identifier: MIT
#include "doctor/diagnose/line_prefix.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/time_stamp.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

std::optional<std::uint32_t> rank_of(std::string_view digits) {
  const auto number = parse_unsigned(digits, 1u << 24);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
}

// "[1,0]<stderr>:", "[prterun-h1-77@1,0]<stdout>:" and "[0]<stderr>:" (Horovod's Gloo).
bool take_output_tag(LinePrefix& prefix) {
  const std::string_view text = prefix.text;
  const std::size_t close = text.find("]<std");
  if (text.empty() || text[0] != '[' || close == std::string_view::npos || close > 80) return false;
  const std::size_t colon = text.find(":", close);
  if (colon == std::string_view::npos || colon - close > 10) return false;
  std::size_t begin = close;
  while (begin > 1 && is_digit(text[begin - 1])) --begin;
  if (begin == close || (text[begin - 1] != '[' && text[begin - 1] != ',')) return false;
  prefix.rank = rank_of(text.substr(begin, close - begin));
  prefix.tag = RankTag::certain;
  prefix.text.remove_prefix(colon + 1);
  return true;
}

// "[rank0]:", "[Rank 3]" and "[0] ".
bool take_rank_in_brackets(LinePrefix& prefix) {
  std::string_view text = prefix.text;
  if (text.empty() || text[0] != '[') return false;
  text.remove_prefix(1);
  const bool named = text.starts_with("rank") || text.starts_with("Rank ");
  if (named) text.remove_prefix(text[0] == 'R' ? 5 : 4);
  const std::size_t digits = digits_at(text, 0);
  if (digits == 0 || digits > 8 || digits == text.size() || text[digits] != ']') return false;
  const std::string_view rest = text.substr(digits + 1);
  // Behind "[host:pid]" it is a line of a stack.
  if (!named && (!rest.starts_with(' ') || !prefix.host.empty())) return false;
  prefix.rank = rank_of(text.substr(0, digits));
  if (!named) prefix.tag = std::max(prefix.tag, RankTag::likely);
  prefix.text = rest.starts_with(':') ? rest.substr(1) : rest;
  skip_blanks(prefix.text);
  return true;
}

// "  3: " of srun -l.
bool take_srun_label(LinePrefix& prefix) {
  std::string_view text = prefix.text;
  skip_blanks(text);
  const std::size_t digits = digits_at(text, 0);
  if (digits == 0 || digits > 7 || !text.substr(digits).starts_with(": ")) return false;
  prefix.rank = rank_of(text.substr(0, digits));
  prefix.tag = std::max(prefix.tag, RankTag::likely);
  prefix.text = text.substr(digits + 2);
  return true;
}

// "[host:1234]" or "[host:1234:0:1234]", and then perhaps "[[123,0],0]".
bool take_host_and_pid(LinePrefix& prefix) {
  const std::string_view text = prefix.text;
  if (text.size() < 4 || text[0] != '[') return false;
  std::size_t end = 1;
  while (end < text.size() && is_name_byte(text[end])) ++end;
  const bool named = end > 1 && end < text.size() && text[end] == ':' && digits_at(text, end + 1) > 0;
  const std::size_t close = text.find(']');
  if (!named || close == std::string_view::npos || close > 300) return false;
  if (text.substr(end + 1, close - end - 1).find_first_not_of("0123456789:") != std::string_view::npos) {
    return false;
  }
  bool has_letter = false;
  for (const char c : text.substr(1, end - 1)) has_letter = has_letter || is_letter(c);
  if (!has_letter) return false;  // "[12:30]" is a time
  prefix.host = host_in(text.substr(1, end - 1));
  prefix.text.remove_prefix(close + 1);
  skip_blanks(prefix.text);
  if (prefix.text.starts_with("[[")) {
    const std::size_t name_end = prefix.text.find("] ");
    if (name_end == std::string_view::npos || name_end > 40) return true;
    // [[17227,0],0] is mpirun itself: its host is not the failing host.
    if (prefix.text.substr(0, name_end).ends_with(",0],0")) prefix.host.clear();
    prefix.text.remove_prefix(name_end + 2);
  }
  return true;
}

// "host:1234:1250 [0] misc/socket.cc:40 NCCL WARN ...": only what stands before the file.
bool take_nccl(LinePrefix& prefix) {
  const std::string_view text = prefix.text;
  std::size_t end = 0;
  while (end < text.size() && is_name_byte(text[end])) ++end;
  std::size_t at = end;
  for (int number = 0; number < 2; ++number) {
    if (at == 0 || at >= text.size() || text[at] != ':' || digits_at(text, at + 1) == 0) return false;
    at += 1 + digits_at(text, at + 1);
  }
  if (!text.substr(at).starts_with(" [")) return false;
  const std::size_t close = at + 2 + digits_at(text, at + 2);
  if (!text.substr(close).starts_with("] ") || text.find("NCCL ", close) > close + 120) return false;
  prefix.host = host_in(text.substr(0, end));
  prefix.text.remove_prefix(close + 2);
  return true;
}

// "MPICH ERROR [Rank 3] [job id 77.0] [Tue Jan 31 15:16:32 2023] [nid001774] - Abort(...) ..." of Cray MPICH.
bool take_cray_mpich(LinePrefix& prefix) {
  constexpr std::string_view head = "MPICH ERROR [Rank ", end = "] - ";
  const std::string_view text = prefix.text;
  if (!text.starts_with(head)) return false;
  const std::size_t close = text.find(end), digits = digits_at(text, head.size());
  if (close == std::string_view::npos || digits == 0) return false;
  const std::size_t open = text.rfind('[', close);
  prefix.rank = rank_of(text.substr(head.size(), digits));
  prefix.host = host_in(text.substr(open + 1, close - open - 1));
  prefix.text.remove_prefix(close + end.size());
  return true;
}

// "[proxy:0:1@host] " and "[mpiexec@host] " of hydra; mpiexec's host is not the failing one.
bool take_hydra(LinePrefix& prefix) {
  const std::string_view text = prefix.text;
  const bool of_proxy = text.starts_with("[proxy:");
  const std::size_t close = text.find("] "), at = text.find('@');
  if ((!of_proxy && !text.starts_with("[mpiexec@")) || close == std::string_view::npos || at > close)
    return false;
  if (of_proxy) prefix.host = host_in(text.substr(at + 1, close - at - 1));
  prefix.text.remove_prefix(close + 2);
  return true;
}

// "705.1s<tab>1504<tab>" of a Kaggle notebook: seconds and the number of the line.
bool take_notebook(LinePrefix& prefix) {
  const std::string_view text = prefix.text;
  const std::size_t mark = text.find("s\t"), digits = digits_at(text, std::min(mark, text.size()) + 2);
  if (mark == 0 || mark > 9 ||
      text.substr(0, mark).find_first_not_of("0123456789.") != std::string_view::npos)
    return false;
  if (digits == 0 || !text.substr(mark + 2 + digits).starts_with('\t')) return false;
  prefix.text.remove_prefix(mark + 3 + digits);
  return true;
}

// "worker_1  | " and "worker-1 | " of docker compose: a service and the number of its container.
bool take_compose(LinePrefix& prefix) {
  const std::string_view text = prefix.text;
  std::size_t end = 0;
  while (end < text.size() && is_name_byte(text[end])) ++end;
  const std::size_t bar = text.find_first_not_of(' ', end);
  if (end == 0 || bar == std::string_view::npos || bar == end || !text.substr(bar).starts_with("| "))
    return false;
  std::size_t number = end;
  while (number > 0 && is_digit(text[number - 1])) --number;
  if (number == end || number < 2 || (text[number - 1] != '_' && text[number - 1] != '-')) return false;
  prefix.text.remove_prefix(bar + 2);
  return true;
}

bool take_stamp(LinePrefix& prefix) {
  const auto found = read_stamp(prefix.text);
  if (!found) return false;
  prefix.stamp = found->stamp;
  prefix.text.remove_prefix(found->length);
  if (prefix.text.starts_with(": ")) prefix.text.remove_prefix(2);  // of TensorFlow
  skip_blanks(prefix.text);
  return true;
}

}  // namespace

bool is_name_byte(char byte) {
  return is_digit(byte) || is_letter(byte) || byte == '.' || byte == '-' || byte == '_';
}

bool is_earlier(const Moment& a, const Moment& b) {
  const bool by_time = a.stamp.kind != Stamp::Kind::none && a.stamp.kind == b.stamp.kind &&
                       a.stamp.microseconds != b.stamp.microseconds;
  return by_time ? a.stamp.microseconds < b.stamp.microseconds : a.sequence < b.sequence;
}

std::string_view host_in(std::string_view text) {
  const auto is_letter_or_digit = [](char c) { return is_digit(c) || is_letter(c); };
  while (!text.empty() && !is_letter_or_digit(text.front())) text.remove_prefix(1);
  while (!text.empty() && !is_letter_or_digit(text.back()) && text.back() != '_') text.remove_suffix(1);
  // In "[proxy:0:1@host]" of hydra the first word is no host.
  if (text == "proxy" || text == "mpiexec") return {};
  // A name, an address or USER@HOST; anything else would be a part of the commands that name the host.
  const bool is_name =
      std::all_of(text.begin(), text.end(), [](char c) { return is_name_byte(c) || c == ':' || c == '@'; });
  return is_name ? text : std::string_view();
}

std::optional<std::uint32_t> rank_in_text(std::string_view text) {
  constexpr std::string_view lead = "(rank ";
  const std::size_t at = text.find(lead);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + lead.size(), digits = digits_at(text, begin);
  if (digits == 0 || !text.substr(begin + digits).starts_with(" in comm 0)")) return std::nullopt;
  return rank_of(text.substr(begin, digits));
}

LinePrefix split_prefix(std::string_view line, std::uint32_t ranks) {
  LinePrefix prefix;
  prefix.text = line;
  for (int i = 0; i < 5; ++i) {  // they come one after another, in any order
    const auto rank_before = prefix.rank;
    const bool taken = take_output_tag(prefix) || take_stamp(prefix) || take_rank_in_brackets(prefix) ||
                       take_host_and_pid(prefix) || take_nccl(prefix) || take_cray_mpich(prefix) ||
                       take_hydra(prefix) || take_notebook(prefix) || take_compose(prefix) ||
                       take_srun_label(prefix);
    if (prefix.rank && *prefix.rank >= ranks) prefix.rank = rank_before;
    if (!taken) break;
  }
  return prefix;
}

namespace {

// "[1,2]<stderr>:", or "".
std::string_view output_tag(std::string_view line) {
  constexpr std::size_t longest = 100;
  const std::size_t close = line.find("]<std");
  if (!line.starts_with('[') || close > longest) return {};
  const std::size_t colon = line.find(">:", close);
  return colon > longest ? std::string_view() : line.substr(0, colon + 2);
}

}  // namespace

bool repeats_tag(std::string_view line) {
  const std::string_view tag = output_tag(line);
  return !tag.empty() && line.find(tag, tag.size()) != std::string_view::npos;
}

std::string without_repeated_tags(std::string_view line) {
  const std::string_view tag = output_tag(line);
  std::string plain(tag);
  if (tag.empty()) return std::string(line);
  for (line.remove_prefix(tag.size()); !line.empty();) {
    const std::size_t next = line.find(tag);
    plain += line.substr(0, next);
    line.remove_prefix(next == std::string_view::npos ? line.size() : next + tag.size());
  }
  return plain;
}

std::string strip_escapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::size_t escape = std::min(line.find('\x1b', i), line.size());
    plain.append(line, i, escape - i);
    i = escape + 1;
    if (i >= line.size()) break;
    if (line[i] == '[') {  // CSI: to its final byte
      ++i;
      while (i < line.size() && (line[i] < 0x40 || line[i] > 0x7e)) ++i;
    } else if (line[i] == ']') {  // OSC: to BEL or ESC
      while (i < line.size() && line[i] != '\a' && line[i] != '\x1b') ++i;
    }
  }
  return plain;
}

}  // namespace ddlrun::diagnose
