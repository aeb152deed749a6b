// SPDX-License-Identifier: MIT
#include "doctor/run/confirmation.hpp"

#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

namespace ddlrun::doctor {

std::vector<std::size_t> hosts_to_confirm(std::span<const Finding> findings,
                                          std::span<const HostReport> hosts,
                                          const std::vector<std::string>& relays, bool all) {
  constexpr std::size_t few = 32;  // one window
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < hosts.size(); ++i) index.emplace(hosts[i].host, i);
  std::set<std::size_t> chosen;
  for (const Finding& finding : findings) {
    if (finding.verdict != Verdict::fail && finding.verdict != Verdict::warn) continue;
    std::map<std::string_view, std::vector<std::size_t>> open;
    std::set<std::string_view> confirmed;
    std::size_t count = 0;
    for (const std::string& name : finding.hosts) {
      const auto found = index.find(name);
      if (found == index.end() || relays[found->second].empty()) continue;
      const std::size_t at = found->second;
      if (hosts[at].reach.relay.empty()) {
        confirmed.insert(relays[at]);
      } else {
        open[relays[at]].push_back(at);
        ++count;
      }
    }
    for (const auto& [relay, those] : open) {
      if (all || count <= few)
        chosen.insert(those.begin(), those.end());
      else if (!confirmed.contains(relay))
        chosen.insert(those.front());
    }
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace ddlrun::doctor
