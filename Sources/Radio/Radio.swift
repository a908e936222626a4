// The Radio room.
