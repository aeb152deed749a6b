// SPDX-License-Identifier: MIT
// bin/NAME of a bundle: starts PREFIX/libexec/ddlrun/NAME, wherever PREFIX is. Where the host's C library is older than
// the program needs, or DDLRUN_BUNDLED_LIBC is set, the loader and C library of the bundle run it. Elsewhere the host's
// own do, so that its name services and its MPI are of one C library. Static, so that it starts on any host.
//   NEEDED_VERSION  "GLIBC_2.34": a symbol version that the host's libc.so.6 must define
//   LOADER          "/lib64/ld-linux-x86-64.so.2", as the programs name it
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void cut_last(char* path) {
  char* slash = strrchr(path, '/');
  if (slash != NULL) *slash = '\0';
}

// The C library lies beside the loader's real file on Debian, Red Hat, SUSE and Arch. A host with another C library
// (musl) has no such loader. A version that a library defines stands in its string table.
static int host_has_version(const char* version) {
  char path[PATH_MAX + 16];
  struct stat found;
  if (realpath(LOADER, path) == NULL) return 0;
  cut_last(path);
  strcat(path, "/libc.so.6");
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &found) != 0) return 0;
  void* bytes = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) return 0;
  return memmem(bytes, (size_t)found.st_size, version, strlen(version) + 1) != NULL;
}

static char* join(const char* a, const char* b, const char* c) {
  char* text = malloc(strlen(a) + strlen(b) + strlen(c) + 1);
  if (text == NULL) exit(70);
  return strcat(strcat(strcpy(text, a), b), c);
}

int main(int argc, char** argv) {
  char prefix[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", prefix, sizeof prefix - 1);
  if (length <= 0 || argc < 1) {
    fprintf(stderr, "ddlrun: error: /proc/self/exe cannot be read: %s\n  try: mount -t proc proc /proc\n", strerror(errno));
    return 3;
  }
  prefix[length] = '\0';
  char* name = strdup(strrchr(prefix, '/'));
  cut_last(prefix);
  cut_last(prefix);
  char* program = join(prefix, "/libexec/ddlrun", name == NULL ? "" : name);
  const char* forced = getenv("DDLRUN_BUNDLED_LIBC");
  if ((forced == NULL || *forced == '\0') && host_has_version(NEEDED_VERSION)) {
    execv(program, argv);
  } else {
    // The loader would read these as separators or expand them: it would search the current directory.
    if (strpbrk(prefix, ":;$") != NULL) {
      fprintf(stderr, "ddlrun: error: the path of the bundle has ':', ';' or '$'\n  at:  %s\n  try: unpack it at another path\n", prefix);
      return 3;
    }
    // --library-path is in place of LD_LIBRARY_PATH, which may name the site's MPI.
    const char* theirs = getenv("LD_LIBRARY_PATH");
    const int has_theirs = theirs != NULL && *theirs != '\0';
    char* path = join(join(prefix, "/libexec/glibc", has_theirs ? ":" : ""), has_theirs ? theirs : "", "");
    char** words = calloc((size_t)argc + 6, sizeof *words);
    if (words == NULL) return 70;
    char* first[] = {join(prefix, "/libexec/glibc", strrchr(LOADER, '/')), "--argv0", argv[0], "--library-path", path, program};
    memcpy(words, first, sizeof first);
    memcpy(words + 6, argv + 1, (size_t)argc * sizeof *argv);  // with the null at the end
    execv(words[0], words);
    program = words[0];
  }
  fprintf(stderr, "ddlrun: error: %s cannot be started: %s\n  try: unpack the whole bundle again\n", program, strerror(errno));
  return 126;
}
