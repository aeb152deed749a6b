// SPDX-License-Identifier: MIT
#include "runtime/train_command.hpp"

int main(int argc, char** argv) {
  return ddlrun::runtime::run_train_command({argv + (argc > 0 ? 1 : 0), argv + argc});
}
