#ifndef HARALD_ALLOCATIONS_H
#define HARALD_ALLOCATIONS_H

/* Heap allocations of the whole process so far, counted by this program's own malloc. */
unsigned long harald_allocations(void);

/* Octets that are taken from the heap now. */
unsigned long harald_heap(void);

/* Do nothing. callgrind counts the instructions between the calls, by the names of the functions. */
void harald_measurement_begins(void);
void harald_measurement_ends(void);

#endif
