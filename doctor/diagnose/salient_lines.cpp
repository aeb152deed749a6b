// SPDX-License-Identifier: MIT
#include "doctor/diagnose/salient_lines.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/failure_counts.hpp"
#include "doctor/diagnose/gpu_error_code.hpp"
#include "doctor/diagnose/python_traceback.hpp"
#include "doctor/diagnose/result_lines.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/usage_footer.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_kept = 48;
constexpr int min_followed_score = 70;
constexpr int min_head_score = 60;  // of a line that ends with a colon
constexpr int max_following = 8;
constexpr int max_following_stack = 20;    // an error stack of MPICH
constexpr int last_errno = 134;            // of Linux
constexpr std::size_t longest_label = 48;  // "192.168.0.1: [rank1]"
constexpr int boilerplate_score = 6;       // listed only where no better line exists

// "error: 0.31", "Error is 0.02" and "errors=0" are figures, not failures; "error 12" has a code.
bool is_figure(std::string_view text) {
  if (!gpu_error_words(text).empty()) return false;
  for (std::size_t at = text.find("rror"); at != std::string_view::npos; at = text.find("rror", at + 4)) {
    const std::size_t next = std::min(text.find_first_not_of("is :=", at + 4), text.size());
    const bool digit = next < text.size() && text[next] >= '0' && text[next] <= '9';
    const bool is_value = text.substr(at + 4, next - at - 4).find_first_of("s:=") != std::string_view::npos;
    const std::size_t point = std::min(text.find_first_not_of("0123456789", next), text.size());
    const bool is_decimal = point < text.size() && text[point] == '.';
    if (!digit || (!is_value && !is_decimal)) return false;
    const bool names_something = point < text.size() && text[point] == ':';  // "Error: 0:own: cannot read"
    if (names_something) return false;
    if (exception_text(text) && text.find('.', next) == std::string_view::npos) return false;  // KeyError: 17
  }
  return has_any(text, {"rror"});
}

std::string shape_of(std::string_view text) {
  std::string shape;
  for (const char c : text.substr(0, 200)) {
    if (c < '0' || c > '9') shape += c;
  }
  return shape;
}

// "Fatal error in PMPI_Init: Other MPI error, error stack:", also in two lines.
bool is_stack_head(std::string_view text) {
  return text.ends_with("error stack:") ||
         (has_any(text, {"Fatal error in MPI_", "Fatal error in PMPI_"}) && text.ends_with(':'));
}

bool is_fatal_head(std::string_view text) {
  return has(to_upper(text), "FATAL") && has(":!)", text.substr(text.size() - 1));
}

bool is_below_error(std::string_view text) {
  const bool by_info =
      has_any(text, {" INFO", "INFO ", ":INFO:", "[INFO"}) && !has_any(text, {"INFO(", "ERROR"});
  return by_info || has_any(text, {"Warning", "warning", "WARN", "DEBUG"}) || has_warning_letter(text);
}

// Slurm removes the cgroup of a step that has ended.
bool is_cleanup(std::string_view text) {
  return text.starts_with("slurmstepd: error: ") && has(text, "cgroup") && !has(text, "oom") &&
         !has(text, "out-of-memory");
}

// "libcuda.so.1: cannot open shared object file": a program tries several names and can do without; the
// loader and Python put their own words before it.
bool is_probe(std::string_view text) {
  const std::size_t end = text.find(": cannot open shared object");
  return end != npos && text.find(' ') > end && has_any(text.substr(0, end), {".so", ".dylib"});
}

// What load_state_dict of PyTorch returns: the keys may contain any word.
bool is_list_of_keys(std::string_view text) { return has_any(text, {"missing_keys=[", "unexpected_keys=["}); }

// "cannot use x, falling back to y": the tool goes on in another way.
bool names_fallback(std::string_view text) {
  return has_any(text, {"alling back to ", "everting to ", "witching to ", "nvoking the alternate"});
}

bool is_fatal(std::string_view text) {
  return has_any(text, {"Abort(", "ABORT", "Fatal", "FATAL", "fatal:", "fatal error", "aborting",
                        "core dumped", "*** [", "oom_kill", "oom-kill", "SIGKILL", "SIGSEGV", "Killed",
                        "CANCELLED AT", "Node failure", "egmentation fault", "Bus error"});
}

bool weaker(const SalientLine& a, const SalientLine& b) {
  return a.score != b.score ? a.score < b.score : a.moment.sequence > b.moment.sequence;
}

}  // namespace

bool ends_with_errno_text(std::string_view text) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (int code = 1; code < last_errno; ++code) all.push_back(std::string(": ") + std::strerror(code));
    return all;
  }();
  if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  return std::any_of(texts.begin(), texts.end(),
                     [text](const std::string& end) { return text.ends_with(end); });
}

