// The BluetoothSimulation room.
