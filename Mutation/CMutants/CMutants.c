#include "CMutants.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int32_t mutants_active;
uint8_t *mutants_seen;
int32_t mutants_seen_count;

__attribute__((constructor)) static void read_the_switch(void) {
    const char *number = getenv("HARALD_MUTANT");
    if (number) mutants_active = atoi(number);
    const char *path = getenv("HARALD_MUTANTS_SEEN");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct stat status;
    if (file < 0) return;
    if (!fstat(file, &status) && status.st_size > 0) {
        void *map = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (map != MAP_FAILED) {
            mutants_seen = map;
            mutants_seen_count = (int32_t)status.st_size;
        }
    }
    close(file);
}
