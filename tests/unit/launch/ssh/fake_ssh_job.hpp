// SPDX-License-Identifier: MIT
// A job of the ssh launcher on two hosts without processes: each host's daemon shakes hands and prepares at
// once, and does with its ranks what the test wants.
#pragma once

#include "base/os/self_executable.hpp"
#include "launch/ssh/ssh_launcher.hpp"
#include "tests/support/fake_child_pool.hpp"
#include "tests/support/fake_system.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::tests {

using namespace launch;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline SshLaunchSpec two_hosts() {
  SshLaunchSpec spec;
  spec.rank_map.kinds = {{{}, {}}};
  spec.rank_map.hosts = {{"h1", 0, {0, 1}}, {"h2", 0, {2, 3}}};
  RankGroup all;
  all.ranks = 4;
  spec.rank_map.groups = {all};
  spec.program.program = {"train"};
  return spec;
}

struct FakeSshJob {
  FakeSystem fake;
  System system = fake.interfaces();
  FakeChildPool pool;
  SshLaunchSpec spec = two_hosts();
  std::vector<SshMessage> messages;  // to all hosts, in order
  std::vector<std::size_t> receivers;
  std::function<void(std::size_t child, const SshMessage& message)> on_message = [](std::size_t,
                                                                                    const SshMessage&) {};
  std::set<std::size_t> silent;  // children that neither shake hands nor answer

  FakeSshJob() {
    pool.on_start = [this](std::size_t child) {
      if (!silent.contains(child)) pool.print(child, handshake_line(read_own_binary().build_id));
    };
    pool.on_input = [this](std::size_t child) {
      std::string& bytes = pool.children[child].in;
      SshMessageReader reader;
      reader.feed(bytes, [&](SshMessage&& message) {
        messages.push_back(message);
        receivers.push_back(child);
        if (message.word == SshMessageType::spec && !silent.contains(child))
          reply(child, {SshMessageType::prepared, 0, 0, ""});
        on_message(child, message);
      });
      bytes.clear();
    };
  }
  int run() { return SshLauncher(system, pool, spec).run(); }
  void reply(std::size_t child, const SshMessage& message, milliseconds delay = milliseconds(0)) {
    pool.print(child, render_ssh_message(message), delay);
  }
  void end_ranks(std::size_t child, std::uint32_t value, milliseconds delay = milliseconds(0)) {
    for (const std::uint32_t rank : spec.rank_map.hosts[child].ranks)
      reply(child, {SshMessageType::ended, rank, value, ""}, delay);
    pool.exit(child, 0, delay + milliseconds(1));
  }
  std::size_t count(SshMessageType word) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(messages, [&](const SshMessage& message) { return message.word == word; }));
  }
  bool says(const std::string& text) const { return pool.err.find(text) != std::string::npos; }
};

}  // namespace ddlrun::tests
