// SPDX-License-Identifier: MIT
// Jobs without a scheduler, with real processes: start, look, cancel, and an id that is not its process any
// more.
#include "base/os/posix_system.hpp"
#include "base/process/process_stat.hpp"
#include "base/text/error.hpp"
#include "schedulers/job/scheduler.hpp"
#include "tests/unit/schedulers/recorded.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

using namespace ddlrun;
using namespace ddlrun::schedulers;
namespace fs = std::filesystem;

namespace {

const auto local = make_scheduler(SchedulerKind::local);

struct Jobs {
  Jobs() {
    std::string name = (fs::temp_directory_path() / "ddlrun local $(x) XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    dir = name;
  }
  ~Jobs() { fs::remove_all(dir); }

  JobId submit(const std::string& script) {
    const std::string file = (dir / "job.sh").string();
    std::ofstream(file) << script;
    return local->read_submission(ask(local->submit_command(JobSpec(), file)));
  }
  ProcessResult ask(const Command& command) { return processes.run(command, {std::chrono::seconds(20)}); }
  JobState state(const JobId& id) {
    return local->read_states(std::vector<JobId>{id}, [this](const Command& c) { return ask(c); })
        .at(id)
        .state;
  }
  bool becomes(const JobId& id, JobState wanted) {
    for (int i = 0; i < 500 && state(id) != wanted; ++i) usleep(10000);
    return state(id) == wanted;
  }
  std::string output() const {
    std::ifstream in(dir / "output.log");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path dir;
  PosixProcesses processes;
};

}  // namespace

TEST_SUITE_BEGIN("schedulers/local/local");

TEST_CASE("a job in the background: it outlives the question, and is seen to end") {
  Jobs jobs;
  const JobId id =
      jobs.submit("echo begun\nuntil [ -e \"$(dirname \"$0\")/go\" ]; do sleep 0.05; done\necho ended\n");
  CHECK(jobs.state(id) == JobState::running);
  std::ofstream(jobs.dir / "go") << "";
  CHECK(jobs.becomes(id, JobState::unknown));  // how it ended, its own file reports
  CHECK(jobs.output() == "begun\nended\n");
  CHECK(local->read_cancellation(id, jobs.ask(local->cancel_command(id))).find("already over") !=
        std::string::npos);
}

TEST_CASE("cancelling ends the script and what it started") {
  Jobs jobs;
  const JobId id = jobs.submit("sleep 300 & echo $! > \"$(dirname \"$0\")/child\"\nwait\n");
  for (int i = 0; i < 500 && !fs::exists(jobs.dir / "child"); ++i) usleep(10000);
  CHECK(jobs.state(id) == JobState::running);
  CHECK(local->read_cancellation(id, jobs.ask(local->cancel_command(id))).find("being ended") !=
        std::string::npos);
  CHECK(jobs.becomes(id, JobState::unknown));
  std::string child;
  std::ifstream(jobs.dir / "child") >> child;
  REQUIRE_FALSE(child.empty());
  // Gone, or dead and not yet collected by the first process of this system.
  const auto alive = [&] {
    std::ifstream in("/proc/" + child + "/stat");
    const auto stat = parse_process_stat(std::string{std::istreambuf_iterator<char>(in), {}});
    return stat && stat->state != 'Z';
  };
  for (int i = 0; i < 500 && alive(); ++i) usleep(10000);
  CHECK_FALSE(alive());
}

TEST_CASE("a process with the same number that is another one is neither taken for the job nor ended") {
  Jobs jobs;
  const JobId id = jobs.submit("sleep 300\n");
  const std::size_t dash = id.find('-'), at = id.find('@');
  const JobId older = id.substr(0, dash) + "-1" + id.substr(at);
  CHECK(jobs.state(older) == JobState::unknown);
  CHECK(local->read_cancellation(older, jobs.ask(local->cancel_command(older))).find("already over") !=
        std::string::npos);
  CHECK(jobs.state(id) == JobState::running);
  const JobId elsewhere = id.substr(0, at) + "@another-host";
  CHECK(jobs.state(elsewhere) == JobState::unknown);
  CHECK_THROWS_AS(local->read_cancellation(elsewhere, jobs.ask(local->cancel_command(elsewhere))), Error);
  CHECK(jobs.state(id) == JobState::running);
  jobs.ask(local->cancel_command(id));
  CHECK(jobs.becomes(id, JobState::unknown));
}

TEST_CASE("ids that are none") {
  Jobs jobs;
  for (const char* id : {"", "7", "7-8", "7-8@", "-1-8@h", "0x7-8@h", "$(x)-8@h", "7@h-8"}) {
    CAPTURE(id);
    CHECK(jobs.state(id) == JobState::unknown);
    CHECK_THROWS_AS(local->cancel_command(id), Error);
  }
  CHECK_THROWS_AS(local->read_submission(tests::answered("cannot fork\n")), Error);
}

TEST_SUITE_END();
