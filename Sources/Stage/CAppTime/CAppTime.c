#define _GNU_SOURCE
#include "CAppTime.h"

#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const struct apptime_hooks *) installed;
static _Thread_local void *context;
// Nonzero while a hook runs, whose own calls are not the app's.
static _Thread_local int inside;
// Whether the app started this thread, which belongs to it for as long as it runs.
static _Thread_local bool is_own;
// The time for which this thread slept in the present call of the app. The world's clock stands still meanwhile, but code
// that sleeps until a point in time has to see it come.
static _Thread_local int64_t slept;

void *apptime_context(void) { return context; }

void apptime_set_context(void *new_context) {
    context = new_context;
    slept = 0;
}

// ThreadSanitizer replaces some of the same functions, and needs to see the calls. AddressSanitizer needs to see threads.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZES_THREADS
#endif
#if __has_feature(address_sanitizer)
#define SANITIZES_ADDRESSES
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(SANITIZES_THREADS)

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// Calls a hook and returns whether it took over.
#define HOOKED(name, ...)                                                              \
    ({                                                                                 \
        const struct apptime_hooks *hooks = atomic_load(&installed);                   \
        bool taken = false;                                                            \
        if (hooks && !inside) {                                                        \
            inside++;                                                                  \
            taken = hooks->name(__VA_ARGS__);                                          \
            inside--;                                                                  \
        }                                                                              \
        taken;                                                                         \
    })

// The function of the same name in the shared libraries.
#define NEXT(name)                                                                     \
    ({                                                                                 \
        static _Atomic(void *) found;                                                  \
        void *address = atomic_load(&found);                                           \
        if (!address) {                                                                \
            address = dlsym(RTLD_NEXT, #name);                                         \
            if (!address) abort();                                                     \
            atomic_store(&found, address);                                             \
        }                                                                              \
        (__typeof__(&name))address;                                                    \
    })

bool apptime_is_supported(void) { return true; }

// --- clocks -----------------------------------------------------------------------------------------------------------

static const int64_t second = 1000000000;
// The uptime at which worlds begin, so that no app sees a time before the start of the machine.
static const int64_t uptime = 1000 * second;

static bool world_time(clockid_t clock, int64_t *time) {
    int64_t elapsed, calendar;
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        if (!HOOKED(now, &elapsed, &calendar)) return false;
        *time = calendar + slept;
        return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        if (!HOOKED(now, &elapsed, &calendar)) return false;
        *time = uptime + elapsed + slept;
        return true;
    default: return false;
    }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int64_t now;
    if (atomic_load(&installed) && world_time(clock, &now)) {
        time->tv_sec = now / second;
        time->tv_nsec = now % second;
        return 0;
    }
    // The first calls come before shared libraries can be searched.
    static _Atomic(void *) found;
    void *address = atomic_load(&found);
    if (!address) {
        if (!atomic_load(&installed)) return (int)syscall(SYS_clock_gettime, clock, time);
        address = dlsym(RTLD_NEXT, "clock_gettime");
        if (!address) abort();
        atomic_store(&found, address);
    }
    return ((int (*)(clockid_t, struct timespec *))address)(clock, time);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// --- waiting ----------------------------------------------------------------------------------------------------------

int nanosleep(const struct timespec *duration, struct timespec *rest) {
    int64_t length = duration->tv_sec * second + duration->tv_nsec;
    bool is_cut = false;
    if (is_own && HOOKED(sleep, length, &is_cut)) {
        if (is_cut) slept += length;
        return 0;
    }
    if (HOOKED(waits, "sleep")) slept += length;
    return NEXT(nanosleep)(duration, rest);
}

int usleep(useconds_t duration) {
    struct timespec time = {duration / 1000000, duration % 1000000 * 1000};
    return nanosleep(&time, NULL);
}

unsigned sleep(unsigned duration) {
    struct timespec time = {duration, 0}, rest = {0, 0};
    return nanosleep(&time, &rest) == 0 ? 0 : (unsigned)rest.tv_sec;
}

// --- libdispatch ------------------------------------------------------------------------------------------------------

// As <dispatch/dispatch.h> declares them, without the types of objects and blocks.
typedef uint64_t dispatch_time_t;
void dispatch_after(dispatch_time_t when, void *queue, void *block);
void dispatch_after_f(dispatch_time_t when, void *queue, void *context, apptime_function function);
void dispatch_async(void *queue, void *block);
void dispatch_async_f(void *queue, void *context, apptime_function function);
void *dispatch_source_create(const void *type, uintptr_t handle, uintptr_t mask, void *queue);
void dispatch_source_set_timer(void *source, dispatch_time_t start, uint64_t interval, uint64_t leeway);
void dispatch_source_set_event_handler(void *source, void *block);
void dispatch_source_set_cancel_handler(void *source, void *block);
void dispatch_source_set_event_handler_f(void *source, apptime_function function);
void dispatch_source_cancel(void *source);
void dispatch_source_merge_data(void *source, uintptr_t value);
void *dispatch_get_context(void *object);
void *dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);
dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delay);
intptr_t dispatch_semaphore_wait(void *semaphore, dispatch_time_t when);
intptr_t dispatch_group_wait(void *group, dispatch_time_t when);
void dispatch_group_async(void *group, void *queue, void *block);
void dispatch_barrier_async(void *queue, void *block);
void dispatch_barrier_async_f(void *queue, void *context, apptime_function function);
void dispatch_group_notify(void *group, void *queue, void *block);
void dispatch_group_notify_f(void *group, void *queue, void *context, apptime_function function);
void dispatch_group_enter(void *group);
void dispatch_group_leave(void *group);
void dispatch_activate(void *object);
void dispatch_retain(void *object);
void dispatch_release(void *object);
extern char _dispatch_main_q[], _dispatch_source_type_timer[], _dispatch_source_type_data_add[];