bool is_bare_head(std::string_view text) {
  if (text.ends_with(')')) text = text.substr(0, text.rfind('('));
  constexpr std::string_view words[] = {"FATAL", "ERROR", "COMMAND", "FOAM", "IO", "INTERNAL", "RUNTIME"};
  bool has_word = false;
  for (std::string_view word : split_blanks(text)) {
    while (!word.empty() && has(":!*->", word.substr(word.size() - 1))) word.remove_suffix(1);
    const std::string upper = to_upper(word);
    if (!word.empty() && std::find(std::begin(words), std::end(words), upper) == std::end(words))
      return false;
    has_word = has_word || !word.empty();
  }
  return has_word;
}

bool is_consequence(std::string_view text) {
  return (has(text, " CANCELLED AT ") && !has(text, "TIME LIMIT")) || has(text, ": Exited with exit code") ||
         has_any(text,
                 {"mtpmi_processops", "Unexpected End-Of-File on file descriptor", "HYDU_sock_write",
                  "total processes killed", "_errhandler: ", "downstream from host", "exitcodes != NULL"});
}

bool has_warning_letter(std::string_view text) {
  if (const std::size_t rank = text.find("]:["); rank < longest_label)
    text.remove_prefix(rank + 2);  // "[rank1]:[W403 "
  if (text.starts_with('[')) text.remove_prefix(1);
  const std::size_t end = text.find_first_not_of("0123456789", 1);  // "W0815 ", of torch "[W815 "
  const bool of_glog =
      end != npos && end >= 4 && end <= 5 && text[end] == ' ' && (text.front() == 'W' || text.front() == 'I');
  return of_glog || text.starts_with("W tensorflow/") || has(text, ": W tensorflow/") ||
         text.starts_with("W external/") || has(text, ": W external/");
}

bool is_of_modules(std::string_view text) {
  return has_any(text, {"Lmod has detected the following error", "cmdModule.c", "ModuleCmd_", "modulecmd",
                        "Unable to locate a modulefile", "has not been properly configured to use 'conda",
                        " module: command not found", " module: not found"});
}

// "rm: cannot remove 'core.*': No such file or directory"
bool is_of_file_command(std::string_view text) {
  constexpr std::string_view commands[] = {
      "rm: ",  "rmdir: ", "ls: ", "cp: ", "mv: ",    "mkdir: ", "ln: ",
      "cat: ", "tar: ",   "cd: ", "du: ", "chmod: ", "touch: ", "stat: "};
  return starts_with_any(text, commands);
}

// "squeue: error: Protocol authentication error": the job itself does not need the answer.
bool is_of_status_command(std::string_view text) {
  constexpr std::string_view begins[] = {
      "squeue: error:", "sinfo: error:",   "sacct: error:",    "sstat: error:",
      "sprio: error:",  "slurm_load_jobs", "slurm_load_node",  "slurm_load_partitions",
      "sshare: error:", "sreport: error:", "scontrol: error: "};
  return starts_with_any(text, begins);
}

bool is_of_probe(std::string_view text) {
  const std::size_t configure = text.find("configure: line ");
  const bool of_configure = configure != npos && (configure == 0 || text[configure - 1] == '/') &&
                            text.ends_with(": command not found");
  return of_configure || is_of_status_command(text);
}

bool is_of_setup(std::string_view text) {
  const bool of_script = has(text, ": line ") && (text.ends_with(": command not found") ||
                                                  text.ends_with(": No such file or directory"));
  return of_script || is_of_file_command(text) || is_of_modules(text) || is_of_status_command(text);
}

// gdb does not find the source of a library: "79\t../sysdeps/x86_64/strlen.S: No such file or directory."
bool is_gdb_source_note(std::string_view text) {
  const std::size_t number = text.find_first_not_of("0123456789");
  return number != npos && number > 0 && (text[number] == '\t' || text[number] == ' ') &&
         text.ends_with(": No such file or directory.");
}

// Of shells without a terminal, ssh, the module system and the notice at a login.
bool is_session_noise(std::string_view text) {
  const auto words = split_blanks(text);
  const bool is_load = words.size() == 2 && (words[0] == "Loading" || words[0] == "Unloading") &&
                       has(words[1], "/") && !words[1].starts_with('/');
  return is_load || is_gdb_source_note(text) ||
         (has(text, "Inappropriate ioctl for device") &&
          starts_with_any(text, {"bash: ", "stty: ", "mesg: ", "tput: "})) ||
         has_any(text, {" to the list of known hosts.", "no job control in this shell",
                        "initialize_job_control: setpgid", "Warning: setpgid(", "cannot change locale",
                        "tput: No value for $TERM", "TERM environment variable not set",
                        "Last login: ", "X11 forwarding request failed", "ssh: setsockopt TCP_NODELAY",
                        "ssh: setsockopt IP_TOS", "Loading requirement: ", "Lmod is automatically replacing",
                        "reloaded with a version change", "nauthorized access is ", "nauthorized use is "});
}

