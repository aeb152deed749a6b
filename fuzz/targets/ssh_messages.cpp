// SPDX-License-Identifier: MIT
// The ssh launcher's protocol: the messages do not depend on where a portion ends, and are read as written.
#include "fuzz/fuzz_target.hpp"
#include "launch/ssh/ssh_protocol.hpp"

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::launch;

namespace {

struct Received {
  std::vector<SshMessage> messages;
  bool refused = false;
  bool operator==(const Received&) const = default;
};

Received receive(std::string_view bytes, std::size_t portion) {
  Received received;
  SshMessageReader reader;
  const auto feed = [&](std::string_view part) {
    reader.feed(part, [&](SshMessage&& message) { received.messages.push_back(std::move(message)); });
    return true;
  };
  for (; !bytes.empty() && !received.refused; bytes.remove_prefix(std::min(portion, bytes.size())))
    received.refused = !fuzz::accepted([&] { return feed(bytes.substr(0, portion)); });
  return received;
}

}  // namespace

DDLRUN_FUZZ_TARGET(ssh_messages) {
  const std::size_t portion = 1 + fuzz::take_byte(input);
  const Received whole = receive(input, SIZE_MAX);
  fuzz::require(receive(input, portion) == whole, "messages do not depend on where a portion ends", input);
  std::string text;
  for (const SshMessage& message : whole.messages) text += render_ssh_message(message);
  fuzz::require(receive(text, portion).messages == whole.messages, "messages are read as written", text);

  HandshakeReader by_portion, at_once;
  const auto state = at_once.feed(input);
  auto state_by_portion = HandshakeReader::wanted;
  for (; !input.empty() && state_by_portion == HandshakeReader::wanted;
       input.remove_prefix(std::min(portion, input.size())))
    state_by_portion = by_portion.feed(input.substr(0, portion));
  fuzz::require(state == state_by_portion && at_once.build_id() == by_portion.build_id(),
                "the handshake does not depend on where a portion ends");
}
