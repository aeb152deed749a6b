// SPDX-License-Identifier: MIT
// Whether the other end of a TCP connection of this host still answers. A cut cable sends no error, but TCP
// repeats what it sent in vain, and the kernel counts. Linux only.
#pragma once

#include <string>
#include <string_view>

namespace ddlrun {

// Of the connection that sshd names in SSH_CONNECTION ("10.0.0.1 50000 10.0.0.2 22"): how often what was sent
// last has been repeated so far, or the other end has been probed, in vain; 0 where there was an answer,
// and where it is not known.
int read_tcp_retries(const std::string& ssh_connection);

// The same from the text of /proc/net/tcp or tcp6.
int find_tcp_retries(std::string_view table, const std::string& ssh_connection);

}  // namespace ddlrun
