import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import TestBasics
import Testing

// Documentation/Programs.md quotes this code verbatim.
// EXAMPLE
func serve(_ heart: CBMutableService, by manager: CBPeripheralManager) async throws {
    try await manager.poweredOn()
    try await manager.publish(heart)
    try await manager.advertise(AdvertisedContent(localName: "Heart", services: [heart.uuid]))
    for try await request in manager.requests {
        switch request.operation {
        case .read: request.respond(with: Data([0, 72]))
        case .write: request.reject(.writeNotPermitted)
        }
    }
}
// END of the example.

@Suite struct ExampleTests {
    @Test("behaviour 15.22: the example in the documents is compiled here, and works")
    func example() throws {
        let world = PeripheralWorld()
        let heart = world.service()
        world.app.task { try await serve(heart, by: world.manager) }
        world.run(1)
        let phone = world.phone(subscribes: false)
        world.world.run(for: .seconds(10)) { phone.notes.all == ["connected"] }
        phone.read()
        phone.write(Data([1]))
        world.run(1)
        #expect(phone.notes.all.dropFirst() == ["value \u{0}H", "write failed: CBATTError 3"])

        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let document = try String(contentsOfFile: "Documentation/Programs.md", encoding: .utf8)
        let code = try #require(source.components(separatedBy: "// EXAMPLE\n").dropFirst().first)
            .components(separatedBy: "// END")[0]
        #expect(document.contains(code))
    }
}
