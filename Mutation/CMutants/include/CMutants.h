#pragma once
#include <stdbool.h>
#include <stdint.h>

/// The number of the active mutant, from HARALD_MUTANT; 0 for none.
extern int32_t mutants_active;

/// One octet for each mutant, set when its place is reached, in the file that HARALD_MUTANTS_SEEN names. A page that is
/// shared with the file survives fork, `_exit` and SIGKILL, and needs no system call, so that tests may count those.
extern uint8_t *mutants_seen;
extern int32_t mutants_seen_count;

static inline bool mutants_is_active(int32_t number) {
    if (mutants_seen && number < mutants_seen_count) mutants_seen[number] = 1;
    return number == mutants_active;
}
