import CoreBluetooth
import CoreBluetoothExtras

let service = CBUUID(string: "180D")
let queue = DispatchQueue(label: "heart")
let manager = CBCentralManager(delegate: nil, queue: queue)

func followHeart() async throws {
    try await manager.poweredOn()
    for try await found in manager.scan(services: [service]) {
        let name = found.content.localName ?? "a sensor"
        print("found \(name) at \(found.rssi) dBm")
        return
    }
}
try await followHeart()
