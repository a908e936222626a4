#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The calls of the system by which apps measure time and wait, in the process of a test. A program's own definitions of
// functions take the place of those in shared libraries, so libdispatch, Foundation and the concurrency runtime call the
// ones here. Each asks the hooks first, which take over if the running code belongs to an app that follows a simulated
// world; otherwise it calls the system.

typedef void (*apptime_function)(void *);

// A call to make later. `drop` releases the context if the call is never made; otherwise `call` releases it.
struct apptime_call {
    apptime_function call;
    apptime_function drop;
    void *context;
};

// Each function returns whether it has taken over. The pointers to queues are retained for as long as they are used.
struct apptime_hooks {
    // The time of the running app's world in nanoseconds: since its beginning, and since 1970.
    bool (*now)(int64_t *elapsed, int64_t *calendar);
    // Makes a call on a queue once `delay` nanoseconds have passed.
    bool (*after)(void *queue, int64_t delay, struct apptime_call call);
    // Makes a call on a queue as soon as possible.
    bool (*async)(void *queue, struct apptime_call call);
    // Runs a job of a task on the global executor, or on the main one.
    bool (*job)(void *job, bool on_main);
    // Whether a new timer source belongs to an app that follows a world.
    bool (*begin_source)(void *source);
    // A new source is no timer of such an app.
    bool (*forget_source)(void *source);
    // Starts a timer source. An interval below zero is none.
    bool (*set_source)(void *source, int64_t delay, int64_t interval);
    bool (*handle_source)(void *source, struct apptime_call handler);
    // Sets the handler that is called once after the source was cancelled.
    bool (*end_source)(void *source, struct apptime_call handler);
    bool (*cancel_source)(void *source);
    // A timer of a run loop was created. `fire(timer, info)` calls the app. An interval of zero or less is none.
    bool (*begin_timer)(void *timer, int64_t due, int64_t interval, void (*fire)(void *, void *_Nullable), void *_Nullable info);
    // Adds such a timer to the main run loop, or to that of this thread.
    bool (*add_timer)(void *timer, bool to_main);
    // Adds such a timer to the run loop of this thread, which is the app's own.
    bool (*add_own_timer)(void *timer, void *loop, void *mode);
    // Moves its next call to a calendar time. Returns whether the run loop's timer stays as it is.
    bool (*move_timer)(void *timer, int64_t due);
    bool (*end_timer)(void *timer);
    // The app is about to wait by the wall clock. Returns whether the running code is such an app's.
    bool (*waits)(const char *function);
    // Makes `call` run as code of the app that is running now, wherever it runs. The world's clock waits for it.
    bool (*adopt)(struct apptime_call *call);
    // The same for the call with which a group notifies the app once it is empty.
    bool (*notify)(void *group, struct apptime_call *call);
    // A group is empty, so that its notifications are sure to run soon.
    bool (*group_emptied)(void *group);
    // The app starts a thread. `app` receives what the functions below need.
    bool (*start_thread)(void *_Nullable *_Nonnull app);
    // The thread was not started.
    void (*drop_thread)(void *app);
    // This thread runs code of the app from now on.
    void (*begin_thread)(void *app);
    // This thread ends.
    void (*end_thread)(void *app);
    // Sleeps in the time of the world, on a thread of the app's own. `is_cut` is set if the app's process has ended before.
    bool (*sleep)(int64_t duration, bool *is_cut);
    // Begins a wait with a time-out in the time of the world, on a thread of the app's own.
    bool (*begin_wait)(int64_t limit, void *_Nullable *_Nonnull wait);
    // Whether the time has passed. The world's clock stands still from then on until the wait ends.
    bool (*is_over)(void *wait);
    void (*end_wait)(void *wait);
};

// Whether this platform lets a program replace these functions.
bool apptime_is_supported(void);

// Installs the hooks, for as long as the process lives. Further calls do nothing.
void apptime_install(const struct apptime_hooks *hooks);

// The context that Swift set for code on this thread.
void *_Nullable apptime_context(void);
void apptime_set_context(void *_Nullable context);

// Calls of the system, past the hooks.
void *apptime_main_queue(void);
void *apptime_global_queue(void);
void apptime_async(void *queue, void *context, apptime_function function);
void apptime_retain(void *object);
void apptime_release(void *object);
void apptime_merge(void *source);
void apptime_run_job(void *job, bool on_main);
// `drop` releases the context when the source no longer needs the handler.
void apptime_handle(void *source, struct apptime_call handler);
void apptime_handle_end(void *source, struct apptime_call handler);
bool apptime_timer_is_valid(void *timer);
void apptime_set_next(void *timer, int64_t due);
void apptime_retain_object(void *object);
void apptime_release_object(void *object);
// Makes a call on a run loop, in a mode.
void apptime_perform(void *loop, void *mode, struct apptime_call call);
void apptime_invalidate(void *timer);

#pragma clang assume_nonnull end
