// SPDX-License-Identifier: MIT
#include "base/process/posix_process_tree.hpp"

#include "base/process/posix_spawn.hpp"
#include "base/text/text.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>

namespace ddlrun {

namespace {

using Steady = std::chrono::steady_clock;

std::vector<pid_t> numbers_in(const std::string& directory) {
  std::vector<pid_t> numbers;
  DIR* const dir = ::opendir(directory.c_str());
  if (dir == nullptr) return numbers;
  while (const dirent* entry = ::readdir(dir)) {
    const auto number = parse_unsigned(entry->d_name, 1u << 30);
    if (number) numbers.push_back(static_cast<pid_t>(*number));
  }
  ::closedir(dir);
  return numbers;
}

std::string word(std::string name) {
  for (char& c : name) {
    if (c <= ' ' || c > '~' || c == ';' || c == '=') c = '_';
  }
  return name.empty() ? "?" : name;
}

std::uint64_t number_or_0(std::string_view text) { return parse_unsigned(text).value_or(0); }

bool kernel_lists_children() {
  return ::access(fmt::format("/proc/self/task/{}/children", ::getpid()).c_str(), R_OK) == 0;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t task : find_threads(pid)) {
    const std::string text = read_small(fmt::format("/proc/{}/task/{}/children", pid, task));
    for (const std::string_view number : split(text, ' ')) {
      if (const auto child = parse_unsigned(number)) children.push_back(static_cast<pid_t>(*child));
    }
  }
  return children;
}

std::vector<Process> descend_by_children(pid_t root) {
  std::vector<Process> found;
  std::vector<pid_t> parents{root};
  for (std::size_t i = 0; i < parents.size(); ++i) {
    for (const pid_t child : children_of(parents[i])) {
      Process process = read_process(child);
      if (process.id.pid < 0) continue;
      found.push_back(std::move(process));
      parents.push_back(child);
    }
  }
  return found;
}

// Where the kernel keeps no lists of children: by everybody's parent.
std::vector<Process> descend_by_parents(pid_t root) {
  std::vector<Process> all, found;
  for (const pid_t pid : numbers_in("/proc")) {
    Process process = read_process(pid);
    if (process.id.pid >= 0) all.push_back(std::move(process));
  }
  std::set<pid_t> seen{root};
  for (bool grown = true; grown;) {
    grown = false;
    for (const Process& process : all) {
      if (seen.count(process.parent) == 0 || !seen.insert(process.id.pid).second) continue;
      found.push_back(process);
      grown = true;
    }
  }
  return found;
}

int reap_all() {
  int reaped = 0;
  while (::waitpid(-1, nullptr, WNOHANG) > 0) ++reaped;
  return reaped;
}

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

}  // namespace

std::string read_small(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> buffer;
  while (fd.open() && text.size() < (1u << 20)) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

Process as_process(const std::optional<ProcessStat>& stat) {
  Process process;
  if (!stat) return process;
  process.id = {static_cast<pid_t>(stat->pid), stat->started_ticks};
  process.state = stat->state;
  process.parent = static_cast<pid_t>(stat->parent);
  process.cpu_ticks = stat->busy_ticks;
  process.waited_ticks = stat->waited_ticks;
  process.resident_pages = stat->resident_pages;
  process.name = word(stat->command);
  return process;
}

Process read_process(pid_t pid) {
  return as_process(parse_process_stat(read_small(fmt::format("/proc/{}/stat", pid))));
}

std::optional<std::uint64_t> find_io_count(std::string_view io, std::string_view key) {
  for (const std::string_view line : split(io, '\n'))
    if (line.starts_with(key)) return parse_unsigned(line.substr(key.size()));
  return std::nullopt;
}

std::optional<std::uint64_t> read_bytes_written(pid_t pid) {
  return find_io_count(read_small(fmt::format("/proc/{}/io", pid)), "wchar: ");
}

std::vector<pid_t> find_threads(pid_t pid) { return numbers_in(fmt::format("/proc/{}/task", pid)); }

std::vector<Process> find_descendants(pid_t root) {
  static const bool lists = kernel_lists_children();
  return lists ? descend_by_children(root) : descend_by_parents(root);
}

bool signal_process(const ProcessId& process, int signal) {
  // With a handle first and the look second, no other process can be meant.
  const Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (read_process(process.pid).id != process) return false;
  if (handle.open()) return ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) == 0;
  return ::kill(process.pid, signal) == 0;  // a kernel before 5.3
}

void end_process(const ProcessId& process, std::chrono::milliseconds grace) {
  signal_process(process, SIGTERM);
  wait_or_kill(process, grace);
}

void wait_or_kill(const ProcessId& process, std::chrono::milliseconds grace) {
  signal_process(process, SIGCONT);  // a stopped process gets it too
  const auto kill_at = Steady::now() + grace;
  while (Steady::now() < kill_at) {
    const Process now = read_process(process.pid);
    if (now.id != process || now.state == 'Z') return;
    ::poll(nullptr, 0, 10);
  }
  signal_process(process, SIGKILL);
}

