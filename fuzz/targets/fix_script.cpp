// SPDX-License-Identifier: MIT
// Facts -> checks -> report and fix script. Each record of the input is "WHERE NAME=VALUE", ended by a NUL
// byte. A value of WHERE 'h' is of host h1 only and has a text that a shell would run behind it: no command
// for another host may contain that text outside quotes.
#include "base/text/text.hpp"
#include "doctor/checks/examination.hpp"
#include "doctor/report/report.hpp"
#include "fuzz/fuzz_target.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/shell_leak.hpp"

#include <algorithm>
#include <iterator>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

tests::DoctorInput input_of_records(std::string_view records, const std::string& payload) {
  tests::DoctorInput input;
  input.level = Level::full;
  input.job.program = {"python3", "train.py"};
  input.job.ranks = 8;
  input.job.workdir = "/work";
  input.job.data_paths = {"/data"};
  input.job.allocation = {"h1", "h2"};
  input.job.interface = "10.0.0.0/24";
  HostReport& h1 = input.add("h1");
  HostReport& h2 = input.add("h2");
  for (const std::string_view record : split(records, '\0')) {
    const std::size_t equals = record.find('=');
    if (record.size() < 2 || equals == std::string_view::npos) continue;
    const std::string_view name = record.substr(1, equals - 1), value = record.substr(equals + 1);
    h1.facts.set(name, record.front() == 'h' ? std::string(value) + payload : std::string(value));
    if (record.front() == 'h') continue;
    h2.facts.set(name, value);
    input.driver_host.facts.set(name, value);
  }
  return input;
}

}  // namespace

DDLRUN_FUZZ_TARGET(fix_script) {
  static const std::string payloads[] = {"$(>P1)", "`>P2`", "';>P3;'", "\n>P4\n"};
  const std::string& payload = payloads[fuzz::take_byte(input) % std::size(payloads)];
  const tests::DoctorInput job = input_of_records(input, payload);
  Examination examination;
  examination.hosts = {"h1", "h2"};
  examination.findings = run_checks(all_checks(), job.get());
  for (const Finding& finding : examination.findings) {
    fuzz::require(finding.verdict != Verdict::error, "no check fails to run",
                  finding.id + " " + finding.observed);
    const bool elsewhere = finding.remedy.on_driver_host || finding.hosts.empty() ||
                           std::any_of(finding.hosts.begin(), finding.hosts.end(),
                                       [](const std::string& host) { return host != "h1"; });
    for (const std::string& command : finding.remedy.commands)
      fuzz::require(!elsewhere || !tests::may_run(command, payload),
                    "no fact of a host is a command elsewhere", finding.id + ": " + command);
  }
  fuzz::require_printable(render_report(examination, all_checks(), {}));
  render_report_json(examination, all_checks());
  const std::string script = render_fix_script(examination, all_checks());
  fuzz::require(script.find('\0') == std::string::npos, "a script has no NUL byte");
}
