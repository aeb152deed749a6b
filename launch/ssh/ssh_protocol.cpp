// SPDX-License-Identifier: MIT
#include "launch/ssh/ssh_protocol.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

namespace ddlrun::launch {

namespace {

constexpr std::size_t longest_head = 64;
constexpr std::size_t most_noise = 256u << 10;
constexpr std::string_view handshake_prefix = "ddlrun-start ready ";

constexpr std::array<std::pair<SshMessageType, std::string_view>, 13> wire_words{{
    {SshMessageType::spec, "spec"},
    {SshMessageType::start, "start"},
    {SshMessageType::input, "input"},
    {SshMessageType::signal, "signal"},
    {SshMessageType::end, "end"},
    {SshMessageType::stop, "stop"},
    {SshMessageType::prepared, "prepared"},
    {SshMessageType::refused, "refused"},
    {SshMessageType::out, "out"},
    {SshMessageType::err, "err"},
    {SshMessageType::ended, "ended"},
    {SshMessageType::ack, "ack"},
    {SshMessageType::heartbeat, "heartbeat"},
}};

std::string_view name_of(SshMessageType word) {
  for (const auto& [known, name] : wire_words) {
    if (known == word) return name;
  }
  return "?";
}

std::optional<SshMessageType> word_named(std::string_view name) {
  for (const auto& [word, known] : wire_words) {
    if (known == name) return word;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_message(std::string_view header) {
  throw Error(ErrorKind::internal, {"what arrives is no message of ddlrun's", printable(header, 80),
                                    "the same with ssh's -v, and report both outputs"});
}

struct SshMessageHeader {
  SshMessage message;
  std::size_t length = 0;
};

SshMessageHeader parse_message_header(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() != 4) refuse_message(line);
  const auto word = word_named(words[0]);
  const auto number = parse_unsigned(words[1], UINT32_MAX);
  const auto value = parse_unsigned(words[2], UINT32_MAX);
  const auto length = parse_unsigned(words[3], max_message_bytes);
  if (!word || !number || !value || !length) refuse_message(line);
  return {{*word, static_cast<std::uint32_t>(*number), static_cast<std::uint32_t>(*value), {}},
          static_cast<std::size_t>(*length)};
}

}  // namespace

std::string render_ssh_message(const SshMessage& message) {
  return fmt::format("{} {} {} {}\n{}", name_of(message.word), message.number, message.value,
                     message.bytes.size(), message.bytes);
}

void SshMessageReader::feed(std::string_view bytes, const Sink& sink) {
  rest_ += bytes;
  while (take_one(sink)) {
  }
  rest_.erase(0, at_);
  at_ = 0;
}

bool SshMessageReader::take_one(const Sink& sink) {
  const std::string_view text = std::string_view(rest_).substr(at_);
  const std::size_t newline = text.substr(0, longest_head).find('\n');
  if (newline == std::string_view::npos) {
    if (text.size() >= longest_head) refuse_message(text.substr(0, longest_head));
    return false;
  }
  SshMessageHeader header = parse_message_header(text.substr(0, newline));
  if (text.size() - newline - 1 < header.length) return false;
  header.message.bytes = text.substr(newline + 1, header.length);
  at_ += newline + 1 + header.length;
  sink(std::move(header.message));
  return true;
}

std::string handshake_line(std::string_view build_id) {
  return fmt::format("{}{}\n", handshake_prefix, build_id);
}

HandshakeReader::State HandshakeReader::feed(std::string_view bytes) {
  noise_ += bytes;
  for (std::size_t at = 0; (at = noise_.find(handshake_prefix, at)) != std::string::npos; ++at) {
    const std::size_t end = noise_.find('\n', at);
    if (end == std::string::npos) break;
    if (at > 0 && noise_[at - 1] != '\n') continue;
    build_id_ = std::string(trim(
        std::string_view(noise_).substr(at + handshake_prefix.size(), end - at - handshake_prefix.size())));
    rest_ = noise_.substr(end + 1);
    noise_.erase(at);
    return found;
  }
  return noise_.size() > most_noise ? failed : wanted;
}

}  // namespace ddlrun::launch
