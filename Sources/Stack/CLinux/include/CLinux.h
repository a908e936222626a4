// System calls of Linux that neither glibc's module nor Swift's overlay shows.

#ifndef HARALD_CLINUX_H
#define HARALD_CLINUX_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The socket option that gives a descriptor of the process at the other end (unix(7); Linux 6.5 and later). It has this number on all
/// architectures that have the generic ones.
enum { harald_SO_PEERPIDFD = 77 };

/// Types and flags of socket(2). glibc declares these names as an enumeration and musl as macros, which Swift imports as values of different
/// types.
static const int harald_SOCK_STREAM = SOCK_STREAM;
static const int harald_SOCK_DGRAM = SOCK_DGRAM;
static const int harald_SOCK_RAW = SOCK_RAW;
static const int harald_SOCK_SEQPACKET = SOCK_SEQPACKET;
static const int harald_SOCK_CLOEXEC = SOCK_CLOEXEC;
static const int harald_SOCK_NONBLOCK = SOCK_NONBLOCK;

/// Writes out what C and Swift's `print` have buffered for standard output. Returns 0, or the error number. Swift does not
/// let several threads use `stdout` by name.
static inline int harald_flush_output(void) {
    return fflush(stdout) ? errno : 0;
}

/// A descriptor of a process (pidfd_open(2)); negative, with `errno`, where there is none.
static inline int harald_pidfd_open(int process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

/// Sends a signal to the process of a descriptor (pidfd_send_signal(2)); negative, with `errno`, where it is gone.
static inline int harald_pidfd_send_signal(int descriptor, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

/// Starts a program with the given environment, in a process group of its own: signals unblocked and at their defaults, descriptor 0 on
/// `/dev/null`, 1 and 2 those of the caller, or on `/dev/null` for a silent one, and no other descriptor. Both arrays end with NULL.
/// Blocks until the program has been loaded.
///
/// Returns 0 and the number of the process, or an error number.
int harald_spawn(
    const char *program, char *const *arguments, char *const *environment, int is_silent, int *process
);

/// Waits for a child to end and reaps it, by its descriptor, or by its number where `descriptor` is negative (waitid(2)). `status` is the exit
/// code, or the number of the signal that ended it.
///
/// Returns 0, or an error number.
int harald_wait(int descriptor, int process, int *status, int *is_signal);

/// Reads the return addresses of the calling thread, the innermost first and without that of this call, by its chain of frame pointers. SwiftPM
/// keeps frame pointers on Linux, in release builds too, unless it is told otherwise. Stops at what is no frame of this stack. Returns the number of addresses.
int harald_call_stack(uint64_t *addresses, int maximum);

/// The file that the code at an address was loaded from, and the difference between its addresses here and in the file. Returns 0 if there is none.
int harald_code_file(uint64_t address, char *path, size_t size, uint64_t *difference);

/// A mangled name as written in Swift, to be freed; NULL if it is none.
char *harald_demangle(const char *name);

/// An address in Swift's runtime.
uint64_t harald_address_of_runtime(void);

/// Sends a datagram to an address, with a descriptor beside it unless that is negative (unix(7), SCM_RIGHTS). Negative, with `errno`, where it
/// does not go.
static inline ssize_t harald_send_with_descriptor(
    int socket, const void *octets, size_t count, const struct sockaddr *address, socklen_t size, int descriptor
) {
    struct iovec part = {.iov_base = (void *)octets, .iov_len = count};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_name = (void *)address, .msg_namelen = size, .msg_iov = &part, .msg_iovlen = 1,
    };
    if (descriptor >= 0) {
        memset(&control, 0, sizeof(control));
        message.msg_control = &control;
        message.msg_controllen = sizeof(control.room);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

#endif
