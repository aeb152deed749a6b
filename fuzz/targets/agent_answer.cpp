// SPDX-License-Identifier: MIT
// What a host answers to doctor, and what it is asked: read as written, and nothing else passes.
#include "doctor/remote/agent_protocol.hpp"
#include "doctor/report/baseline.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace ddlrun;
using namespace ddlrun::doctor;

DDLRUN_FUZZ_TARGET(agent_answer) {
  if (const auto response = fuzz::accepted([&] { return parse_probe_response_json(input, "h1"); })) {
    const std::string text = render_probe_response_json(*response);
    const ProbeResponse again = parse_probe_response_json(text, "h1");
    fuzz::require(again.facts == response->facts && again.failed_gatherers == response->failed_gatherers &&
                      again.ready_us == response->ready_us && again.asked_us == response->asked_us,
                  "an answer is read as written", text);
    fuzz::require(text.find('\n') == std::string::npos, "an answer is one line", text);
  }
  const auto base = std::make_shared<const FactMap>(FactMap{{"a", {true, "1"}}, {"b", {false, "why"}}});
  if (const auto report = fuzz::accepted([&] { return parse_relayed_report_json(input, base, "h1"); })) {
    const std::string text = render_relayed_report_json(*report, base);
    const HostReport again = parse_relayed_report_json(text, base, "h1");
    fuzz::require(again.host == report->host && again.facts == report->facts &&
                      again.failed_gatherers == report->failed_gatherers,
                  "a relayed report is read as written", text);
    fuzz::require(text.find('\n') == std::string::npos, "a relayed report is one line", text);
  }
  RelayRequest relay;
  if (const auto request = fuzz::accepted([&] { return parse_probe_request_json(input, &relay); })) {
    const std::string text = render_probe_request_json(*request, relay);
    RelayRequest same;
    fuzz::require(render_probe_request_json(parse_probe_request_json(text, &same), same) == text,
                  "a request is read as written", text);
  }
  if (const auto baseline = fuzz::accepted([&] { return parse_baseline_json(input, "baseline.json"); })) {
    const std::string text = render_baseline_json(*baseline);
    fuzz::require(parse_baseline_json(text, "baseline.json").hosts == baseline->hosts,
                  "a baseline is read as written", text);
  }
}
