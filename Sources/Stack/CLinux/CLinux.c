#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
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

// The end of the calling thread's stack, which does not change. 0 if it is unknown.
static uintptr_t end_of_stack(void) {
    static _Thread_local uintptr_t end;
    if (end != 0) return end;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0) end = (uintptr_t)lowest + size;
    pthread_attr_destroy(&attributes);
    return end;
}

int harald_call_stack(uint64_t *addresses, int maximum) {
    int count = 0;
    const uintptr_t end = end_of_stack();
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    // The first address is that of this call. Async functions mark the frame pointer that they save, which then points
    // behind the stack: their callers are in the heap.
    for (int number = 0; count < maximum; number++) {
        if (frame % sizeof(uintptr_t) != 0 || frame >= end || end - frame < 2 * sizeof(uintptr_t)) return count;
        const uintptr_t *words = (const uintptr_t *)frame;
        if (words[1] == 0) return count;
        if (number > 0) addresses[count++] = words[1];
        if (words[0] <= frame) return count;
        frame = words[0];
    }
    return count;
}

struct code_file {
    uint64_t address;
    uint64_t difference;
    char *path;
    size_t size;
};

static int look_at_file(struct dl_phdr_info *file, size_t size, void *data) {
    (void)size;
    struct code_file *wanted = data;
    for (int i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[i];
        const uint64_t start = file->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || wanted->address < start || wanted->address - start >= part->p_memsz) continue;
        // The program itself has no name.
        const char *name = file->dlpi_name != NULL && file->dlpi_name[0] != 0 ? file->dlpi_name : "/proc/self/exe";
        wanted->difference = file->dlpi_addr;
        return snprintf(wanted->path, wanted->size, "%s", name) < (int)wanted->size ? 1 : 2;
    }
    return 0;
}

int harald_code_file(uint64_t address, char *path, size_t size, uint64_t *difference) {
    struct code_file wanted = {.address = address, .path = path, .size = size};
    if (dl_iterate_phdr(look_at_file, &wanted) != 1) return 0;
    *difference = wanted.difference;
    return 1;
}

// Part of Swift's runtime; its own backtraces use it. Weak, because a C program has none.
extern char *swift_demangle(const char *, size_t, char *, size_t *, uint32_t) __attribute__((weak));

char *harald_demangle(const char *name) {
    return swift_demangle ? swift_demangle(name, strlen(name), NULL, NULL, 0) : NULL;
}

uint64_t harald_address_of_runtime(void) { return (uint64_t)(uintptr_t)swift_demangle; }
