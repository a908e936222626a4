import AppAdvice
import BluetoothTypes
import Testing

@testable import CaptureStory
@testable import HCI

/// The advice that captures support. The rules themselves are tested with apps.
@Suite struct CaptureAdviceTests {
    private static let second: Int64 = 1_000_000

    /// Two services with a characteristic each, of which the first can notify: 180F with 2A19, and 180A with 2A29.
    private static func discovery(_ bench: inout CaptureBench) {
        bench.request([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 9, 0, 0x0F, 0x18, 10, 0, 19, 0, 0x0A, 0x18])
        bench.request([0x10, 20, 0, 0xFF, 0xFF, 0, 0x28], [0x01, 0x10, 20, 0, 0x0A])
        bench.request([0x08, 1, 0, 9, 0, 3, 0x28], [0x09, 7, 2, 0, 0x12, 3, 0, 0x19, 0x2A])
        bench.request([0x08, 3, 0, 9, 0, 3, 0x28], [0x01, 0x08, 3, 0, 0x0A])
        bench.request([0x08, 10, 0, 19, 0, 3, 0x28], [0x09, 7, 11, 0, 0x02, 12, 0, 0x29, 0x2A])
        bench.request([0x04, 4, 0, 9, 0], [0x05, 1, 4, 0, 0x02, 0x29])
    }

    private static func scan(_ bench: inout CaptureBench, isOn: Bool, duplicates: Bool = false) {
        var enable = LESetScanEnable()
        (enable.isEnabled, enable.filterDuplicates) = (isOn, LEDuplicateFilter(rawValue: duplicates ? 0 : 1))
        bench.command(enable)
    }

    private static func rules(_ bench: CaptureBench) -> [AdviceRule] { bench.told().story.advice.map(\.rule) }

    @Test("a value that can notify and is read again and again is advised about, with its name and the device")
    func polling() throws {
        var bench = CaptureBench()
        bench.connect()
        Self.discovery(&bench)
        for _ in 0..<3 {
            bench.wait(5 * Self.second)
            bench.request([0x0A, 3, 0], [0x0B, 80])
        }
        let advice = try #require(bench.told().story.advice.first)
        #expect(advice.rule == .subscribeRatherThanPoll)
        #expect(advice.found.hasPrefix("read Battery Level (2A19) of a device 3 times within"))
        let read = CaptureBench.start + 15 * Self.second
        #expect(abs(bench.told().story.time(of: advice) - read) < Self.second)
        // Look-alike: one that cannot notify.
        var other = CaptureBench()
        other.connect()
        Self.discovery(&other)
        for _ in 0..<3 {
            other.wait(5 * Self.second)
            other.request([0x0A, 12, 0], [0x0B, 80])
        }
        #expect(Self.rules(other) == [])
    }

    @Test("neither a subscription nor the end of its connection is advised about")
    func subscription() {
        var bench = CaptureBench()
        bench.connect()
        Self.discovery(&bench)
        bench.request([0x12, 4, 0, 1, 0], [0x13])
        bench.request([0x0A, 12, 0], [0x0B, 80])
        for _ in 0..<100 { bench.pdu(4, [0x1B, 3, 0, 80], isSent: false, after: Self.second) }
        #expect(Self.rules(bench) == [])
        var rude = bench
        rude.command(Disconnect(handle: CaptureBench.handle, reason: .remoteUserTerminated))
        rude.disconnect()
        // The host may have ended it for an app that is gone, which packets do not tell.
        #expect(Self.rules(rude) == [])
        bench.request([0x12, 4, 0, 0, 0], [0x13])
        bench.command(Disconnect(handle: CaptureBench.handle, reason: .remoteUserTerminated))
        bench.disconnect()
        #expect(Self.rules(bench) == [])
    }