bool is_boilerplate(std::string_view text) {
  return is_session_noise(text) || has_any(text, {"detected that one or more processes",
                                                  "exited with non-zero status",
                                                  "usually indicates",
                                                  "failure of the peer -- that is what you need",
                                                  "this process called \"",
                                                  "this process did not call \"",
                                                  "considered an \"abnormal termination\"",
                                                  "the abort call was an abnormal termination",
                                                  "error message you will receive is this one",
                                                  "terminated by signals sent by mpirun",
                                                  "*usually*",
                                                  "Per user-direction",
                                                  "may or may not see output from other",
                                                  "exactly when Open MPI kills them",
                                                  "sent help message",
                                                  "_base_help_aggregate",
                                                  "NOTE: ",
                                                  "This usually is caused by",
                                                  "may result in corruption",
                                                  "processes in this communicator will now abort",
                                                  "noticed that process rank",
                                                  "srun: Force Terminated",
                                                  "srun: Terminating",
                                                  "_step_signal",
                                                  "srun: Job step aborted",
                                                  "CLEANING UP REMAINING",
                                                  "YOU CAN IGNORE THE BELOW",
                                                  "to see all help / error messages",
                                                  "pyxis: container start failed",
                                                  "pyxis: printing enroot log",
                                                  "pyxis: printing contents of log",
                                                  "pyxis: couldn't start container",
                                                  "required plugin spank_pyxis",
                                                  "task_init() failed with rc",
                                                  "Primary job  terminated",
                                                  "Please see the FAQ page",
                                                  "This typically refers to a problem",
                                                  "killed by the cleanup",
                                                  "Clean shutdown is not currently implemented",
                                                  "assert (!closed) failed",
                                                  "demux engine error",
                                                  "callback returned error status",
                                                  "processes terminated badly",
                                                  "error waiting for completion",
                                                  "error waiting for event",
                                                  "No stack."});  // gdb, of a process that ended well
}

bool is_below_reason(std::string_view text) { return text.starts_with("at:  ") || text.starts_with("try: "); }

bool begins_message(std::string_view text) {
  const auto spaces = std::count(text.begin(), text.end(), ' ');
  return !text.empty() && text.front() >= 'A' && text.front() <= 'Z' && spaces >= 4 && !is_result(text) &&
         !is_below_error(text);
}

bool is_decoration(std::string_view text) {
  if (text.starts_with("==") && is_test_summary(text)) return false;
  std::size_t drawn = 0, words = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
    ++(plain ? words : drawn);
  }
  return words < 2 || (drawn >= 12 && drawn > 2 * words);
}

int line_salience(std::string_view text, int word_score) {
  // How often Open MPI left out a message, and its place in a file of texts: the message itself is above.
  if (has_any(text, {"sent help message", "help-mpi-", "help-orte-", "help-opal-", "show_help.c"})) return 0;
  if (is_list_of_keys(text) || is_table_header(text)) return 0;
  if (is_session_noise(text)) return 0;
  if (is_boilerplate(text)) return boilerplate_score;
  int score = word_score;
  if (is_figure(text) || counts_no_failure(text) || is_passed_test(text) || is_error_quantity(text) ||
      states_setting(text) || (trim(text).starts_with("0 ") && !has(text, ":")))
    return 5;
  if (const auto exception = exception_text(text)) {
    const bool second = is_consequence_exception(exception->type, exception->message);
    const bool bare = exception->message.empty() && text.find(':') == std::string_view::npos;
    score = second ? 60 : bare ? std::max(score, 70) : 95;
  }
  if (is_bare_head(text)) score = is_fatal_head(text) ? 80 : std::min(score, 60);
  if (has_any(text, {"Other MPI error"}) && is_stack_head(text)) score = std::min(score, 72);
  if (score < min_failure_score && ends_with_errno_text(text)) score = min_failure_score + 1;
  // NCCL runs without the port on which it answers questions about its state.
  const bool of_nccl = has_any(text, {"NCCL WARN", "WARN Socket"}) && !has(text, "ras/");
  if (!of_nccl && is_below_error(text)) score -= 35;
  if (has_any(text, {"Connection reset", "connection closed", "Broken pipe", "aborting job", "Terminating "}))
    score -= 15;
  const bool of_exception = exception_text(text).has_value();
  if (!of_exception &&
      has_any(text, {" no error", "No error", "without error", "trapping enabled", "ignored", "ignoring"}))
    score -= 60;
  // Left from an earlier run, or made by another rank; what follows goes on.
  const bool is_left = text.starts_with("mkdir: ") && text.ends_with("File exists");
  const bool is_absent = starts_with_any(text, {"rm: cannot remove ", "ls: cannot access "});
  const bool takes_default = !of_exception && has(text, "efault ") && has(text, " will be used");
  if (is_left || is_absent || takes_default || names_fallback(text)) score = std::min(score, 45);
  if (is_cleanup(text)) score = std::min(score, 45);
  if (is_probe(text)) score = std::min(score, 60);
  if (has_any(text, {"xit code 0", "xit code: 0", "xit status 0", "xitcode 0", "xited with 0"})) score = 0;
  if (is_consequence(text)) score = std::min(score, 70);
  if (has_any(text, {"forrtl: error (76)"})) score = std::min(score, 60);  // an abort, without its reason
  if (has_any(text, {"Signal: ", "*** Process received signal"})) score += 5;
  return std::max(score, 0);
}

