// SPDX-License-Identifier: MIT
// The host names that /etc/hosts and the files of ssh contain, and which of them a misspelt name means.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

// The names of /etc/hosts, in order; at most `most`.
std::vector<std::string> parse_hosts_table(std::string_view text, std::size_t most);

// The names of the Host lines of an ssh configuration, without patterns; at most `most`.
std::vector<std::string> parse_ssh_hosts(std::string_view text, std::size_t most);

// The names in a known_hosts file of ssh, "[h1]:2222" as h1; not the hashed ones, nor patterns; at most
// `most`.
std::vector<std::string> parse_known_hosts(std::string_view text, std::size_t most);

// The candidate that differs from `name` by a letter or so. Another number is another host, but a digit may
// be typed twice.
std::optional<std::string> similar_host(const std::string& name, std::vector<std::string> candidates);

}  // namespace ddlrun