int end_descendants(std::chrono::milliseconds grace) {
  const auto start = Steady::now();
  const auto kill_at = start + grace;
  const auto give_up_at = kill_at + std::chrono::seconds(10);  // of another user, or in the kernel for good
  std::vector<ProcessId> signalled;
  while (true) {
    reap_all();
    const auto now = Steady::now();
    if (!has_children() || now > give_up_at) return static_cast<int>(signalled.size());
    for (const Process& process : find_descendants(::getpid())) {
      if (process.state == 'Z') continue;
      const bool fresh = std::find(signalled.begin(), signalled.end(), process.id) == signalled.end();
      if (fresh) signalled.push_back(process.id);
      if (now >= kill_at) {
        signal_process(process.id, SIGKILL);
      } else if (fresh) {
        signal_process(process.id, SIGTERM);
        signal_process(process.id, SIGCONT);  // a stopped process gets it too
      }
    }
    ::poll(nullptr, 0, now - start < std::chrono::milliseconds(200) ? 10 : 50);
  }
}

namespace {

// A larger number explains better why a process makes no progress.
int weight(char state) {
  switch (state) {
    case 'T':
      return 5;
    case 't':
      return 4;
    case 'D':
      return 3;
    case 'R':
      return 2;
    case 'S':
      return 1;
    default:
      return 0;
  }
}

// "cpu delayed slices" of a thread, both in nanoseconds; zeros where the kernel keeps no such numbers.
std::pair<std::uint64_t, std::uint64_t> read_schedstat(pid_t pid, pid_t task) {
  const std::string text = read_small(fmt::format("/proc/{}/task/{}/schedstat", pid, task));
  const auto fields = split(text, ' ');
  return {number_or_0(fields.front()), fields.size() > 1 ? number_or_0(fields[1]) : 0};
}

// What the drivers of NVIDIA, AMD and Intel open for computing.
bool opens_gpu(pid_t pid) {
  const std::string directory = fmt::format("/proc/{}/fd", pid);
  std::array<char, 64> target;
  for (const pid_t number : numbers_in(directory)) {
    const ssize_t n =
        ::readlink(fmt::format("{}/{}", directory, number).c_str(), target.data(), target.size());
    const std::string_view file(target.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
    if (file.starts_with("/dev/nvidia") || file == "/dev/kfd" || file.starts_with("/dev/dri/render"))
      return true;
  }
  return false;
}

IoCount read_io(const std::string& directory) {
  IoCount io;
  const std::string text = read_small(directory + "/io");
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    const std::string_view key = line.substr(0, colon);
    const std::uint64_t value = colon < line.size() ? number_or_0(line.substr(colon + 2)) : 0;
    // A file that is mapped is read without a call.
    if (key == "rchar" || key == "wchar" || key == "read_bytes") io.bytes += value;
    if (key == "syscr") io.reads = value;
    if (key == "syscw") io.writes = value;
  }
  return io;
}

// Of equals the deepest one explains: a shell waits for its program. A fork works for its program: a loader
// of data.
void add_process(TreeSnapshot& sample, const Process& process, bool is_fork) {
  const std::string tasks = fmt::format("/proc/{}/task", process.id.pid);
  char state = process.state;
  std::uint64_t precise = 0;
  for (const pid_t task : find_threads(process.id.pid)) {
    const auto [busy, delayed] = read_schedstat(process.id.pid, task);
    precise += busy;
    sample.delayed_ns += delayed;
    sample.io_of[task] = read_io(fmt::format("{}/{}", tasks, task));
    const auto own = parse_process_stat(read_small(fmt::format("{}/{}/stat", tasks, task)));
    if (own && weight(own->state) > weight(state)) state = own->state;
  }
  constexpr std::uint64_t ns_per_tick = 10'000'000;
  sample.cpu_ns += precise > 0 ? precise : process.cpu_ticks * ns_per_tick;
  const IoCount io = read_io(fmt::format("/proc/{}", process.id.pid));
  sample.io.bytes += io.bytes;
  sample.io.reads += io.reads;
  sample.io.writes += io.writes;
  sample.has_gpu = sample.has_gpu || opens_gpu(process.id.pid);
  const int more = weight(state) - weight(sample.state);
  if (sample.pid >= 0 && (more < 0 || (more == 0 && is_fork))) return;
  sample.state = state;
  sample.pid = process.id.pid;
  sample.name = process.name;
}

}  // namespace

TreeSnapshot read_tree_snapshot(pid_t root) {
  TreeSnapshot sample;
  const Process top = read_process(root);
  if (top.id.pid < 0) return sample;
  std::map<pid_t, std::string> names{{top.id.pid, top.name}};
  add_process(sample, top, false);
  for (const Process& process : find_descendants(root)) {
    names[process.id.pid] = process.name;
    add_process(sample, process, names[process.parent] == process.name);
  }
  const std::string where = read_small(fmt::format("/proc/{}/wchan", sample.pid));
  if (where != "0") sample.waits_in = word(where);
  sample.main_ns = read_schedstat(sample.pid, sample.pid).first;
  return sample;
}

}  // namespace ddlrun
