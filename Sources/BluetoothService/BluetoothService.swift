// The BluetoothService room.
