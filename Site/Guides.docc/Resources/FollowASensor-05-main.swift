import CoreBluetooth
import CoreBluetoothExtras

let service = CBUUID(string: "180D")
let rate = CBUUID(string: "2A37")
let queue = DispatchQueue(label: "heart")
let manager = CBCentralManager(delegate: nil, queue: queue)

func followHeart() async throws {
    try await manager.poweredOn()
    for try await found in manager.scan(services: [service]) {
        let name = found.content.localName ?? "a sensor"
        print("found \(name) at \(found.rssi) dBm")
        let sensor = found.peripheral
        try await manager.openConnection(to: sensor, deadline: .seconds(10))
        let services = try await sensor.discover(services: [service])
        let rates = try await sensor.discover(
            characteristics: [rate],
            for: services[0]
        )
        var beats = 0
        for try await value in sensor.notifications(of: rates[0]) {
            print("\(value[1]) bpm")
            beats += 1
            if beats == 3 { return await manager.disconnect(sensor) }
        }
    }
}
try await followHeart()
