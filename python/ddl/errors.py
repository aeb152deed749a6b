# SPDX-License-Identifier: MIT
"""The exceptions. The text has what is wrong, where, and what to try, as the C library gives it."""


class Error(Exception):
    """Any failure of libddl. After all but UsageError each further call on the Context fails with the first error."""


class UsageError(Error):
    """An argument is invalid. Nothing was sent, the call does not count, and the Context stays usable."""


class MismatchError(Error):
    """Another rank made a different call; the text names both."""


class LostError(Error):
    """A rank ended, or did not make the call within the timeout."""


class UnsupportedError(Error):
    """This build or this machine cannot do it."""


# DDL_ERROR_* of ddl.h.
OF_STATUS = {1: UsageError, 2: MismatchError, 3: LostError, 4: UnsupportedError}


def failure(kind, what, where, hint):
    """An error of this package itself, in the form of the C library's."""
    return kind(f"{what} (at {where}); try {hint}")


def usage(what, where, hint):
    return failure(UsageError, what, where, hint)
