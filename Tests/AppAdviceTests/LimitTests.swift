import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// The limits of the rules: what reaches a limit is right, and what passes it is not.
@Suite struct LimitTests {
    private static func bytes(_ count: Int) -> PacketBuffer { PacketBuffer([UInt8](repeating: 1, count: count)) }

    @Test("behaviours 14.1, 14.2: the advertising intervals that Apple recommends are those that 12.30 accepts")
    func intervals() {
        let milliseconds = [20, 152.5, 211.25, 318.75, 417.5, 546.25, 760, 852.5, 1_022.5, 1_285]
        #expect(AdviceThresholds.advertisingIntervals == milliseconds.map { Int($0 * 1_000) })
        #expect(AdviceThresholds.shortestGap == .milliseconds(19))
        #expect(AdviceThresholds.advertisingDelay == .milliseconds(10))
    }

    @Test("behaviours 12.1, 12.4: a scan may go on for exactly 10 s after a connection, and last exactly 60 s")
    func scans() {
        var found = AdvisedApp(.central)
        found.scan()
        found.connect(.sensor)
        found.subscribe(18, of: .sensor)
        found.wait(10)
        #expect(found.rules == [])
        found.wait(0.001)
        #expect(found.rules == ["12.1"])
        var long = AdvisedApp(.central)
        long.scan()
        long.wait(60)
        #expect(long.rules == [])
        long.wait(0.001)
        #expect(long.rules == ["12.4"])
    }

    @Test("behaviour 12.2: a device may be reported 50 times, or for 30 s, and each scan counts anew")
    func duplicates() {
        func rules(reports: Int, over seconds: Double, pausing: Bool = false) -> [String] {
            var app = AdvisedApp(.central)
            app.scan(duplicates: true)
            for number in 0..<reports {
                if number > 0 { app.wait(seconds / Double(reports - 1)) }
                if pausing, number == reports / 2 {
                    app.ask(.stopScan)
                    app.scan(duplicates: true)
                }
                app.discover(.sensor)
            }
            return app.rules.filter { $0 == "12.2" }
        }
        #expect(rules(reports: 50, over: 40) == [])
        #expect(rules(reports: 51, over: 40) == ["12.2"])
        #expect(rules(reports: 65, over: 29.9) == [])
        #expect(rules(reports: 80, over: 40, pausing: true) == [])
        #expect(rules(reports: 200, over: 100, pausing: true) == ["12.2", "12.2"])
    }

    @Test("behaviour 12.2: after a scan in the background there is no second advice about its reports")
    func hiddenDuplicates() {
        var app = AdvisedApp(.central)
        app.note(.appMoved(.background))
        app.scan(duplicates: true)
        app.note(.appMoved(.foreground))
        for _ in 0..<80 {
            app.wait(0.5)
            app.discover(.sensor)
        }
        #expect(app.rules.filter { $0 == "12.2" } == ["12.2"])
    }

    @Test("behaviour 12.6: three reads in exactly a minute are polling; a connection in between begins anew")
    func polling() {
        func rules(_ pause: Double, reconnecting: Bool = false, other: Bool = false) -> [String] {
            var app = AdvisedApp.connected()
            if other { app.connectAndDiscover(.other) }
            for number in 0..<3 {
                if number > 0 { app.wait(pause) }
                if number == 2, reconnecting {
                    app.disconnect(.sensor)
                    app.connectAndDiscover(.sensor)
                }
                if number == 2, other { app.disconnect(.other) }
                app.read(18, of: .sensor)
            }
            return app.rules.filter { $0 == "12.6" }
        }
        #expect(rules(30) == ["12.6"])
        #expect(rules(30.001) == [])
        #expect(rules(10, reconnecting: true) == [])
        #expect(rules(10, other: true) == ["12.6"])
        // Then it counts anew.
        var app = AdvisedApp.connected()
        for _ in 0..<5 { app.read(18, of: .sensor) }
        #expect(app.rules == ["12.6"])
        app.read(18, of: .sensor)
        #expect(app.rules == ["12.6", "12.6"])
    }

    @Test("behaviours 12.7, 12.9: a value may come each 10 minutes, and a connection may be idle for exactly a minute")
    func silence() {
        var rare = AdvisedApp.connected()
        rare.subscribe(18, of: .sensor)
        rare.wait(600)
        #expect(rare.rules == [])
        rare.wait(0.001)
        #expect(rare.rules == ["12.7"])
        var idle = AdvisedApp.connected()
        idle.wait(60)
        #expect(!idle.rules.contains("12.9"))
        idle.wait(0.001)
        #expect(idle.rules.contains("12.9"))
    }

