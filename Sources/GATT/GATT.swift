// The GATT room.
