// SPDX-License-Identifier: MIT
// `ddlrun launch` with fake interfaces: an mpirun whose lines and end the test writes.
#pragma once

#include "cli/app.hpp"
#include "tests/support/fake_system.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace ddlrun::tests {

// mpirun as it looks from here: a version, then a run whose stderr the test writes.
struct FakeMpirun : FakeProcesses {
  EnvVars environment;
  bool watched = false;
  std::function<std::vector<std::string>(const Command&)> lines = [](const Command&) {
    return std::vector<std::string>{};
  };
  ProcessResult result;
  std::function<void(const Command&, const RunHooks&)> meanwhile;  // instead of `lines`

  FakeMpirun() {
    answer = [](const Command&) {
      ProcessResult version;
      version.out = "mpirun (Open MPI) 4.1.4\n";
      return version;
    };
  }
  ProcessResult run_guarded(const Command& command, const EnvVars& extra, const RunHooks& hooks) override {
    ran.push_back(command);
    environment = extra;
    watched = hooks.on_stderr_line != nullptr;
    if (meanwhile) {
      meanwhile(command, hooks);
    } else if (watched) {
      for (const std::string& line : lines(command)) hooks.on_stderr_line(line);
    }
    return result;
  }
};

struct Launch {
  FakeMpirun processes;
  FakeFiles files;
  FakeClock clock;
  Environment environment;
  std::string out, err, program_err;
  int status = 0;

  Launch() {
    environment.host_name = "here";
    environment.own_names = {"here", "localhost"};
    environment.executable = "/opt/ddlrun/bin/ddlrun";
    environment.variables = {{"HOME", "/home/u"}, {"PATH", "/bin"}};
    files.files["/bin/prog"] = "";
  }
  // On one made-up machine of 4 cores.
  void run(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--sockets", "1", "--cores", "4"});
    System system{processes,
                  files,
                  clock,
                  environment,
                  [this](std::string_view text) { out += text; },
                  [this](std::string_view text) { err += text; }};
    status = cli::run_app(words, system);
  }
  const std::string& file(const std::string& name) {
    return files.files["/home/u/.local/state/ddlrun/runs/19700101-000000-000000/" + name];
  }
};

inline std::string word_after(const Command& command, const std::string& word) {
  const auto found = std::find(command.begin(), command.end(), word);
  return found == command.end() || found + 1 == command.end() ? "" : *(found + 1);
}

}  // namespace ddlrun::tests
