// System calls of Linux that neither glibc's module nor Swift's overlay shows.

#ifndef HARALD_CLINUX_H
#define HARALD_CLINUX_H

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
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
