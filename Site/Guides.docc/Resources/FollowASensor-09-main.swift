import CoreBluetooth
import CoreBluetoothExtras

let service = CBUUID(string: "180D")
let rate = CBUUID(string: "2A37")
let queue = DispatchQueue(label: "heart")
let manager = CBCentralManager(delegate: nil, queue: queue)

func follow(_ sensor: CBPeripheral) async throws {
    // Without a deadline: a connection waits until the sensor is in range.
    try await manager.openConnection(to: sensor)
    let services = try await sensor.discover(
        services: [service],
        deadline: .seconds(30)
    )
    let rates = try await sensor.discover(
        characteristics: [rate],
        for: services[0],
        deadline: .seconds(30)
    )
    for try await value in sensor.notifications(of: rates[0]) {
        print("\(value[1]) bpm")
        fflush(nil)
    }
}

try await manager.poweredOn()
for try await found in manager.scan(services: [service]) {
    while true {
        do {
            try await follow(found.peripheral)
        } catch {
            print("lost it: \(error)")
        }
        try await Task.sleep(for: .seconds(1))
    }
}
