import BluetoothTypes
import EventLoops
import GATT
import Testing

/// A request takes two connection intervals, so none is sent whose answer is known.
@Suite struct DiscoveryEconomyTests {
    /// Discovers a service from 1 to `end` with a declaration at 2 for a value at `value`, and returns the number of
    /// requests.
    private func requests(valueAt value: UInt8, serviceTo end: UInt16) -> Int {
        var asked = 0
        let server = ScriptedServer { request in
            asked += 1
            return request == [0x08, 1, 0, UInt8(end & 0xFF), UInt8(end >> 8), 0x03, 0x28]
                ? [0x09, 7, 2, 0, 0x02, value, 0, 0x19, 0x2A] : [0x01, request[0], request[1], request[2], 0x0A]
        }
        var found: [DiscoveredCharacteristic]?
        server.client.discoverCharacteristics(of: DiscoveredService(handles: 1...end, uuid: 0x180F)) {
            found = try? $0.get()
        }
        server.loop.run(for: .seconds(1))
        #expect(found?.map(\.value) == [UInt16(value)])
        #expect(found?.first?.end == end)
        return asked
    }

    @Test("no request is sent for a further characteristic where none fits, Core Vol 3 Part G 3.3")
    func noRoom() {
        // The value is the last attribute; one descriptor, or a declaration without a value, fits after it.
        #expect(requests(valueAt: 3, serviceTo: 3) == 1)
        #expect(requests(valueAt: 3, serviceTo: 4) == 1)
        // A declaration and a value fit.
        #expect(requests(valueAt: 3, serviceTo: 5) == 2)
        #expect(requests(valueAt: 3, serviceTo: .max) == 2)
    }

    @Test("characteristics that a server has only once are requested once, Core Vol 3 Part C 12 and Part G 7")
    func once() {
        var asked: [[UInt8]] = []
        let server = ScriptedServer { request in
            asked.append(request)
            switch request[0] {
            case 0x06: return [0x07, 5, 0, 9, 0]
            case 0x08 where request.suffix(2) == [0x00, 0x2A]: return [0x09, 5, 3, 0, 0x41, 0x42, 0x43]
            default: return [0x01, request[0], request[1], request[2], 0x0A]
            }
        }
        var service: DiscoveredService??
        server.client.discoverService(GATTUUID.genericAttribute) { service = try? $0.get() }
        server.loop.run(for: .seconds(1))
        #expect(service == DiscoveredService(handles: 5...9, uuid: GATTUUID.genericAttribute))
        #expect(asked.count == 1)
        var name: RemoteValue??
        server.client.readValue(of: GATTUUID.deviceName) { name = try? $0.get() }
        server.loop.run(for: .seconds(1))
        #expect(name == RemoteValue(handle: 3, value: [0x41, 0x42, 0x43]))
        #expect(asked.count == 2)
        // A missing characteristic is not an error.
        server.client.readValue(of: GATTUUID.databaseHash) { name = try? $0.get() }
        server.loop.run(for: .seconds(1))
        #expect(name == .some(nil))
        #expect(asked.count == 3)
        // Searches for all of them run to the end.
        server.client.readValues(of: GATTUUID.deviceName) { _ in }
        server.client.discoverServices(GATTUUID.genericAttribute) { _ in }
        server.loop.run(for: .seconds(1))
        #expect(asked.count > 5)
    }
}
