// Reports the slow path of `Synchronization.Mutex` to ThreadSanitizer.
//
// Acquiring a free mutex and releasing it are inlined into the caller, and so they are instrumented. Under contention,
// waiting and waking happen in the standard library, which is not instrumented, so that the accesses of the two threads
// look unordered. This library is loaded in front of it. If a toolchain names these two functions differently, nothing
// is reported; Races/run checks that first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Missing in programs that are not sanitized but loaded with this library, such as `swift test`.
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

typedef __attribute__((swiftcall)) void Lock(uint32_t thread, __attribute__((swift_context)) void *mutex);
typedef __attribute__((swiftcall)) void Unlock(__attribute__((swift_context)) void *mutex);

Lock lock __asm__(LOCK);
Unlock unlock __asm__(UNLOCK);

__attribute__((swiftcall)) void lock(uint32_t thread, __attribute__((swift_context)) void *mutex) {
    ((Lock *)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void unlock(__attribute__((swift_context)) void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((Unlock *)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