// Of the blocks runtime. A block begins with these fields (the ABI of Clang's blocks).
void *_Block_copy(const void *block);
void _Block_release(const void *block);
extern void *_NSConcreteStackBlock[];

struct block {
    void *class;
    int flags;
    int reserved;
    void (*invoke)(struct block *);
    const struct block_size {
        unsigned long reserved, size;
    } *descriptor;
};
// The flag of a block whose descriptor has functions that copy and dispose of what the block captured.
static const int has_copy_and_dispose = 1 << 25;

static void call_block(void *block) {
    ((struct block *)block)->invoke(block);
    _Block_release(block);
}

static void drop_block(void *block) { _Block_release(block); }

static struct apptime_call calling(void *block) {
    return (struct apptime_call){call_block, drop_block, _Block_copy(block)};
}

static void keep(void *object) { (void)object; }

static struct apptime_call calling_function(apptime_function function, void *argument) {
    return (struct apptime_call){function, keep, argument};
}

// A function that is not called in the world's time is called at once. It may be a job of a task, and a task that never
// ends would retain its app forever.
struct late_call {
    void *queue;
    apptime_function function;
    void *argument;
};

static void call_late(void *late) {
    struct late_call call = *(struct late_call *)late;
    free(late);
    call.function(call.argument);
    dispatch_release(call.queue);
}

static void drop_late(void *late) {
    struct late_call call = *(struct late_call *)late;
    free(late);
    apptime_async(call.queue, call.argument, call.function);
    dispatch_release(call.queue);
}

static struct apptime_call calling_late(void *queue, apptime_function function, void *argument) {
    struct late_call *late = malloc(sizeof *late);
    if (!late) abort();
    *late = (struct late_call){queue, function, argument};
    dispatch_retain(queue);
    return (struct apptime_call){call_late, drop_late, late};
}

// Releases a call that the hook did not take over.
static void forget_late(struct apptime_call call) {
    dispatch_release(((struct late_call *)call.context)->queue);
    free(call.context);
}

// The nanoseconds from now to a time of libdispatch: of the calendar (bits 63 and 62), since the machine started
// (bit 63), or since it started without the time it slept.
static int64_t delay_until(dispatch_time_t when) {
    if (when == 0) return 0;
    struct timespec now;
    int64_t value = (int64_t)when;
    if (value >= 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } else if (when & (1ULL << 62)) {
        clock_gettime(CLOCK_REALTIME, &now);
        value = -value;
    } else {
        clock_gettime(CLOCK_BOOTTIME, &now);
        value = (int64_t)(when & ~(1ULL << 63));
    }
    int64_t delay = value - (now.tv_sec * second + now.tv_nsec);
    return delay > 0 ? delay : 0;
}

static bool is_forever(dispatch_time_t when) { return when == ~0ULL; }

