// SPDX-License-Identifier: MIT
// Keys of the terminal for a child in a process group of its own: Ctrl-C reaches us alone, what is typed
// reaches the child. Linux only.
#pragma once

#include <sys/types.h>

namespace ddlrun {

// Whether a child in a process group of its own may write to our terminal, or there is none.
bool may_have_own_group();

// A process in our group that copies what is typed to `to`, the write end of a pipe, while our group has the
// terminal. It ends with its parent, and at the end of the input. -1 where it cannot be started.
pid_t start_typing(int to);

}  // namespace ddlrun
