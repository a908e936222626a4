import Foundation
import Testing

@testable import Administration
@testable import Page

/// The devices, as pages receive them.
@Suite struct PageDeviceListTests {
    private func device(_ number: UInt8, seen: Double? = 0, rssi: Int = -50, connected: Bool = false) -> DeviceStatus {
        let identifier = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
        var status = DeviceStatus(identifier: identifier, name: nil, isConnected: connected, isBonded: false)
        (status.rssi, status.lastSeenSeconds) = (rssi, seen)
        return status
    }

    @Test("only devices that changed are sent, and those that are gone")
    func changes() throws {
        var list = PageDeviceList()
        var change = list.update([device(1), device(2), device(3)], now: 100)
        let first = try #require(change)
        #expect(first.version == 1)
        #expect(first.changed.count == 3)
        #expect(first.changed[0].lastSeen == 100)
        change = list.update([device(1, seen: 1), device(2, seen: 0), device(3, seen: 1)], now: 101)
        let second = try #require(change)
        #expect(second.version == 2)
        #expect(second.changed.map(\.identifier) == [device(2).identifier])
        #expect(second.gone.isEmpty)
        change = list.update([device(1, seen: 2, connected: true), device(2, seen: 1)], now: 102)
        let third = try #require(change)
        #expect(third.changed.map(\.identifier) == [device(1).identifier])
        #expect(third.gone == [device(3).identifier])
    }

    @Test("the age of a device is no change, although it grows, and both clocks are read at different times")
    func ages() {
        var list = PageDeviceList()
        #expect(list.update([device(1, seen: 0.25)], now: 100) != nil)
        for second in 1...1_000 {
            let jitter = Double(second % 5) / 50
            #expect(list.update([device(1, seen: 0.25 + Double(second))], now: 100 + Double(second) + jitter) == nil)
        }
        #expect(list.update([device(1, seen: 0)], now: 1_101) != nil)
    }

    @Test("a page that opens later gets all devices as they are now")
    func snapshot() throws {
        struct Snapshot: Decodable {
            struct Device: Decodable {
                let identifier: UUID
                let rssi: Int?
            }
            let version: UInt64
            let devices: [Device]
        }
        var list = PageDeviceList()
        _ = list.update([device(1), device(2)], now: 100)
        _ = list.update([device(2, rssi: -60)], now: 100)
        let snapshot = try JSONDecoder().decode(Snapshot.self, from: Data(list.snapshot.utf8))
        #expect(snapshot.version == 2)
        #expect(snapshot.devices.map(\.identifier) == [device(2).identifier])
        #expect(snapshot.devices.map(\.rssi) == [-60])
    }
}
