// The SMP room.
