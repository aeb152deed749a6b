// SPDX-License-Identifier: MIT
// OpenSSH's words for what went wrong, as measured with 9.2 and 10.0; other launchers' where they differ.
#include "doctor/remote/reach.hpp"

#include <array>

namespace ddlrun::doctor {

std::string classify_problem(std::string_view stderr_text, int exit_status, bool timed_out) {
  struct Words {
    std::string_view words, kind;
  };
  constexpr std::array table{
      Words{"REMOTE HOST IDENTIFICATION HAS CHANGED", "changed-host-key"},
      Words{"Host key verification failed", "unknown-host-key"},
      Words{"No ED25519 host key is known", "unknown-host-key"},
      Words{"Permission denied", "no-key"},
      Words{"Too many authentication failures", "no-key"},
      Words{"Could not resolve hostname", "unknown-name"},
      Words{"kex_exchange_identification", "kex-reset"},
      Words{"ssh_exchange_identification", "kex-reset"},
      Words{"Connection reset by", "kex-reset"},
      Words{"Connection closed by", "kex-reset"},  // 10.0: sshd says why it drops, ssh does not
      Words{"Connection refused", "refused"},
      Words{"No route to host", "no-route"},
      Words{"Network is unreachable", "no-route"},
      Words{"Connection timed out", "timeout"},
      Words{"Connection to UNKNOWN port", "timeout"},
      Words{"Operation timed out", "timeout"},
      Words{"timed out during banner exchange", "hung"},
      Words{"Timeout, server", "hung"},
      Words{"not responding", "hung"},
  };
  // The banner's time-out holds "timed out" too: the more telling words are looked for first.
  if (stderr_text.find("banner exchange") != std::string_view::npos) return "hung";
  for (const Words& entry : table) {
    if (stderr_text.find(entry.words) != std::string_view::npos) return std::string(entry.kind);
  }
  if (timed_out) return "hung";
  return exit_status == 127 ? "missing-program" : "other";
}

}  // namespace ddlrun::doctor