    @Test("behaviour 12.10: the other values that still notify are counted")
    func others() {
        func found(_ handles: [AttributeHandle]) -> String? {
            var app = AdvisedApp.connected()
            for handle in handles { app.subscribe(handle, of: .sensor) }
            app.ask(.peer(.sensor, .cancelConnection))
            return app.advice.first { $0.rule == .unsubscribeFirst }?.found
        }
        #expect(found([18])?.hasSuffix("(2A37)") == true)
        #expect(found([18, 30])?.hasSuffix(" and 1 other value") == true)
        #expect(found([18, 30, 31])?.hasSuffix(" and 2 other values") == true)
    }

    @Test("behaviour 12.14: an app may advertise for exactly 10 minutes alone, and again after a pause")
    func advertising() {
        var app = AdvisedApp(.peripheral)
        app.wait(2)
        app.ask(.startAdvertising(AdvertisingRequest(localName: "a", services: [])))
        app.wait(600)
        #expect(app.rules == [])
        app.ask(.stopAdvertising)
        app.wait(10)
        app.ask(.startAdvertising(AdvertisingRequest(localName: "a", services: [])))
        app.wait(600)
        #expect(app.rules == [])
        app.wait(0.001)
        #expect(app.rules == ["12.14"])
        app.wait(1_000)
        #expect(app.rules == ["12.14"])
    }

    @Test("behaviour 12.21: a write of up to 16 octets above the maximum is likely a mistake, a longer one is not")
    func longWrites() {
        for (excess, rules) in [(0, []), (1, ["12.21"]), (16, ["12.21"]), (17, [])] {
            var app = AdvisedApp.connected()
            app.request(.writeCharacteristic(21, value: Self.bytes(182 + excess)), of: .sensor)
            #expect(app.rules == rules, "\(excess) octets")
        }
    }

    @Test("behaviour 12.22: 100,000 octets in either direction are bulk, and each connection counts anew")
    func bulk() {
        let requests: [LinkRequest] = [
            .writeCharacteristic(21, value: Self.bytes(100)), .writeWithoutResponse(21, value: Self.bytes(100)),
        ]
        let events: [PeerEvent] = [.valueNotified(18, Self.bytes(100)), .valueRead(21, .success(Self.bytes(100)))]
        for kind in 0..<4 {
            var app = AdvisedApp(.central)
            func move(_ times: Int) {
                for _ in 0..<times {
                    if kind < 2 {
                        app.request(requests[kind], of: .sensor)
                    } else {
                        app.report(events[kind - 2], of: .sensor)
                    }
                }
            }
            app.connectAndDiscover(.sensor)
            move(999)
            app.report(.valueNotified(18, Self.bytes(99)), of: .sensor)
            #expect(app.rules == [])
            app.report(.valueNotified(18, Self.bytes(1)), of: .sensor)
            #expect(app.rules == ["12.22"])
            move(1_000)
            #expect(app.rules == ["12.22"])
            app.disconnect(.sensor)
            app.connectAndDiscover(.sensor)
            move(999)
            #expect(app.rules == ["12.22"])
        }
    }

    @Test("behaviour 12.22: a central may get 99,999 octets, and another one as many")
    func bulkUpdates() {
        var app = AdvisedApp(.peripheral)
        let id = LocalAttributeID(2)
        let value = LocalCharacteristic(id: id, uuid: 0x2A37, properties: 0x12, permissions: 1)
        let service = LocalService(id: LocalAttributeID(1), uuid: 0x180D, isPrimary: true, characteristics: [value])
        app.ask(.addService(service))
        for peer in [UUID.sensor, .other] {
            app.report(.subscribed(CentralInfo(identifier: peer, maximumUpdateLength: 512), id))
        }
        for _ in 0..<999 { app.ask(.updateValue(id, value: Self.bytes(100), centrals: nil)) }
        app.ask(.updateValue(id, value: Self.bytes(99), centrals: [.sensor]))
        #expect(app.rules == [])
        app.ask(.updateValue(id, value: Self.bytes(1), centrals: [.sensor]))
        #expect(app.rules == ["12.22"])
        #expect(app.advice[0].peer == .sensor)
    }

    @Test("behaviour 12.26: eight services are few, nine are many")
    func services() {
        var app = AdvisedApp(.peripheral)
        for number in 1...8 {
            let id = LocalAttributeID(UInt32(number))
            app.ask(.addService(LocalService(id: id, uuid: 0x180D, isPrimary: true, characteristics: [])))
        }
        #expect(app.rules == [])
        let id = LocalAttributeID(9)
        app.ask(.addService(LocalService(id: id, uuid: 0x180D, isPrimary: true, characteristics: [])))
        #expect(app.rules == ["12.26"])
        #expect(app.advice[0].found == "published more than 8 services")
    }

    @Test("behaviour 12.12: the state of a released peripheral is told as it was")
    func released() {
        for isConnected in [true, false] {
            var app = AdvisedApp(.central)
            app.ask(.peer(.sensor, .connect(ConnectOptions())))
            if isConnected {
                app.report(.connected(name: "Sensor", maximumWriteWithoutResponse: 182), of: .sensor)
            }
            app.ask(.peer(.sensor, .forget))
            let state = isConnected ? "was connected to it" : "was connecting to it"
            #expect(app.advice.first?.found.contains(state) == true)
        }
    }

