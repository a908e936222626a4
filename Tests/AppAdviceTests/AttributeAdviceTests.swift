import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// Each rule about connections and values fires on the app that breaks it, and is silent about one that looks like it.
@Suite struct AttributeAdviceTests {
    private static func service(_ handle: AttributeHandle) -> RemoteService {
        RemoteService(handle: handle, endHandle: handle + 9, uuid: 0x1800, isPrimary: true)
    }

    @Test("behaviour 12.5: a discovery of everything is noticed if less than half is used")
    func wideDiscovery() {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        app.request(.discoverServices(nil), of: .sensor)
        app.report(.servicesDiscovered(.success([10, 20, 30].map(Self.service))), of: .sensor)
        app.request(.discoverCharacteristics(of: 20, [0x2A37]), of: .sensor)
        #expect(app.rules == [])
        app.disconnect(.sensor)
        #expect(app.rules == ["12.5"])
        #expect(app.advice[0].found == "discovered all of 3 services of \"Sensor\", and used 1")
    }

    @Test("behaviour 12.5: unused characteristics are noticed when the manager is released, or the radio fails")
    func wideDiscoveryAtTheEnd() {
        for end in [Observation.Content.managerClosed, .delivered(.stateChanged(.poweredOff))] {
            var app = AdvisedApp(.central)
            app.connectAndDiscover(.sensor, all: true)
            app.note(end)
            #expect(app.rules == ["12.5"])
        }
    }

    @Test("behaviour 12.5: a discovery by UUIDs, and one of everything that is used, are right")
    func narrowDiscovery() {
        var named = AdvisedApp.connected()
        named.disconnect(.sensor)
        #expect(named.rules == [])
        var used = AdvisedApp(.central)
        used.connectAndDiscover(.sensor, all: true)
        used.read(18, of: .sensor)
        used.disconnect(.sensor)
        #expect(used.rules == [])
    }

    @Test("behaviour 12.6: three reads in a minute of a value that can notify are noticed")
    func polling() {
        var app = AdvisedApp.connected()
        for _ in 0..<3 {
            app.read(18, of: .sensor)
            app.wait(20)
        }
        #expect(app.rules == ["12.6"])
        #expect(app.advice[0].found.hasPrefix("read Heart Rate Measurement (2A37) of \"Sensor\" 3 times within 60 s"))
    }

    @Test("behaviour 12.6: reads of a value that cannot notify, and reads now and then, are right")
    func reads() {
        var app = AdvisedApp.connected()
        for _ in 0..<10 {
            app.read(21, of: .sensor)
            app.wait(5)
        }
        for _ in 0..<10 {
            app.read(18, of: .sensor)
            app.wait(31)
        }
        #expect(app.rules == [])
    }

