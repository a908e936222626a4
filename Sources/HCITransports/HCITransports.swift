// The HCITransports room.
