import CoreBluetooth
import CoreBluetoothExtras

let queue = DispatchQueue(label: "heart")
let manager = CBCentralManager(delegate: nil, queue: queue)

func followHeart() async throws {
    try await manager.poweredOn()
}
try await followHeart()
