// SPDX-License-Identifier: MIT
// The ssh launcher against a hostile host, without processes: h1 shakes hands and then sends what the fuzzer
// wants, h2 is honest. The launch ends, and it is a success only if h1 has reported the success of each of
// its ranks.
#define DOCTEST_CONFIG_DISABLE
#include "fuzz/fuzz_target.hpp"
#include "tests/unit/launch/ssh/fake_ssh_job.hpp"

#include <set>

using namespace ddlrun;
using namespace ddlrun::launch;

DDLRUN_FUZZ_TARGET(ssh_launcher) {
  const unsigned choice = fuzz::take_byte(input);
  const std::string bytes(input);
  tests::FakeSshJob job;
  if (choice & 4U) {  // the ranks of h2 serve those of h1
    job.spec.rank_map.groups = {RankGroup{}, RankGroup{}};
    job.spec.rank_map.groups[0].ranks = job.spec.rank_map.groups[1].ranks =
        job.spec.rank_map.groups[1].first = 2;
    job.spec.rank_map.groups[1].is_service = true;
  }
  job.silent = {0};
  if (choice & 1U) job.pool.print(0, handshake_line(read_own_binary().build_id));
  if (choice & 2U) job.reply(0, {SshMessageType::prepared, 0, 0, ""});
  job.pool.print(0, bytes, std::chrono::milliseconds(10));
  job.pool.exit(0, static_cast<int>(choice >> 4U), std::chrono::milliseconds(20));
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (child == 1 && message.word == SshMessageType::start)
      job.end_ranks(child, 0, std::chrono::milliseconds(50));
    if (child == 1 && message.word == SshMessageType::stop) job.pool.exit(child, 0);
    if (child > 1) job.pool.exit(child, 255);  // h1 again, after words that look as if sshd had dropped it
  };
  const auto status = fuzz::accepted([&] { return job.run(); });
  if (!status) return;
  fuzz::require(*status >= 0 && *status < 256, "a launch ends with a status that a shell can give");
  if (*status != 0) return;
  std::set<std::uint32_t> ended_well;
  SshMessageReader reader;
  fuzz::accepted([&] {
    reader.feed(bytes, [&](const SshMessage& message) {
      if (message.word == SshMessageType::ended && message.value == 0) ended_well.insert(message.number);
    });
    return true;
  });
  fuzz::require(ended_well.contains(0) && ended_well.contains(1),
                "a launch is a success only if all ranks have ended well", bytes);
}