// A wait of libdispatch with a time-out. Code of an app asks for a time by the clock of its world. On a thread of the
// app's own, that time passes in the world. Elsewhere it passes on the machine, since the world's clock stands still.
static intptr_t wait_for(intptr_t (*wait)(void *, dispatch_time_t), void *object, dispatch_time_t when) {
    if (!atomic_load(&installed) || inside || when == 0 || is_forever(when)) return wait(object, when);
    int64_t elapsed, calendar;
    if (!HOOKED(now, &elapsed, &calendar)) return wait(object, when);
    int64_t limit = delay_until(when);
    void *world_wait = NULL;
    bool is_worlds = is_own && HOOKED(begin_wait, limit, &world_wait);
    const struct apptime_hooks *hooks = atomic_load(&installed);
    intptr_t result;
    // Times are those of the machine meanwhile.
    inside++;
    if (is_worlds) {
        // A short wait by the clock of the machine follows the other, so that no signal is lost.
        do {
            result = wait(object, dispatch_time(0, 1000000));
        } while (result && !hooks->is_over(world_wait));
        if (result) result = wait(object, 0);
        hooks->end_wait(world_wait);
    } else {
        result = wait(object, dispatch_time(0, limit));
    }
    inside--;
    if (!is_worlds && result) slept += limit;
    return result;
}

intptr_t dispatch_semaphore_wait(void *semaphore, dispatch_time_t when) {
    return wait_for(NEXT(dispatch_semaphore_wait), semaphore, when);
}

intptr_t dispatch_group_wait(void *group, dispatch_time_t when) { return wait_for(NEXT(dispatch_group_wait), group, when); }

void dispatch_after(dispatch_time_t when, void *queue, void *block) {
    if (atomic_load(&installed) && !inside && !is_forever(when)) {
        int64_t delay = delay_until(when);
        struct apptime_call call = calling(block);
        if (HOOKED(after, queue, delay, call)) return;
        _Block_release(call.context);
    }
    NEXT(dispatch_after)(when, queue, block);
}

void dispatch_after_f(dispatch_time_t when, void *queue, void *argument, apptime_function function) {
    if (atomic_load(&installed) && !inside && !is_forever(when)) {
        int64_t delay = delay_until(when);
        struct apptime_call call = calling_late(queue, function, argument);
        if (HOOKED(after, queue, delay, call)) return;
        forget_late(call);
    }
    NEXT(dispatch_after_f)(when, queue, argument, function);
}

void dispatch_async(void *queue, void *block) {
    if (atomic_load(&installed) && !inside) {
        struct apptime_call call = calling(block);
        if (HOOKED(async, queue, call)) return;
        _Block_release(call.context);
    }
    NEXT(dispatch_async)(queue, block);
}

void dispatch_async_f(void *queue, void *argument, apptime_function function) {
    if (atomic_load(&installed) && !inside) {
        struct apptime_call call = calling_late(queue, function, argument);
        if (HOOKED(async, queue, call)) return;
        forget_late(call);
    }
    NEXT(dispatch_async_f)(queue, argument, function);
}

// A block of a group, which is left after the block has run.
struct grouped_call {
    void *group;
    void *block;
};

// Once a group is empty, its notifications are sure to run soon, and the world's clock waits for them.
static void note_if_empty(void *group) {
    if (NEXT(dispatch_group_wait)(group, 0) == 0) HOOKED(group_emptied, group);
}

void dispatch_group_leave(void *group) {
    if (!atomic_load(&installed) || inside) return NEXT(dispatch_group_leave)(group);
    dispatch_retain(group);
    NEXT(dispatch_group_leave)(group);
    note_if_empty(group);
    dispatch_release(group);
}

static void leave_group(struct grouped_call *call) {
    dispatch_group_leave(call->group);
    dispatch_release(call->group);
    free(call);
}

static void call_grouped(void *context) {
    struct grouped_call *call = context;
    call_block(call->block);
    leave_group(call);
}

static void drop_grouped(void *context) {
    struct grouped_call *call = context;
    _Block_release(call->block);
    leave_group(call);
}

void dispatch_group_async(void *group, void *queue, void *block) {
    if (atomic_load(&installed) && !inside) {
        struct grouped_call *grouped = malloc(sizeof *grouped);
        if (!grouped) abort();
        *grouped = (struct grouped_call){group, _Block_copy(block)};
        dispatch_retain(group);
        dispatch_group_enter(group);
        struct apptime_call call = {call_grouped, drop_grouped, grouped};
        if (HOOKED(async, queue, call)) return;
        drop_grouped(grouped);
    }
    NEXT(dispatch_group_async)(group, queue, block);
}

