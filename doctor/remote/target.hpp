// SPDX-License-Identifier: MIT
// Which connections reach one sshd: hosts behind the same jump host, or names of the same address.
#pragma once

#include "doctor/remote/reach.hpp"

#include <map>
#include <string>

namespace ddlrun::doctor {

class Targets {
 public:
  Targets(System& system, const ReachOptions& options) : system_(system), options_(options) {}
  // Looks up all hosts that `of` will be asked for, at once.
  void resolve(const std::vector<std::string>& hosts);
  // A word that is equal for hosts whose connections one daemon accepts.
  std::string of(const std::string& host) const;

 private:
  void read_ssh_configuration(const std::string& host);

  System& system_;
  const ReachOptions& options_;
  std::map<std::string, std::string> addresses_;  // the first of each host that was looked up, or its name
  std::string jump_host_;                         // of the first host; taken as that of all
};

// The jump host in what `ssh -G` prints, or "".
std::string find_jump_host(std::string_view ssh_configuration);

}  // namespace ddlrun::doctor
