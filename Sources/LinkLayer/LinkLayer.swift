// The LinkLayer room.