void SalientLines::take(const ReadLine& line, int word_score) {
  const int score = line_salience(line.prefix.text, word_score);
  if (score <= 5) return;
  highest_ = std::max(highest_, score);
  if (score >= min_doubtful_score) last_doubtful_ = line.sequence;
  shows_fatal_ = shows_fatal_ || is_fatal(line.prefix.text);
  const bool sure = line.prefix.rank && score >= min_failure_score;
  const bool first_rank =
      sure && (!first_of_a_rank_ || is_earlier({line.prefix.stamp, line.sequence}, first_of_a_rank_->moment));
  const bool full = kept_.size() >= max_kept;
  const auto weakest = std::min_element(kept_.begin(), kept_.end(), weaker);
  if (full && score <= weakest->score && !first_rank) return;

  if (is_decoration(line.prefix.text)) return;
  SalientLine found{{"", line.line, sanitize(trim(line.prefix.text))},
                    line.source,
                    Moment{line.prefix.stamp, line.sequence},
                    {line.prefix.rank, line.prefix.host},
                    score,
                    shape_of(line.prefix.text),
                    {}};
  if (const auto own = rank_in_text(found.line.text)) found.place.rank = own;
  if (first_rank) first_of_a_rank_ = found;
  const auto same =
      std::find_if(kept_.begin(), kept_.end(), [&](const SalientLine& t) { return t.shape == found.shape; });
  if (same != kept_.end()) {
    // The line behind it marks the same line as the reason: the higher score counts.
    if (same->moment.sequence == found.moment.sequence) same->score = std::max(same->score, score);
    return;
  }
  if (full && score <= weakest->score) return;
  if (full) kept_.erase(weakest);
  const bool is_head =
      is_bare_head(found.line.text) || (score >= min_head_score && found.line.text.ends_with(':'));
  const bool may_follow = score >= min_followed_score || is_head;
  if (may_follow && score > followed_score_) {
    followed_shape_ = found.shape;
    followed_score_ = score;
    followed_label_ = line.prefix.rank;
    lines_left_ = is_stack_head(found.line.text) ? max_following_stack : max_following;
  }
  kept_.push_back(std::move(found));
}

void SalientLines::follow(const ReadLine& line) {
  const auto followed = std::find_if(kept_.begin(), kept_.end(),
                                     [&](const SalientLine& t) { return t.shape == followed_shape_; });
  if (followed == kept_.end() || lines_left_-- <= 0) return end_source();
  // The first line of an error stack alone may name its rank.
  const bool of_stack = is_stack_head(followed->line.text) && !line.prefix.rank;
  if (followed_label_ != line.prefix.rank && !of_stack) return;
  const std::string_view text = trim(line.prefix.text);
  if (text.empty() && is_stack_head(followed->line.text)) return;
  if (text.empty() || is_decoration(text) || is_boilerplate(text) || is_usage_footer(text) ||
      states_setting(text))
    return end_source();
  followed->following.push_back({line.line, shorten(sanitize(text), 300)});
}

std::vector<SalientLine> SalientLines::best(std::size_t limit) const {
  std::vector<SalientLine> best = kept_;
  if (highest_ > boilerplate_score)
    std::erase_if(best, [](const SalientLine& line) { return line.score <= boilerplate_score; });
  std::sort(best.begin(), best.end(),
            [](const SalientLine& a, const SalientLine& b) { return weaker(b, a); });
  if (best.size() > limit) best.resize(limit);
  std::sort(best.begin(), best.end(),
            [](const SalientLine& a, const SalientLine& b) { return a.moment.sequence < b.moment.sequence; });
  return best;
}

}  // namespace ddlrun::diagnose
