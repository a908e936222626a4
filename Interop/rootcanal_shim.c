// Preloaded into rootcanal to correct two habits of its sockets, which no option of it changes:
//  - it listens on every interface; a test must not be reachable from outside this machine;
//  - it sends the packet type and the packet with two writes. Nagle's algorithm holds the second back until the
//    first is acknowledged, which the other side delays: 40 ms for every packet.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

typedef int (*bind_function)(int, const struct sockaddr *, socklen_t);
typedef int (*accept_function)(int, struct sockaddr *restrict, socklen_t *restrict);

int bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    bind_function next = (bind_function)dlsym(RTLD_NEXT, "bind");
    struct sockaddr_storage local = {0};
    if (!address || length > sizeof local) return next(descriptor, address, length);
    memcpy(&local, address, length);
    if (local.ss_family == AF_INET) ((struct sockaddr_in *)&local)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (local.ss_family == AF_INET6) ((struct sockaddr_in6 *)&local)->sin6_addr = in6addr_loopback;
    return next(descriptor, (struct sockaddr *)&local, length);
}

int accept(int descriptor, struct sockaddr *restrict address, socklen_t *restrict length) {
    accept_function next = (accept_function)dlsym(RTLD_NEXT, "accept");
    int connection = next(descriptor, address, length);
    int on = 1;
    if (connection >= 0) setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return connection;
}
