// The CoreBluetooth room.
