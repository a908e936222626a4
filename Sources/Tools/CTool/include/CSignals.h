// Signals as numbers that can be read.
#ifndef C_SIGNALS_H
#define C_SIGNALS_H

/// Counts a signal from now on, in place of what it would do (eventfd(2)). Returns a descriptor from which the number of
/// signals since the last read can be read without waiting, as eight octets; -1 with errno if there is none left. Once for
/// each signal.
int harald_count_signals(int number);

#endif
