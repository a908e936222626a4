// The GAP room.