    @Test("behaviour 12.7: a subscription without a value for ten minutes is noticed, as often as that happens")
    func rareValues() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        app.wait(601)
        #expect(app.rules == ["12.7"])
        app.wait(601)
        #expect(app.rules == ["12.7", "12.7"])
    }

    @Test("behaviour 12.7: a subscription with a value in ten minutes, and one that ends, are right")
    func frequentValues() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        for _ in 0..<3 {
            app.wait(599)
            app.report(.valueNotified(18, PacketBuffer([0, 60])), of: .sensor)
        }
        app.unsubscribe(18, of: .sensor)
        app.disconnect(.sensor)
        app.wait(1_000)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.8: a read while the value notifies is noticed")
    func readWhileNotifying() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        app.report(.valueNotified(18, PacketBuffer([0, 60])), of: .sensor)
        app.read(18, of: .sensor)
        #expect(app.rules == ["12.8"])
    }

    @Test("behaviour 12.8: a first read after subscribing, and a read after unsubscribing, are right")
    func readBesideNotifying() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        app.read(18, of: .sensor)
        app.report(.valueNotified(18, PacketBuffer([0, 60])), of: .sensor)
        app.read(21, of: .sensor)
        app.unsubscribe(18, of: .sensor)
        app.read(18, of: .sensor)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.9: a connection that is idle for a minute is noticed once, until it is used")
    func idleConnection() {
        var app = AdvisedApp.connected()
        app.wait(61)
        #expect(app.rules == ["12.9"])
        app.wait(600)
        #expect(app.rules == ["12.9"])
        app.read(21, of: .sensor)
        app.wait(61)
        #expect(app.rules == ["12.9", "12.9"])
    }

    @Test("behaviour 12.9: a connection with a subscription, a channel or requests is right")
    func usedConnection() {
        var subscribed = AdvisedApp.connected()
        subscribed.subscribe(18, of: .sensor)
        subscribed.wait(300)
        #expect(subscribed.rules == [])
        var channel = AdvisedApp(.central)
        channel.connect(.sensor)
        channel.request(.openChannel(psm: 0x80), of: .sensor)
        channel.report(.channelOpened(psm: 0x80, .success(ChannelID(1))), of: .sensor)
        channel.wait(300)
        #expect(channel.rules == [])
        var used = AdvisedApp.connected()
        for _ in 0..<10 {
            used.wait(59)
            used.read(21, of: .sensor)
        }
        used.disconnect(.sensor)
        used.wait(100)
        #expect(used.rules == [])
    }

    @Test("behaviour 12.10: cancelling with a subscription is noticed")
    func cancelWhileNotifying() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        app.disconnect(.sensor)
        #expect(app.rules == ["12.10"])
        #expect(app.advice[0].found.hasSuffix("while it was subscribed to Heart Rate Measurement (2A37)"))
    }

    @Test("behaviour 12.10: cancelling after unsubscribing, and a connection that is lost, are right")
    func cancelAfterUnsubscribing() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        app.unsubscribe(18, of: .sensor)
        app.disconnect(.sensor)
        app.connectAndDiscover(.sensor)
        app.subscribe(18, of: .sensor)
        app.report(.disconnected(nil, isReconnecting: false, timestamp: nil), of: .sensor)
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        app.ask(.peer(.sensor, .cancelConnection))
        #expect(app.rules == [])
    }

    @Test("behaviour 12.12: releasing a peripheral that connects or is connected is noticed")
    func releasedPeripheral() {
        var app = AdvisedApp(.central)
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        app.ask(.peer(.sensor, .forget))
        app.connect(.other)
        app.ask(.peer(.other, .forget))
        #expect(app.rules == ["12.12", "12.12"])
    }

    @Test("behaviour 12.12: releasing a peripheral after its connection is right")
    func releasedAfterwards() {
        var app = AdvisedApp(.central)
        app.discover(.other)
        app.ask(.peer(.other, .forget))
        app.connect(.sensor)
        app.disconnect(.sensor)
        app.ask(.peer(.sensor, .forget))
        #expect(app.rules == [])
    }

    @Test("behaviour 12.21: a write slightly too long for a packet is noticed")
    func longWrite() {
        var app = AdvisedApp.connected()
        app.request(.writeCharacteristic(18, value: PacketBuffer([UInt8](repeating: 1, count: 185))), of: .sensor)
        #expect(app.rules == ["12.21"])
        #expect(app.advice[0].found.contains("wrote 185 octets"))
        #expect(app.advice[0].found.contains("3 more than fit"))
    }

    @Test("behaviour 12.21: a write that fits, and one that is long on purpose, are right")
    func fittingWrite() {
        var app = AdvisedApp.connected()
        for count in [182, 400] {
            app.request(.writeCharacteristic(18, value: PacketBuffer([UInt8](repeating: 1, count: count))), of: .sensor)
        }
        app.report(.maximumWriteLengthChanged(244), of: .sensor)
        app.request(.writeCharacteristic(18, value: PacketBuffer([UInt8](repeating: 1, count: 185))), of: .sensor)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.22: more than 100 kB by attributes in a connection is noticed once")
    func bulk() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        let value = PacketBuffer([UInt8](repeating: 1, count: 500))
        for _ in 0..<200 {
            app.report(.valueNotified(18, value), of: .sensor)
            app.request(.writeWithoutResponse(18, value: value), of: .sensor)
        }
        #expect(app.rules == ["12.22"])
    }

    @Test("behaviour 12.22: the same amount in several connections is right")
    func bulkInParts() {
        var app = AdvisedApp(.central)
        let value = PacketBuffer([UInt8](repeating: 1, count: 500))
        for _ in 0..<4 {
            app.connectAndDiscover(.sensor)
            for _ in 0..<199 { app.request(.writeWithoutResponse(18, value: value), of: .sensor) }
            app.disconnect(.sensor)
        }
        #expect(app.rules == [])
    }

    @Test("behaviour 12.25: more than ten seconds in the background after an event are noticed")
    func longWake() {
        var app = AdvisedApp(.central)
        app.note(.appMoved(.suspended))
        app.note(.appMoved(.background))
        app.wait(30)
        app.note(.appMoved(.suspended))
        #expect(app.rules == ["12.25"])
        #expect(app.advice[0].manager == nil)
    }

    @Test("behaviour 12.25: time that further events give, and that after the user left, are right")
    func shortWakes() {
        var app = AdvisedApp(.central)
        app.note(.appMoved(.background))
        app.wait(30)
        app.note(.appMoved(.suspended))
        app.note(.appMoved(.background))
        for _ in 0..<5 {
            app.wait(8)
            app.report(.valueNotified(18, PacketBuffer([1])), of: .sensor)
        }
        app.wait(10)
        app.note(.appMoved(.suspended))
        // The user returns to the app, so its time is its own.
        app.note(.appMoved(.background))
        app.wait(20)
        app.note(.appMoved(.foreground))
        #expect(app.rules == [])
    }

    private static func restored(connected: Bool) -> Event {
        let info = PeerInfo(identifier: .sensor, name: "Sensor")
        let peer = RestoredPeer(info: info, maximumWriteWithoutResponse: connected ? 182 : nil)
        return .central(.willRestore(RestoredCentral(peers: [peer])))
    }

    @Test("a value has the same effect whether it is counted or observed", arguments: [true, false])
    func countedValues(_ isCounted: Bool) {
        var app = AdvisedApp(.central)
        app.countsValues = isCounted
        app.connectAndDiscover(.sensor)
        app.subscribe(18, of: .sensor)
        for _ in 0..<3 {
            app.wait(599)
            app.report(.valueNotified(18, PacketBuffer([0, 60])), of: .sensor)
            #expect(app.rules == [])
        }
        app.wait(601)
        #expect(app.rules == ["12.7"])
        app.report(.valueNotified(18, PacketBuffer([0, 60])), of: .sensor)
        app.read(18, of: .sensor)
        #expect(app.rules == ["12.7", "12.8"])
        app.report(.valueNotified(18, PacketBuffer([UInt8](repeating: 0, count: 100_000))), of: .sensor)
        #expect(app.rules == ["12.7", "12.8", "12.22"])
        app.unsubscribe(18, of: .sensor)
        app.wait(59)
        app.report(.valueNotified(18, PacketBuffer([0, 60])), of: .sensor)
        app.wait(60)
        #expect(app.rules == ["12.7", "12.8", "12.22"])
        app.wait(1)
        #expect(app.rules == ["12.7", "12.8", "12.22", "12.9"])
        // Idle anew only after a use.
        app.wait(200)
        app.report(.valueNotified(18, PacketBuffer([0, 60])), of: .sensor)
        app.wait(61)
        #expect(app.rules == ["12.7", "12.8", "12.22", "12.9", "12.9"])
    }

    @Test("behaviour 12.27: a restored peripheral that is released at once is noticed", arguments: [true, false])
    func unkeptRestored(connected: Bool) {
        var app = AdvisedApp(.central, isOn: false)
        app.report(Self.restored(connected: connected))
        app.report(.stateChanged(.poweredOn))
        app.ask(.peer(.sensor, .forget))
        #expect(app.rules == ["12.27"])
    }

    @Test("behaviour 12.27: a restored peripheral that is used is right")
    func keptRestored() {
        var app = AdvisedApp(.central, isOn: false)
        app.report(Self.restored(connected: true))
        app.report(.stateChanged(.poweredOn))
        app.subscribe(18, of: .sensor)
        app.wait(60)
        app.unsubscribe(18, of: .sensor)
        app.disconnect(.sensor)
        app.ask(.peer(.sensor, .forget))
        #expect(app.rules == [])
    }
}
