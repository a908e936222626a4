#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>

#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
#define HARALD_HAS_CLOSEFROM 1
#endif
#endif

// Descriptors 0, 1 and 2 of the child; all others are closed.
static int choose_files(posix_spawn_file_actions_t *files, int is_silent) {
    int error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0 && is_silent) {
        error = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (error == 0) error = posix_spawn_file_actions_adddup2(files, STDOUT_FILENO, STDERR_FILENO);
    }
    if (error != 0) return error;
#if HARALD_HAS_CLOSEFROM
    return posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
#else
#ifdef SYS_close_range
    // CLOSE_RANGE_CLOEXEC, Linux 5.11. Older kernels rely on O_CLOEXEC alone.
    (void)syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 4U);
#endif
    return 0;
#endif
}

// No signal blocked or ignored, and a process group of its own: the terminal's Ctrl-C is for the service.
static int choose_attributes(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    return error == 0 ? posix_spawnattr_setflags(attributes, flags) : error;
}

int harald_spawn(
    const char *program, char *const *arguments, char *const *environment, int is_silent, int *process
) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        pid_t child = 0;
        error = choose_files(&files, is_silent);
        if (error == 0) error = choose_attributes(&attributes);
        if (error == 0) error = posix_spawn(&child, program, &files, &attributes, arguments, environment);
        if (error == 0) *process = (int)child;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

int harald_wait(int descriptor, int process, int *status, int *is_signal) {
    siginfo_t information;
    // P_PIDFD, which older headers lack.
    int kind = descriptor >= 0 ? 3 : P_PID;
    while (waitid((idtype_t)kind, (id_t)(descriptor >= 0 ? descriptor : process), &information, WEXITED) != 0) {
        if (errno == EINTR) continue;
        // Linux 5.3 has pidfd_open(2) and not P_PIDFD.
        if (errno != EINVAL || kind == P_PID) return errno;
        kind = P_PID;
        descriptor = -1;
    }
    *status = information.si_status;
    *is_signal = information.si_code != CLD_EXITED;
    return 0;
}
