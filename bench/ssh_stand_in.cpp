// SPDX-License-Identifier: MIT
// A stand-in for ssh that costs so little that doctor_scale.sh measures the driver host. It waits, then plays
// back the answer of one agent under the name of the host. To a relay's request it gives the answers of the
// whole branch, after the waits that the tree below would take. Variables: STAND_IN_ANSWER (the file),
// STAND_IN_MS (a wait), STAND_IN_LOCKED (set: relays reach no other host). One host in 1,000 does not answer,
// one in 500 has a small memlock.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string read_to_end(int fd) {
  std::string text;
  char block[65536];
  for (ssize_t n = 0; (n = ::read(fd, block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(n));
  return text;
}

void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n <= 0) std::exit(1);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void wait_for_host() {
  const char* ms = std::getenv("STAND_IN_MS");
  ::usleep(static_cast<useconds_t>(ms == nullptr ? 50 : std::atoi(ms)) * 1000);
}

std::string replace(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

const char* memlock_of(std::string_view host) { return host.ends_with("500") ? "65536" : "8388608"; }
bool is_down(std::string_view host) { return host.ends_with("000"); }

std::string personalise(const std::string& answer, const std::string& host) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::string us = std::to_string(now.tv_sec * 1'000'000LL + now.tv_nsec / 1000);
  return replace(replace(replace(answer, "@HOST@", host), "@NOW@", us), "@MEMLOCK@", memlock_of(host));
}

// What lies between `before` and `after`.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find(after));
}

std::size_t number_of(std::string_view relay, std::string_view key) {
  return std::strtoull(std::string(between(relay, key, ",")).c_str(), nullptr, 10);
}

// What differs between two hosts of the same kind, as a relay sends it.
std::string relayed(const std::string& answer, const std::string& host, std::size_t number) {
  const std::string table = replace(std::string(between(answer, "\"name.table\":\"", "\"")), "@HOST@", host);
  const std::string digits = std::to_string(100'000 + number);
  std::string facts = "\"disk.tmp.free_bytes\":\"45428" + digits + "\",\"kernel.files_open\":\"" + digits +
                      "\",\"limit.memlock.soft\":\"" + memlock_of(host) + "\",\"load.five\":\"" +
                      std::to_string(number % 90) + "\",\"load.one\":\"" + std::to_string(number % 80) +
                      "\",\"mem.available_bytes\":\"24410" + digits +
                      "\",\"name.boot_id\":\"cd9f4c4e-5b1d-4f64-9b3f-" + digits + "\",\"name.host\":\"" +
                      host + "\",\"name.table\":\"" + table + "\"";
  return "ddlrun-agent relayed {\"attempts\":1,\"clock\":[0.0,0.001],\"connect_seconds\":0.05,\"facts\":{" +
         facts + "},\"failed\":{},\"host\":\"" + host +
         "\",\"noise_bytes\":0,\"noise_start\":\"\",\"unknown\":{},\"without\":[]}\n";
}

void play_branch(const std::string& answer, std::string_view relay) {
  const std::size_t window = number_of(relay, "\"window\":"), flat_most = number_of(relay, "\"flat_most\":");
  std::vector<std::string> hosts;
  std::string_view list = between(relay, "\"hosts\":[", "]");
  for (std::size_t at = 0; (at = list.find("\"name\":\"")) != std::string_view::npos;) {
    list.remove_prefix(at + 8);
    hosts.emplace_back(list.substr(0, list.find('"')));
  }
  const bool is_tree = hosts.size() > flat_most;
  if (is_tree) wait_for_host();
  std::string block;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (i % (is_tree ? window * window : window) == 0) {
      write_out(block);
      block.clear();
      wait_for_host();
    }
    if (!is_down(hosts[i])) block += relayed(answer, hosts[i], i);
  }
  write_out(block);
}

}  // namespace

int main(int argc, char** argv) {
  int at = 1;
  for (; at < argc && std::strcmp(argv[at], "--") != 0; ++at) {
    if (std::strcmp(argv[at], "-G") == 0) return 0;
  }
  if (at + 1 >= argc) return 2;
  const std::string host = argv[at + 1];
  const bool is_alone = std::getenv("STAND_IN_ALONE") != nullptr;
  wait_for_host();
  if (is_down(host)) {
    std::fprintf(stderr, "ssh: connect to host %s port 22: No route to host\n", host.c_str());
    return is_alone ? 1 : 255;  // xargs ends at 255
  }
  const char* file = std::getenv("STAND_IN_ANSWER");
  const std::string answer = read_to_end(file == nullptr ? -1 : ::open(file, O_RDONLY | O_CLOEXEC));
  const std::size_t first_line = answer.find('\n') + 1;
  write_out(std::string_view(answer).substr(0, first_line));
  const std::string request = is_alone ? "" : read_to_end(STDIN_FILENO);
  write_out(personalise(answer.substr(first_line), host));
  const std::size_t relay = request.find("\"relay\":{");
  if (relay == std::string::npos) return 0;
  if (std::getenv("STAND_IN_LOCKED") != nullptr) {
    wait_for_host();
    write_out("ddlrun-agent missing " + host + ": Host key verification failed.\n");
  } else {
    play_branch(answer, std::string_view(request).substr(relay));
  }
  return 0;
}