void dispatch_barrier_async(void *queue, void *block) {
    if (atomic_load(&installed) && !inside) {
        struct apptime_call call = calling(block);
        if (HOOKED(adopt, &call)) return NEXT(dispatch_barrier_async_f)(queue, call.context, call.call);
        _Block_release(call.context);
    }
    NEXT(dispatch_barrier_async)(queue, block);
}

void dispatch_group_notify(void *group, void *queue, void *block) {
    if (atomic_load(&installed) && !inside) {
        struct apptime_call call = calling(block);
        if (HOOKED(notify, group, &call)) {
            NEXT(dispatch_group_notify_f)(group, queue, call.context, call.call);
            return note_if_empty(group);
        }
        _Block_release(call.context);
    }
    NEXT(dispatch_group_notify)(group, queue, block);
}

void *dispatch_source_create(const void *type, uintptr_t handle, uintptr_t mask, void *queue) {
    int64_t elapsed, calendar;
    if (type != _dispatch_source_type_timer || !HOOKED(now, &elapsed, &calendar)) {
        void *source = NEXT(dispatch_source_create)(type, handle, mask, queue);
        // A timer that was released before may have had this address.
        HOOKED(forget_source, source);
        return source;
    }
    // A source that the world's clock triggers.
    void *source = NEXT(dispatch_source_create)(_dispatch_source_type_data_add, 0, 0, queue);
    if (HOOKED(begin_source, source)) return source;
    // The app has just ended. An inactive source may not be released.
    dispatch_activate(source);
    NEXT(dispatch_source_cancel)(source);
    dispatch_release(source);
    return NEXT(dispatch_source_create)(type, handle, mask, queue);
}

void dispatch_source_set_timer(void *source, dispatch_time_t start, uint64_t interval, uint64_t leeway) {
    if (atomic_load(&installed) && !inside) {
        int64_t delay = is_forever(start) ? -1 : delay_until(start);
        if (HOOKED(set_source, source, delay, interval > INT64_MAX ? -1 : (int64_t)interval)) return;
    }
    NEXT(dispatch_source_set_timer)(source, start, interval, leeway);
}

void dispatch_source_set_event_handler(void *source, void *block) {
    if (block && atomic_load(&installed) && !inside) {
        struct apptime_call call = calling(block);
        // The block is called again and again, so the hook calls it and does not release it.
        call.call = (apptime_function)((struct block *)call.context)->invoke;
        if (HOOKED(handle_source, source, call)) return;
        _Block_release(call.context);
    }
    NEXT(dispatch_source_set_event_handler)(source, block);
}

void dispatch_source_set_event_handler_f(void *source, apptime_function function) {
    if (function && HOOKED(handle_source, source, calling_function(function, dispatch_get_context(source)))) return;
    NEXT(dispatch_source_set_event_handler_f)(source, function);
}

void dispatch_source_set_cancel_handler(void *source, void *block) {
    if (block && atomic_load(&installed) && !inside) {
        struct apptime_call call = calling(block);
        if (HOOKED(end_source, source, call)) return;
        _Block_release(call.context);
    }
    NEXT(dispatch_source_set_cancel_handler)(source, block);
}

void dispatch_source_cancel(void *source) {
    HOOKED(cancel_source, source);
    NEXT(dispatch_source_cancel)(source);
}

// A block that makes a call. The copy that the source keeps takes over the context.
struct handler {
    struct block block;
    struct apptime_call call;
};

static void invoke_handler(struct block *block) {
    struct handler *handler = (struct handler *)block;
    handler->call.call(handler->call.context);
}

static void copy_handler(struct handler *copy, const struct handler *original) { (void)copy, (void)original; }
static void dispose_of_handler(const struct handler *handler) { handler->call.drop(handler->call.context); }

static struct handler handler_of(struct apptime_call call) {
    static const struct {
        struct block_size size;
        void (*copy)(struct handler *, const struct handler *);
        void (*dispose)(const struct handler *);
    } descriptor = {{0, sizeof(struct handler)}, copy_handler, dispose_of_handler};
    return (struct handler){{_NSConcreteStackBlock, has_copy_and_dispose, 0, invoke_handler, &descriptor.size}, call};
}

static void set_handler(void (*set)(void *, void *), void *source, struct apptime_call call) {
    struct handler handler = handler_of(call);
    set(source, &handler);
}

void apptime_handle(void *source, struct apptime_call call) { set_handler(NEXT(dispatch_source_set_event_handler), source, call); }

