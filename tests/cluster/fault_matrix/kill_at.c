// SPDX-License-Identifier: MIT
// kill_at NAME WORD N COMMAND...: runs COMMAND and kills outright, as it begins its N-th system call, the
// first process below it that is called NAME and has WORD as the first argument of its command line ("-":
// any). The others go on untraced. With N = 0, kills none and prints how many calls that process made. Exits
// as COMMAND did.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t read_proc(pid_t pid, const char* file, char* text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
  FILE* stream = fopen(path, "r");
  const size_t n = stream == NULL ? 0 : fread(text, 1, size - 1, stream);
  if (stream != NULL) fclose(stream);
  text[n] = 0;
  return n;
}

static int is_wanted(pid_t pid, const char* name, const char* word) {
  char text[4096];
  size_t n = read_proc(pid, "comm", text, sizeof text);
  if (n == 0 || strncmp(text, name, strlen(name)) != 0 || text[strlen(name)] != '\n') return 0;
  if (strcmp(word, "-") == 0) return 1;
  n = read_proc(pid, "cmdline", text, sizeof text);
  const size_t second = strlen(text) + 1;
  return second < n && strcmp(text + second, word) == 0;
}

// The process of a thread.
static pid_t process_of(pid_t thread) {
  char text[4096];
  read_proc(thread, "status", text, sizeof text);
  const char* line = strstr(text, "\nTgid:");
  return line == NULL ? thread : atoi(line + 6);
}

int main(int count, char** words) {
  if (count < 5) return 2;
  const long wanted = atol(words[3]);
  const pid_t command = fork();
  if (command == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execvp(words[4], words + 4);
    _exit(127);
  }
  int status = 0;
  waitpid(command, &status, 0);
  ptrace(PTRACE_SETOPTIONS, command, 0,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
             PTRACE_O_TRACEEXEC);
  ptrace(PTRACE_SYSCALL, command, 0, 0);
  pid_t victim = 0;
  long calls = 0;
  int done = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
    if (pid <= 0) continue;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (pid != command) continue;
      if (wanted == 0) fprintf(stderr, "kill_at: %ld calls\n", calls);
      if (WIFSIGNALED(status)) fprintf(stderr, "kill_at: signal %d\n", WTERMSIG(status));
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
      signal = 0;
      struct __ptrace_syscall_info info;
      const long n = ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info);
      if (!done && n > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        if (victim == 0 && is_wanted(pid, words[1], words[2])) victim = process_of(pid);
        if (victim != 0 && (pid == victim || process_of(pid) == victim) && ++calls == wanted) {
          done = 1;
          fprintf(stderr, "kill_at: %s killed at call %ld (number %llu)\n", words[1], calls,
                  (unsigned long long)info.entry.nr);
          kill(victim, SIGKILL);
        }
      }
    } else if (status >> 16 != 0 || signal == SIGSTOP) {
      signal = 0;  // a fork or an exec, and the stop that a new tracee begins with
    }
    ptrace(done ? PTRACE_DETACH : PTRACE_SYSCALL, pid, 0, signal);
  }
  return 70;
}
