// SPDX-License-Identifier: MIT
#include "base/text/utf8.hpp"
#include "launch/history/history.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::launch {

namespace {

using HistoryJson = nlohmann::ordered_json;

constexpr std::string_view state_names[] = {"ended", "running", "unseen", "elsewhere", "damaged"};

HistoryJson text_or_nothing(const std::string& text) {
  return text.empty() ? HistoryJson() : HistoryJson(text);
}

}  // namespace

std::string render_history_json(const std::vector<HistoryRow>& rows) {
  HistoryJson runs = HistoryJson::array();
  for (const HistoryRow& row : rows) {
    runs.push_back(
        {{"id", row.id},
         {"directory", row.directory},
         {"state", state_names[static_cast<std::size_t>(row.state)]},
         {"start", text_or_nothing(row.start)},
         {"seconds", row.seconds ? HistoryJson(*row.seconds) : HistoryJson()},
         {"ranks", text_or_nothing(row.dims)},
         {"hosts", text_or_nothing(row.hosts)},
         {"program", text_or_nothing(row.program)},
         {"exit_status", row.state == RunState::ended ? HistoryJson(row.exit_status) : HistoryJson()},
         {"outcome", status_words(row)},
         {"cancelled", row.cancelled},
         {"first_failure", text_or_nothing(row.first_failure)},
         {"job", text_or_nothing(row.job)},
         {"replay_of", text_or_nothing(row.replay_of)},
         {"result", text_or_nothing(row.result)},
         {"test_accuracy", row.test_accuracy ? HistoryJson(*row.test_accuracy) : HistoryJson()},
         {"problem", text_or_nothing(row.problem)}});
  }
  const HistoryJson document{{"schema", "ddlrun.history/1"}, {"runs", runs}};
  return escape_json(document.dump(2, ' ', false, HistoryJson::error_handler_t::replace)) + "\n";
}

}  // namespace ddlrun::launch