void apptime_handle_end(void *source, struct apptime_call call) {
    set_handler(NEXT(dispatch_source_set_cancel_handler), source, call);
}

// Of <dispatch/queue_private.h>. Such a queue starts threads even if all processors are busy, for example with tests that
// run worlds.
static const uintptr_t overcommit = 2;

void *apptime_main_queue(void) { return _dispatch_main_q; }
void *apptime_global_queue(void) { return dispatch_get_global_queue(0, overcommit); }
void apptime_async(void *queue, void *argument, apptime_function function) {
    NEXT(dispatch_async_f)(queue, argument, function);
}
void apptime_retain(void *object) { dispatch_retain(object); }
void apptime_release(void *object) { dispatch_release(object); }
void apptime_merge(void *source) { dispatch_source_merge_data(source, 1); }

// --- the concurrency runtime ------------------------------------------------------------------------------------------

#define SWIFT __attribute__((swiftcall))

typedef SWIFT void (*enqueue)(void *job);
extern SWIFT void (*swift_task_enqueueGlobal_hook)(void *job, enqueue original);
extern SWIFT void (*swift_task_enqueueMainExecutor_hook)(void *job, enqueue original);
// A serial executor is a reference and a witness table; both are zero for the global executor.
struct executor {
    void *identity;
    uintptr_t implementation;
};
SWIFT void swift_job_run(void *job, struct executor executor);
SWIFT struct executor swift_task_getMainExecutor(void);

static SWIFT void enqueue_global(void *job, enqueue original) {
    if (!HOOKED(job, job, false)) original(job);
}

static SWIFT void enqueue_main(void *job, enqueue original) {
    if (!HOOKED(job, job, true)) original(job);
}

void apptime_run_job(void *job, bool on_main) {
    struct executor executor = {NULL, 0};
    swift_job_run(job, on_main ? swift_task_getMainExecutor() : executor);
}

// --- Foundation's timers ----------------------------------------------------------------------------------------------

// As <CoreFoundation/CFRunLoop.h> declares them. A time is in seconds since the beginning of 2001.
typedef void (*timer_callout)(void *timer, void *info);
struct timer_context {
    long version;
    void *info;
};
void *CFRunLoopTimerCreate(
    void *allocator, double due, double interval, unsigned long flags, long order, timer_callout callout, struct timer_context *context
);
void CFRunLoopAddTimer(void *loop, void *timer, void *mode);
void CFRunLoopTimerSetNextFireDate(void *timer, double due);
void CFRunLoopTimerInvalidate(void *timer);

static const double beginning_of_2001 = 978307200;

// Calendar times that are out of range count as the end of time.
static int64_t nanoseconds(double seconds) {
    return seconds < 9e9 ? (int64_t)(seconds * 1e9) : INT64_MAX;
}

static int64_t calendar(double due) { return nanoseconds(due + beginning_of_2001); }

void *CFRunLoopTimerCreate(
    void *allocator, double due, double interval, unsigned long flags, long order, timer_callout callout, struct timer_context *context
) {
    void *timer = NEXT(CFRunLoopTimerCreate)(allocator, due, interval, flags, order, callout, context);
    HOOKED(begin_timer, timer, calendar(due), nanoseconds(interval), callout, context ? context->info : NULL);
    return timer;
}

// A function of Foundation that is not replaced here. Only a program with Foundation gets here.
#define FOUNDATION(type, name) ((type)foundation(#name))

static void *foundation(const char *name) {
    void *address = dlsym(RTLD_DEFAULT, name);
    if (!address) abort();
    return address;
}

void CFRunLoopAddTimer(void *loop, void *timer, void *mode) {
    bool is_main = loop == FOUNDATION(void *(*)(void), CFRunLoopGetMain)();
    bool is_current = loop == FOUNDATION(void *(*)(void), CFRunLoopGetCurrent)();
    if ((is_main || is_current) && HOOKED(add_timer, timer, is_main)) return;
    // The timer keeps the run loop going, and the world's clock makes it call.
    if (is_own && is_current && HOOKED(add_own_timer, timer, loop, mode)) apptime_set_next(timer, INT64_MAX);
    NEXT(CFRunLoopAddTimer)(loop, timer, mode);
}

void CFRunLoopTimerSetNextFireDate(void *timer, double due) {
    if (HOOKED(move_timer, timer, calendar(due))) return;
    NEXT(CFRunLoopTimerSetNextFireDate)(timer, due);
}

