// The L2CAP room.
