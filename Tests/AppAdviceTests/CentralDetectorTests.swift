import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// The limits of the detectors of central managers, the events that make them begin anew, and their bounds.
@Suite struct CentralDetectorTests {
    private static func peer(_ number: Int) -> UUID {
        let (high, low) = (UInt8(number >> 8), UInt8(number & 0xFF))
        return UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low))
    }

    private static func bytes(_ count: Int) -> PacketBuffer { PacketBuffer([UInt8](repeating: 1, count: count)) }

    /// The radio goes off and on again, which ends all connections.
    private static func toggle(_ app: inout AdvisedApp) {
        app.report(.stateChanged(.poweredOff))
        app.report(.stateChanged(.poweredOn))
    }

    // MARK: Scans

    @Test("behaviour 12.2: a device that is connected to counts anew, and the others go on")
    func duplicatesOfAConnectedDevice() {
        func rules(reports: Int, over seconds: Double, connectingTo peer: UUID?) -> [String] {
            var app = AdvisedApp(.central)
            app.scan(duplicates: true)
            for number in 0..<reports {
                if number == reports / 2, let peer { app.ask(.peer(peer, .connect(ConnectOptions()))) }
                app.discover(.sensor)
                app.wait(seconds / Double(reports))
            }
            return app.rules.filter { $0 == "12.2" }
        }
        #expect(rules(reports: 90, over: 50, connectingTo: .sensor) == [])
        #expect(rules(reports: 90, over: 50, connectingTo: .other) == ["12.2"])
        #expect(rules(reports: 90, over: 50, connectingTo: nil) == ["12.2"])
    }

    @Test("behaviour 12.2: a device may be reported for exactly 30 s")
    func duplicatesFor30Seconds() {
        var app = AdvisedApp(.central)
        app.scan(duplicates: true)
        for number in 0...60 {
            if number > 0 { app.wait(0.5) }
            app.discover(.sensor)
        }
        #expect(!app.rules.contains("12.2"))
        app.wait(0.001)
        app.discover(.sensor)
        #expect(app.rules.contains("12.2"))
        #expect(app.advice.first { $0.rule == .duplicates }?.found.hasPrefix("received 62 reports") == true)
    }

    @Test("behaviours 12.2, 12.4: the scan of a restored manager, and one that becomes visible, count from then on")
    func laterScans() {
        var restored = AdvisedApp(.central, isOn: false)
        let scan = ScanRequest(services: [0x180D], allowsDuplicates: true)
        restored.report(.central(.willRestore(RestoredCentral(scan: scan, peers: []))))
        restored.report(.stateChanged(.poweredOn))
        for _ in 0..<80 {
            restored.discover(.sensor)
            restored.wait(0.5)
        }
        #expect(restored.rules.filter { $0 == "12.2" } == ["12.2"])
        var hidden = AdvisedApp(.central)
        hidden.note(.appMoved(.background))
        hidden.scan()
        hidden.wait(300)
        hidden.discover(.sensor)
        hidden.note(.appMoved(.foreground))
        hidden.discover(.sensor)
        hidden.wait(60)
        #expect(hidden.rules == [])
        hidden.wait(0.001)
        #expect(hidden.rules == ["12.4"])
    }

    @Test("AB-G05: the reports of 128 devices are counted in a scan, and those of later ones are not")
    func manyDuplicates() {
        for (others, rules) in [(127, ["12.2"]), (128, [])] {
            var app = AdvisedApp(.central)
            app.scan(duplicates: true)
            for number in 0..<others { app.discover(Self.peer(number)) }
            for _ in 0..<80 {
                app.wait(0.5)
                app.discover(.sensor)
            }
            #expect(app.rules.filter { $0 == "12.2" } == rules)
        }
    }

    @Test("behaviour 12.3: the advice says whether the scan was in the background")
    func scanForEverything() {
        for isHidden in [false, true] {
            var app = AdvisedApp(.central)
            if isHidden { app.note(.appMoved(.background)) }
            app.scan(nil)
            #expect(
                app.advice.map(\.found) == [
                    isHidden
                        ? "scanned in the background without naming a service, which finds nothing"
                        : "scanned without naming a service"
                ]
            )
        }
    }

    @Test("behaviour 12.1: a connection before a scan, or after it, does not make the scan too long")
    func scanAfterAnotherConnection() {
        var app = AdvisedApp(.central)
        app.connect(.other)
        app.subscribe(18, of: .other)
        app.scan()
        app.wait(30)
        #expect(app.rules == [])
        app.connect(.sensor)
        app.subscribe(18, of: .sensor)
        app.ask(.stopScan)
        app.wait(5)
        app.scan()
        app.wait(30)
        #expect(app.rules == [])
        app.ask(.stopScan)
        app.scan()
        app.disconnectQuietly(.sensor)
        app.connect(.sensor)
        app.subscribe(18, of: .sensor)
        Self.toggle(&app)
        app.wait(30)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.1: a scan that goes on is told once for each connection that it led to")
    func scanUntilFoundOnce() {
        var app = AdvisedApp(.central)
        app.scan()
        app.connect(.sensor)
        app.subscribe(18, of: .sensor)
        for _ in 0..<3 {
            app.wait(11)
            #expect(app.rules == ["12.1"])
        }
        app.connect(.other)
        app.subscribe(18, of: .other)
        app.wait(11)
        #expect(app.rules == ["12.1"])
    }

    @Test("behaviour 12.4: another connection while the scan leads to none does not restart its time")
    func longScanBesideAnotherConnection() {
        var app = AdvisedApp(.central)
        app.scan()
        app.wait(50)
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        app.wait(11)
        #expect(app.rules == ["12.4"])
    }

    @Test("behaviour 12.11: a device that this scan has not found, or that was unknown then, was not scanned for")
    func otherScans() {
        var app = AdvisedApp.connected()
        app.disconnect(.sensor)
        app.scan()
        app.discover(.sensor)
        app.ask(.stopScan)
        app.scan()
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        #expect(app.rules == [])
        // A scan that replaces another one continues it.
        app.ask(.peer(.sensor, .cancelConnection))
        app.discover(.sensor)
        app.scan([0x180F])
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        #expect(app.rules == ["12.11"])
        // It is told once for a report.
        app.ask(.peer(.sensor, .cancelConnection))
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        #expect(app.rules == ["12.11"])
    }

    @Test("AB-G05: 1,024 peers are known; with one more the others are forgotten, and a known one needs no room")
    func knownPeers() {
        var known = KnownPeers()
        for number in 0..<1_024 { known.insert(Self.peer(number)) }
        known.insert(Self.peer(5))
        #expect(known.contains(Self.peer(0)))
        #expect(known.contains(Self.peer(1_023)))
        #expect(!known.contains(Self.peer(1_024)))
        known.insert(Self.peer(1_024))
        #expect(!known.contains(Self.peer(0)))
        #expect(known.contains(Self.peer(1_024)))
    }

    @Test("AB-G05: 1,024 known devices of a scan are remembered")
    func knownDevicesOfAScan() {
        for (found, rules) in [(1_023, ["12.11"]), (1_024, [])] {
            var app = AdvisedApp(.central)
            for number in 0..<1_024 { app.meet(Self.peer(number)) }
            app.scan()
            for number in 0..<found { app.discover(Self.peer(number)) }
            // The others are forgotten with this one.
            app.meet(Self.peer(2_000))
            app.discover(Self.peer(2_000))
            app.ask(.peer(Self.peer(2_000), .connect(ConnectOptions())))
            #expect(app.rules.filter { $0 == "12.11" } == rules)
        }
    }

    // MARK: Calls

    @Test("behaviour 12.13: the call that connects is right again after a failure, and while it is connected")
    func connectingAgain() {
        var app = AdvisedApp(.central)
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        app.report(.connectionFailed(ServiceError(.connectionFailed)), of: .sensor)
        app.connect(.sensor)
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        #expect(app.rules == [])
        app.report(.disconnected(nil, isReconnecting: true, timestamp: nil), of: .sensor)
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        #expect(app.rules == ["12.13"])
        #expect(app.advice[0].found == "connected to \"Sensor\" again while it was connecting")
    }

    @Test("behaviours 12.12, 12.27: a restored peripheral may be released after exactly five seconds, others never")
    func releasedAfterRestoration() {
        func rules(_ peer: UUID, after seconds: Double) -> [String] {
            var app = AdvisedApp(.central, isOn: false)
            let info = PeerInfo(identifier: .sensor, name: "Sensor")
            app.report(.central(.willRestore(RestoredCentral(peers: [RestoredPeer(info: info)]))))
            app.report(.stateChanged(.poweredOn))
            if peer == .other { app.ask(.peer(.other, .connect(ConnectOptions()))) }
            app.wait(seconds)
            app.ask(.peer(peer, .forget))
            return app.rules
        }
        #expect(rules(.sensor, after: 5) == ["12.27"])
        #expect(rules(.sensor, after: 5.001) == ["12.12"])
        #expect(rules(.other, after: 1) == ["12.12"])
    }

    @Test("behaviour 12.10: a restored subscription is one, and what is not subscribed to need not end")
    func restoredSubscription() {
        for isNotifying in [true, false] {
            var app = AdvisedApp(.central, isOn: false)
            let value = RestoredCharacteristic(
                characteristic: RemoteCharacteristic(handle: 18, uuid: 0x2A37, properties: 0x12),
                isNotifying: isNotifying
            )
            let service = RestoredService(
                service: RemoteService(handle: 16, endHandle: 30, uuid: 0x180D, isPrimary: true),
                characteristics: [value]
            )
            let peer = RestoredPeer(
                info: PeerInfo(identifier: .sensor, name: "Sensor"),
                maximumWriteWithoutResponse: 182,
                services: [service]
            )
            app.report(.central(.willRestore(RestoredCentral(peers: [peer]))))
            app.report(.stateChanged(.poweredOn))
            for _ in 0..<3 { app.read(18, of: .sensor) }
            app.wait(10)
            app.ask(.peer(.sensor, .cancelConnection))
            #expect(app.rules == (isNotifying ? ["12.8", "12.8", "12.10"] : ["12.6"]))
        }
    }

    @Test("behaviour 12.21: a write to a peer without a connection is not judged")
    func unconnectedWrite() {
        var app = AdvisedApp(.central)
        app.request(.writeCharacteristic(18, value: Self.bytes(25)), of: .sensor)
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        app.request(.writeCharacteristic(18, value: Self.bytes(25)), of: .sensor)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.22: what is written without a connection, and before the radio was off, does not count")
    func bulk() {
        var app = AdvisedApp(.central)
        app.request(.writeCharacteristic(18, value: Self.bytes(200_000)), of: .sensor)
        app.connect(.sensor)
        app.request(.writeCharacteristic(18, value: Self.bytes(99_999)), of: .sensor)
        Self.toggle(&app)
        app.connect(.sensor)
        app.request(.writeCharacteristic(18, value: Self.bytes(99_999)), of: .sensor)
        #expect(app.rules == [])
        app.request(.writeCharacteristic(18, value: Self.bytes(1)), of: .sensor)
        #expect(app.rules == ["12.22"])
    }

    // MARK: Values

    @Test("behaviours 12.6, 12.8: reads of a value that notifies are no polling")
    func readsWhileNotifying() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        for _ in 0..<5 { app.read(18, of: .sensor) }
        // The first one is right.
        #expect(app.rules == ["12.8", "12.8", "12.8", "12.8"])
        #expect(app.advice[0].found == "read Heart Rate Measurement (2A37) of \"Sensor\" while it was subscribed to it")
        app.unsubscribe(18, of: .sensor)
        app.subscribe(18, of: .sensor)
        app.read(18, of: .sensor)
        #expect(app.rules.count == 4)
    }

    @Test("behaviour 12.6: reads before the radio was off do not count")
    func pollingAcrossPower() {
        var app = AdvisedApp.connected()
        for _ in 0..<2 { app.read(18, of: .sensor) }
        Self.toggle(&app)
        app.connectAndDiscover(.sensor)
        for _ in 0..<2 { app.read(18, of: .sensor) }
        #expect(app.rules == [])
        app.read(18, of: .sensor)
        #expect(app.rules == ["12.6"])
    }

    /// An app that is connected to a peer with many values that notify, with handles from 1 on.
    private static func appWithValues(_ count: Int) -> AdvisedApp {
        var app = AdvisedApp(.central)
        for (peer, number) in [(UUID.sensor, min(count, 256)), (.other, max(count - 256, 0))] {
            app.connect(peer)
            let values = (0..<number).map {
                RemoteCharacteristic(handle: AttributeHandle($0 + 1), uuid: 0x2A37, properties: 0x12)
            }
            app.report(.characteristicsDiscovered(of: 1, .success(values)), of: peer)
        }
        return app
    }

    @Test("AB-G05: the reads of 256 values are counted; with one more all are forgotten")
    func manyReads() {
        for (count, rules) in [(256, ["12.6"]), (257, [])] {
            var app = Self.appWithValues(257)
            app.read(1, of: .sensor)
            app.read(1, of: .sensor)
            for number in 1..<count {
                app.read(AttributeHandle(number % 256 + 1), of: number < 256 ? .sensor : .other)
            }
            app.read(1, of: .sensor)
            #expect(app.rules == rules)
        }
    }

    @Test("AB-G05: of 256 subscribed values it is known that the app has read them; with one more all are forgotten")
    func manyValues() {
        for (count, rules) in [(256, ["12.8"]), (257, [])] {
            var app = Self.appWithValues(257)
            for number in 0..<count {
                let handle = AttributeHandle(number % 256 + 1)
                app.subscribe(handle, of: number < 256 ? .sensor : .other)
                app.read(handle, of: number < 256 ? .sensor : .other)
            }
            app.read(1, of: .sensor)
            #expect(app.rules == rules)
        }
    }

    @Test("AB-G05: 256 subscriptions are watched for values, and later ones are not")
    func manySubscriptions() {
        var app = Self.appWithValues(257)
        for number in 0..<257 { app.subscribe(AttributeHandle(number % 256 + 1), of: number < 256 ? .sensor : .other) }
        app.wait(300)
        for handle in 1...256 as ClosedRange<AttributeHandle> {
            app.report(.valueNotified(handle, Self.bytes(1)), of: .sensor)
        }
        app.wait(301)
        #expect(app.advice == [])
        app.wait(300)
        #expect(app.advice.count { $0.rule == .rareValues } == 256)
        #expect(app.advice.allSatisfy { $0.peer == .sensor })
    }

    @Test("behaviour 12.7: subscriptions that are quiet at the same time get their advice by peer and handle, once")
    func quietSubscriptions() {
        var app = AdvisedApp(.central)
        for peer in [UUID.other, .sensor] {
            app.connect(peer)
            for handle in [30, 18] as [AttributeHandle] { app.subscribe(handle, of: peer) }
        }
        app.wait(601)
        let order = app.advice.map { "\($0.peer == .sensor ? "sensor" : "other") \($0.found.contains("30"))" }
        #expect(order == ["sensor false", "sensor true", "other false", "other true"])
        #expect(app.rules.count == 4)
        #expect(app.rules.count == 4)
    }

    @Test("behaviour 12.7: a subscription that ended by unsubscribing or with the radio, or was refused, is right")
    func endedSubscriptions() {
        var app = AdvisedApp.connected()
        app.subscribe(18, of: .sensor)
        app.unsubscribe(18, of: .sensor)
        let refusal = ServiceError(.connectionFailed, reason: "refused")
        app.report(.notifyStateChanged(21, isNotifying: true, refusal), of: .sensor)
        app.wait(700)
        #expect(!app.rules.contains("12.7"))
        app.subscribe(18, of: .sensor)
        Self.toggle(&app)
        app.wait(700)
        #expect(!app.rules.contains("12.7"))
        // The end of one connection is not that of another one.
        app.connect(.sensor)
        app.subscribe(18, of: .sensor)
        app.connect(.other)
        app.subscribe(18, of: .other)
        app.disconnectQuietly(.sensor)
        app.wait(700)
        #expect(app.advice.filter { $0.rule == .rareValues }.map(\.peer) == [.other])
        app.disconnectQuietly(.other)
        // A value of a subscription that is not watched begins none.
        app.connect(.sensor)
        app.report(.valueNotified(18, Self.bytes(1)), of: .sensor)
        app.wait(700)
        #expect(app.rules.count { $0 == "12.7" } == 1)
    }

    // MARK: Connections

    @Test("behaviour 12.9: requests alone, and events alone, are use of a connection")
    func use() {
        var requests = AdvisedApp(.central)
        requests.connect(.sensor)
        for _ in 0..<5 {
            requests.wait(50)
            requests.request(.readRSSI, of: .sensor)
        }
        #expect(requests.rules == [])
        requests.wait(61)
        #expect(requests.rules == ["12.9"])
        var events = AdvisedApp(.central)
        events.connect(.sensor)
        for _ in 0..<5 {
            events.wait(50)
            events.report(.nameChanged("Sensor"), of: .sensor)
        }
        #expect(events.rules == [])
        events.wait(61)
        #expect(events.rules == ["12.9"])
    }

    @Test("behaviour 12.9: a connection that ended with the radio, or that is only wanted, is not idle")
    func noConnection() {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        Self.toggle(&app)
        app.ask(.peer(.other, .connect(ConnectOptions())))
        app.request(.readRSSI, of: .other)
        app.wait(1_000)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.9: connections that are idle at the same time get their advice by peer")
    func idleConnections() {
        var app = AdvisedApp(.central)
        for number in (0..<20).reversed() { app.connect(Self.peer(number)) }
        app.wait(61)
        #expect(app.advice.map(\.peer) == (0..<20).map { Self.peer($0) })
    }
}

extension AdvisedApp {
    /// Connects, and disconnects before anything else.
    fileprivate mutating func meet(_ peer: UUID) {
        connect(peer)
        disconnect(peer)
    }

    /// The peer ends the connection.
    fileprivate mutating func disconnectQuietly(_ peer: UUID) {
        report(.disconnected(nil, isReconnecting: false, timestamp: nil), of: peer)
    }
}