void CFRunLoopTimerInvalidate(void *timer) {
    HOOKED(end_timer, timer);
    NEXT(CFRunLoopTimerInvalidate)(timer);
}

bool apptime_timer_is_valid(void *timer) { return FOUNDATION(unsigned char (*)(void *), CFRunLoopTimerIsValid)(timer); }
void apptime_invalidate(void *timer) { NEXT(CFRunLoopTimerInvalidate)(timer); }

void apptime_set_next(void *timer, int64_t due) {
    NEXT(CFRunLoopTimerSetNextFireDate)(timer, (double)due / 1e9 - beginning_of_2001);
}

void apptime_retain_object(void *object) { FOUNDATION(void *(*)(void *), CFRetain)(object); }
void apptime_release_object(void *object) { FOUNDATION(void (*)(void *), CFRelease)(object); }

void apptime_perform(void *loop, void *mode, struct apptime_call call) {
    struct handler handler = handler_of(call);
    FOUNDATION(void (*)(void *, void *, void *), CFRunLoopPerformBlock)(loop, mode, &handler);
    FOUNDATION(void (*)(void *), CFRunLoopWakeUp)(loop);
}

// --- threads ----------------------------------------------------------------------------------------------------------

#ifndef SANITIZES_ADDRESSES

struct thread_start {
    void *(*body)(void *);
    void *argument;
    void *app;
};

// Also called if the thread is cancelled or ends itself, as Foundation's Thread.exit() does.
static void end_thread(void *app) {
    inside++;
    atomic_load(&installed)->end_thread(app);
    inside--;
}

static void *run_thread(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    void *result;
    inside++;
    atomic_load(&installed)->begin_thread(start.app);
    inside--;
    is_own = true;
    pthread_cleanup_push(end_thread, start.app);
    result = start.body(start.argument);
    pthread_cleanup_pop(true);
    return result;
}

// Whether a thread serves everybody, though the running code happens to need it first.
static bool is_shared(void *(*body)(void *)) {
    Dl_info place;
    if (!dladdr((void *)body, &place) || !place.dli_fname) return false;
    return strstr(place.dli_fname, "libdispatch") || strstr(place.dli_fname, "libFoundationNetworking");
}

int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*body)(void *), void *restrict argument
) {
    void *app = NULL;
    if (!atomic_load(&installed) || inside || is_shared(body) || !HOOKED(start_thread, &app)) {
        return NEXT(pthread_create)(thread, attributes, body, argument);
    }
    struct thread_start *start = malloc(sizeof *start);
    if (!start) abort();
    *start = (struct thread_start){body, argument, app};
    int error = NEXT(pthread_create)(thread, attributes, run_thread, start);
    if (error) {
        free(start);
        atomic_load(&installed)->drop_thread(app);
    }
    return error;
}

#endif

// --- installing -------------------------------------------------------------------------------------------------------

void apptime_install(const struct apptime_hooks *hooks) {
    const struct apptime_hooks *none = NULL;
    if (!atomic_compare_exchange_strong(&installed, &none, hooks)) return;
    swift_task_enqueueGlobal_hook = enqueue_global;
    swift_task_enqueueMainExecutor_hook = enqueue_main;
}

#else

// Other platforms, and sanitizers, bind the calls of shared libraries differently.
bool apptime_is_supported(void) { return false; }
void apptime_install(const struct apptime_hooks *hooks) { (void)hooks; }
void *apptime_main_queue(void) { return NULL; }
void *apptime_global_queue(void) { return NULL; }
void apptime_async(void *queue, void *argument, apptime_function function) { (void)queue, (void)argument, (void)function; }
void apptime_retain(void *object) { (void)object; }
void apptime_release(void *object) { (void)object; }
void apptime_merge(void *source) { (void)source; }
void apptime_run_job(void *job, bool on_main) { (void)job, (void)on_main; }
void apptime_handle(void *source, struct apptime_call call) { (void)source, (void)call; }
void apptime_handle_end(void *source, struct apptime_call call) { (void)source, (void)call; }
bool apptime_timer_is_valid(void *timer) { return timer != NULL; }
void apptime_set_next(void *timer, int64_t due) { (void)timer, (void)due; }
void apptime_retain_object(void *object) { (void)object; }
void apptime_release_object(void *object) { (void)object; }
void apptime_perform(void *loop, void *mode, struct apptime_call call) { (void)loop, (void)mode, (void)call; }
void apptime_invalidate(void *timer) { (void)timer; }

#endif
