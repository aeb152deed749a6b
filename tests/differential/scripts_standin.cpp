// SPDX-License-Identifier: MIT
// Stands in for ddlrun, srun, module and the program of a rendered script: appends what it got to the file
// $STANDIN_RECORD as NUL-terminated words: its name, argc, argv, the directory it runs in, the count and the
// text of its environment. Its status is the number of its words. `doctor` is content.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

extern char** environ;

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "doctor") == 0) return 0;
  std::string record;
  const auto add = [&record](const std::string& word) { record.append(word.c_str(), word.size() + 1); };
  const char* slash = std::strrchr(argv[0], '/');
  add(slash != nullptr ? slash + 1 : argv[0]);
  add(std::to_string(argc - 1));
  for (int i = 1; i < argc; ++i) add(argv[i]);
  char directory[4096];
  add(::getcwd(directory, sizeof directory) != nullptr ? directory : "?");
  int count = 0;
  while (environ[count] != nullptr) ++count;
  add(std::to_string(count));
  for (int i = 0; i < count; ++i) add(environ[i]);
  const char* path = std::getenv("STANDIN_RECORD");
  const int file = path == nullptr ? -1 : ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0 || ::write(file, record.data(), record.size()) != static_cast<ssize_t>(record.size()))
    return 99;
  if (std::strcmp(slash != nullptr ? slash + 1 : argv[0], "module") == 0) return 0;
  return argc % 80;
}
