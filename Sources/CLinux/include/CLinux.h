// System calls of Linux that neither glibc's module nor Swift's overlay shows.

#ifndef HARALD_CLINUX_H
#define HARALD_CLINUX_H

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The socket option that gives a descriptor of the process at the other end (unix(7); Linux 6.5 and later). It has this number on all
/// architectures that have the generic ones.
enum { harald_SO_PEERPIDFD = 77 };

/// A descriptor of a process (pidfd_open(2)); negative, with `errno`, where there is none.
static inline int harald_pidfd_open(int process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

/// Sends a signal to the process of a descriptor (pidfd_send_signal(2)); negative, with `errno`, where it is gone.
static inline int harald_pidfd_send_signal(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

#endif