    @Test("times are told in tenths below ten seconds, then in seconds, and from ten minutes on in minutes")
    func words() {
        let texts: [(Int, String)] = [
            (1_000, "1 s"), (1_500, "1.5 s"), (9_900, "9.9 s"), (10_000, "10 s"), (10_500, "10 s"), (599_900, "599 s"),
            (600_000, "10 min"), (100, "0.1 s"), (0, "0 s"), (3_600_000, "60 min"),
        ]
        for (milliseconds, text) in texts { #expect(Duration.milliseconds(milliseconds).words == text) }
        // The smallest time below a tenth, and below a minute.
        #expect((Duration.milliseconds(300) - .init(secondsComponent: 0, attosecondsComponent: 1)).words == "0.2 s")
        #expect((Duration.seconds(1) - .init(secondsComponent: 0, attosecondsComponent: 1)).words == "0.9 s")
        #expect([0, 1, 2].map { count($0, "service") } == ["0 services", "1 service", "2 services"])
    }

    /// Those of chapter 12 of Documentation/Behaviours.md.
    @Test("the thresholds are those of the rules")
    func thresholds() {
        #expect(AdviceThresholds.scanAfterConnection == .seconds(10))
        #expect(AdviceThresholds.duplicates == 50)
        #expect(AdviceThresholds.duplicatesBeforeConnection == .seconds(30))
        #expect(AdviceThresholds.scan == .seconds(60))
        #expect(AdviceThresholds.usedPart == 0.5)
        #expect(AdviceThresholds.polls == 3)
        #expect(AdviceThresholds.polling == .seconds(60))
        #expect(AdviceThresholds.rareValues == .seconds(600))
        #expect(AdviceThresholds.idle == .seconds(60))
        #expect(AdviceThresholds.advertisingAfterCentral == .seconds(30))
        #expect(AdviceThresholds.advertisingAlone == .seconds(600))
        #expect(AdviceThresholds.launch == .seconds(1))
        #expect(AdviceThresholds.response == .seconds(5))
        #expect(AdviceThresholds.bulk == 100_000)
        #expect(AdviceThresholds.wake == .seconds(10))
        #expect(AdviceThresholds.services == 8)
        #expect(AdviceThresholds.restoration == .seconds(5))
    }

    @Test("the rules with weak signs are hints, and all others are not")
    func hints() {
        #expect(
            AdviceRule.allCases.filter(\.isHint).map(\.number) == [
                "12.2", "12.7", "12.11", "12.15", "12.18", "12.26", "12.30", "12.31",
            ]
        )
        var app = AdvisedApp(.central)
        app.scan(nil)
        #expect(app.advice.map(\.description).allSatisfy { !$0.contains("hint") })
        #expect(app.advice[0].count == 1)
        app.note(.practiced(.noServiceChanged), about: .sensor)
        #expect(app.advice[1].description.hasSuffix(" a device that bonds needs 2A05. (A hint only.)"))
    }

    @Test("the cost of an advice is that of the use it is about, unless other managers of the app have a part in it")
    func costs() {
        let cost = AdviceCost(
            of: .discovery,
            microampereHours: 2.5,
            sending: .milliseconds(500),
            listening: .milliseconds(1_500),
            isEstimate: true
        )
        #expect(cost.status.use == "all its discovery there")
        #expect(cost.status.microampereHours == 2.5)
        #expect(cost.status.sendingSeconds == 0.5)
        #expect(cost.status.listeningSeconds == 1.5)
        #expect(cost.status.isEstimate)
        #expect(cost.description == cost.status.words)
        var advice = Advice(
            rule: .idleConnection,
            app: "app",
            manager: .central,
            peer: nil,
            time: .zero,
            found: "did it"
        )
        #expect(advice.use == .link)
        advice.hasRivals = true
        #expect(advice.use == nil)
        let other = Advice(rule: .fittingValues, app: "app", manager: .central, peer: nil, time: .zero, found: "did it")
        #expect(other.use == nil)
    }

    @Test("an advice without a site has no place")
    func places() {
        var advice = Advice(rule: .keepObjects, app: "app", manager: nil, peer: nil, time: .zero, found: "did it")
        advice.place = CallPlace(file: "/app/Heart.swift", line: 4)
        #expect([advice].withPlaces.map(\.place) == [nil])
    }

    @Test("a rule that an app breaks a hundred times is one advice, and 256 causes are kept")
    func causes() {
        var findings = Findings(app: "app")
        for number in 0..<300 { findings.add(.subscribeRatherThanPoll, attribute: UInt32(number), "did it") }
        #expect(findings.all.count == 256)
        #expect(findings.dropped == 44)
        #expect(findings.takeChanges().count == 256)
        #expect(findings.takeChanges().isEmpty)
    }
}