    @Test("a discovery of everything whose result is not used is advised about once the connection has ended")
    func wideDiscovery() {
        var bench = CaptureBench()
        bench.connect()
        Self.discovery(&bench)
        #expect(Self.rules(bench) == [])
        bench.disconnect()
        #expect(Self.rules(bench) == [.narrowDiscovery])
        // Look-alikes: a host with an enhanced bearer, whose requests are not seen there; one that uses half.
        var hidden = CaptureBench()
        hidden.connect()
        Self.discovery(&hidden)
        hidden.pdu(5, [0x17, 1, 10, 0, 0x27, 0, 64, 0, 64, 0, 9, 0, 0x41, 0], isSent: true)
        hidden.disconnect()
        #expect(Self.rules(hidden) == [])
        var half = CaptureBench()
        half.connect()
        Self.discovery(&half)
        half.pdu(4, [0x1B, 3, 0, 80], isSent: false)
        half.disconnect()
        #expect(Self.rules(half) == [])
        // A host that asks for one service, and uses it.
        var narrow = CaptureBench()
        narrow.connect()
        narrow.request([0x06, 1, 0, 0xFF, 0xFF, 0, 0x28, 0x0F, 0x18], [0x07, 1, 0, 9, 0])
        narrow.request([0x08, 1, 0, 9, 0, 3, 0x28], [0x09, 7, 2, 0, 0x12, 3, 0, 0x19, 0x2A])
        narrow.request([0x0A, 3, 0], [0x0B, 80])
        narrow.disconnect()
        #expect(Self.rules(narrow) == [])
    }

    @Test("a connection without requests is advised about after a minute, and one with a subscription is not")
    func idleConnection() {
        var bench = CaptureBench()
        bench.connect()
        var busy = bench
        Self.discovery(&busy)
        busy.request([0x12, 4, 0, 1, 0], [0x13])
        bench.wait(100 * Self.second)
        busy.wait(100 * Self.second)
        bench.advertise(CaptureBench.peer, name: "Pulse")
        busy.advertise(CaptureBench.peer, name: "Pulse")
        #expect(Self.rules(bench) == [.idleConnection])
        #expect(Self.rules(busy) == [])
    }

    @Test("a scan without a pause, duplicates without a connection and a scan for a known device are advised about")
    func scans() {
        var bench = CaptureBench()
        Self.scan(&bench, isOn: true)
        bench.advertise(CaptureBench.peer, name: "Pulse")
        bench.wait(30 * Self.second)
        Self.scan(&bench, isOn: false)
        bench.wait(40 * Self.second)
        #expect(Self.rules(bench) == [])
        var long = bench
        Self.scan(&long, isOn: true, duplicates: true)
        for _ in 0..<55 {
            long.wait(Self.second)
            long.advertise(CaptureBench.peer, name: "Pulse")
        }
        // An advertisement each second is unusual too.
        #expect(Self.rules(long).filter { $0 != .advertisingInterval } == [.duplicates])
        long.wait(10 * Self.second)
        long.advertise(CaptureBench.peer, name: "Pulse")
        #expect(Self.rules(long).filter { $0 != .advertisingInterval } == [.duplicates, .shortScans])
        for _ in 0..<2 {
            Self.scan(&bench, isOn: true)
            bench.advertise(CaptureBench.peer, name: "Pulse")
            Self.scan(&bench, isOn: false)
            bench.connect()
            bench.disconnect()
        }
        #expect(Self.rules(bench) == [.retrieveKnown])
    }

    @Test("a peripheral that advertises for ten minutes without a central is advised about")
    func advertising() {
        var bench = CaptureBench()
        var enable = LESetAdvertisingEnable()
        enable.isEnabled = true
        bench.command(enable)
        bench.wait(700 * Self.second)
        bench.advertise(CaptureBench.peer, name: "Pulse")
        #expect(Self.rules(bench) == [.stopAdvertising])
    }

    @Test("large data as values is advised about, also if all packets have the same time")
    func bulkAtOnce() {
        func rules(octets: Int) -> [AdviceRule] {
            var bench = CaptureBench()
            bench.connect()
            Self.discovery(&bench)
            bench.request([0x12, 4, 0, 1, 0], [0x13])
            let value = [0x1B, 3, 0] + [UInt8](repeating: 7, count: 200)
            for _ in 0..<octets / 200 { bench.pdu(4, value, isSent: false, after: 0) }
            bench.disconnect()
            return Self.rules(bench)
        }
        #expect(rules(octets: 400_000) == [.bulkOverChannels])
        #expect(rules(octets: 90_000) == [])
    }
}
