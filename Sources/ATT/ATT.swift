// The ATT room.
