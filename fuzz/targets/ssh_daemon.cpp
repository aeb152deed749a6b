// SPDX-License-Identifier: MIT
// The daemon of a host, without processes, given what the fuzzer sends in the launcher's place. It ends, and
// leaves no rank.
#define DOCTEST_CONFIG_DISABLE
#include "launch/ssh/ssh_daemon.hpp"

#include "fuzz/fuzz_target.hpp"
#include "launch/ssh/ssh_launch_spec.hpp"
#include "tests/support/fake_child_pool.hpp"
#include "tests/support/fake_system.hpp"

using namespace ddlrun;
using namespace ddlrun::launch;

DDLRUN_FUZZ_TARGET(ssh_daemon) {
  const unsigned choice = fuzz::take_byte(input);
  tests::FakeSystem fake;
  System system = fake.interfaces();
  tests::FakeChildPool pool;
  pool.reads_input = true;
  pool.on_signal = [&](std::size_t child, int signal) {
    if (child < pool.children.size() && (signal == 9 || (choice & 1U))) pool.end_by(child, signal);
  };
  SshHostSpec spec;
  spec.rank_map.kinds = {{{}, {}}};
  spec.rank_map.hosts = {{"h1", 0, {0, 1}}, {"h2", 0, {2, 3}}};
  spec.rank_map.groups.emplace_back().ranks = 4;
  spec.program.program = {"train"};
  if (choice & 2U)
    pool.type(render_ssh_message({SshMessageType::spec, choice % 8 / 4, 0, render_ssh_host_spec(spec)}));
  pool.type(std::string(input));
  pool.type("", std::chrono::milliseconds(100));  // the launcher is gone
  fuzz::accepted([&] { return SshDaemon(system, pool).run(); });
  for (const auto& child : pool.children)
    fuzz::require(!child.alive || !child.signals.empty(), "the daemon leaves no rank");
}
