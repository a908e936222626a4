import BluetoothService
import BluetoothTypes
import Foundation
import L2CAP
import ServiceMessages
import Testing

@testable import AppAdvice

/// The rules that need what the app's side notes, what a connection shows of a peer, and the times of reports.
@Suite struct NotedAdviceTests {
    @Test("behaviour 12.20: a write without room, and a second update without room, are noticed")
    func flowControl() {
        var central = AdvisedApp(.central)
        central.connect(.sensor)
        central.note(.practiced(.noted(.writeWithoutRoom(.sensor))))
        central.note(.practiced(.noted(.writeWithoutRoom(.sensor))))
        #expect(central.rules == ["12.20", "12.20"])
        #expect(central.advice[0].found.hasPrefix("wrote to \"Sensor\" without response while there was no room"))
        #expect(central.advice[0].peer == .sensor)
        var peripheral = AdvisedApp(.peripheral)
        peripheral.note(.practiced(.noted(.updateWithoutRoom)))
        #expect(peripheral.rules == ["12.20"])
        #expect(peripheral.advice[0].manager == .peripheral)
    }

    @Test("behaviours 12.24, 12.27, 12.29: what the app's side notes is advice, with its numbers")
    func notes() {
        var app = AdvisedApp(.central)
        app.note(.practiced(.noted(.stateUnread)))
        app.note(.practiced(.noted(.restorationIgnored)))
        app.note(.practiced(.noted(.slowCallback(milliseconds: 250))))
        #expect(app.rules == ["12.24", "12.27", "12.29"])
        #expect(app.advice[2].found == "took 250 ms in a callback, while the next one waited")
        #expect(app.advice.allSatisfy { !$0.isHint })
    }

    @Test("behaviour 12.26: a bonded peer without Service Changed is a hint")
    func bondedPeer() {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        app.note(.practiced(.noServiceChanged), about: .sensor)
        #expect(app.rules == ["12.26"])
        #expect(app.advice[0].isHint)
        #expect(app.advice[0].found == "is bonded with \"Sensor\", which has no Service Changed characteristic (2A05)")
    }

    @Test("behaviours 12.26, 12.28: a bond, other parameters of a link, and signs about no peer are right")
    func otherPeers() {
        var app = AdvisedApp.connected()
        // The link is bonded, and has parameters that an accessory may not request: its central chose them.
        var facts = LinkFacts()
        (facts.interval, facts.latency, facts.supervisionTimeout) = (7_500, 0, 720)
        (facts.isEncrypted, facts.isBonded) = (true, true)
        app.report(.linkInformation(facts), of: .sensor)
        app.report(.servicesModified(invalidated: [16]), of: .sensor)
        #expect(app.rules == [])
        app.note(.practiced(.noServiceChanged))
        app.note(.practiced(.parametersRefused(explanation: "")))
        #expect(app.rules == [])
        // What a peer does as a central is no practice of an accessory.
        var server = AdvisedApp(.peripheral)
        server.note(.practiced(.noServiceChanged), about: .sensor)
        server.note(
            .practiced(.parametersRefused(explanation: "")),
            about: .sensor
        )
        #expect(server.rules == [])
    }

    @Test("behaviour 12.28: parameters that Apple's systems refuse are noticed, with their numbers")
    func parameters() {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        var parameters = ConnectionParameters()
        (parameters.intervalMinimum, parameters.intervalMaximum) = (6, 9)
        (parameters.latency, parameters.timeout) = (4, 200)
        let explanation = AppleConnectionParameterRules().explanation(of: parameters)
        app.note(.practiced(.parametersRefused(explanation: explanation)), about: .sensor)
        #expect(app.rules == ["12.28"])
        let found = """
            uses "Sensor", which requested parameters that Apple's systems refuse: interval 7.5 to 11.25 ms, latency 4, \
            timeout 2000 ms, because the shortest interval is not from 15 ms to 2 s, and the shortest interval is no \
            multiple of 15 ms, and the longest interval is not 15 ms above the shortest, and the supervision timeout is \
            not from 6 to 18 s; interval 15 to 30 ms, latency 4, timeout 6000 ms would be accepted
            """
        #expect(app.advice[0].found == found)
    }

    @Test("behaviour 12.31: a table that breaks a rule is a hint, once for each peer")
    func flawedTable() {
        var app = AdvisedApp(.central)
        app.connect(.sensor)
        app.note(
            .practiced(.flawedTable("the service at 0x0001 includes itself: the include is ignored")),
            about: .sensor
        )
        app.note(.practiced(.flawedTable("the declaration at 0x0009 is malformed: ignored")), about: .sensor)
        #expect(app.rules == ["12.31", "12.31"])
        #expect(app.advice.count == 1)
        #expect(app.advice[0].isHint)
        #expect(app.advice[0].count == 2)
        let found = "uses \"Sensor\", whose attribute table breaks a rule: the service at 0x0001 includes itself"
        #expect(app.advice[0].found.hasPrefix(found))
    }

    /// Reports of a device at an interval in milliseconds, with the random delay of an advertiser.
    private static func hear(_ interval: Double, reports number: Int = 40, missing: Int = 0, app: inout AdvisedApp) {
        for index in 0..<number {
            app.wait((interval + Double(index * 7 % 11)) / 1_000)
            if missing > 0, index % missing == 0 { continue }
            app.discover(.sensor)
        }
    }

    @Test("behaviour 12.30: an advertising interval that is not recommended is a hint, also if reports are missed")
    func advertisingInterval() {
        for missing in [0, 4] {
            var app = AdvisedApp(.central)
            app.scan(duplicates: true)
            Self.hear(100, reports: 60, missing: missing, app: &app)
            #expect(app.rules == ["12.30"])
            #expect(app.advice[0].isHint)
            #expect(["99", "100"].contains { app.advice[0].found == "received \"Sensor\" about every \($0) ms" })
        }
    }

    @Test("behaviour 12.30: each recommended interval is right")
    func recommendedIntervals() {
        for interval in AdviceThresholds.advertisingIntervals {
            var app = AdvisedApp(.central)
            app.scan(duplicates: true)
            Self.hear(Double(interval) / 1_000, app: &app)
            #expect(!app.rules.contains("12.30"))
        }
    }

    @Test("behaviour 12.30: few reports, an advertiser without a rhythm, and a scan without duplicates say nothing")
    func noInterval() {
        var few = AdvisedApp(.central)
        few.scan(duplicates: true)
        Self.hear(100, reports: AdviceThresholds.gaps, app: &few)
        #expect(few.rules == [])
        few.scan(duplicates: true)
        Self.hear(100, reports: AdviceThresholds.gaps, app: &few)
        #expect(!few.rules.contains("12.30"))
        var uneven = AdvisedApp(.central)
        uneven.scan(duplicates: true)
        for number in 0..<60 {
            uneven.wait(0.05 + 0.02 * Double(number))
            uneven.discover(.sensor)
        }
        #expect(!uneven.rules.contains("12.30"))
        var plain = AdvisedApp(.central)
        plain.scan()
        Self.hear(100, app: &plain)
        #expect(plain.rules == [])
        // The scan response of each event comes right behind it.
        var responses = AdvisedApp(.central)
        responses.scan(duplicates: true)
        for number in 0..<40 {
            responses.wait((152.5 + Double(number * 7 % 11)) / 1_000 - 0.001)
            responses.discover(.sensor)
            responses.wait(0.001)
            responses.discover(.sensor)
        }
        #expect(!responses.rules.contains("12.30"))
    }

    @Test("behaviour 12.10: unsubscribing right before cancelling is right, without waiting for the answer")
    func unsubscribedBefore() {
        for isNumbered in [false, true] {
            var app = AdvisedApp.connected()
            app.subscribe(18, of: .sensor)
            let request = LinkRequest.setNotify(18, isEnabled: false)
            app.ask(.peer(.sensor, isNumbered ? .ask(1, request) : .link(request)))
            app.ask(.peer(.sensor, .cancelConnection))
            #expect(app.rules == [])
        }
    }

    // MARK: Places

    private static func site(_ number: UInt32) -> CallSite { CallSite(number: number) }

    @Test("advice about what lasts has the place of the call that began it, other advice that of the call itself")
    func places() {
        var app = AdvisedApp(.central)
        app.site = Self.site(1)
        app.scan()
        app.site = Self.site(2)
        app.connect(.sensor)
        app.site = Self.site(3)
        app.request(.setNotify(18, isEnabled: true), of: .sensor)
        app.site = nil
        app.report(.notifyStateChanged(18, isNotifying: true, nil), of: .sensor)
        app.wait(700)
        app.site = Self.site(4)
        app.ask(.peer(.sensor, .cancelConnection))
        app.site = nil
        let sites = Dictionary(uniqueKeysWithValues: app.advice.map { ($0.rule, $0.site) })
        #expect(sites[.scanUntilFound] == Self.site(1))
        #expect(sites[.rareValues] == Self.site(3))
        #expect(sites[.unsubscribeFirst] == Self.site(4))

        var long = AdvisedApp(.central)
        long.site = Self.site(5)
        long.scan()
        long.site = Self.site(6)
        long.wait(61)
        #expect(long.advice.map(\.site) == [Self.site(5)])
    }

    @Test("a connection that is idle or not kept has the place that connects, a wide discovery that which discovers")
    func moreCentralPlaces() {
        var app = AdvisedApp(.central)
        app.site = Self.site(2)
        app.connect(.sensor)
        app.site = Self.site(5)
        app.request(.discoverServices(nil), of: .sensor)
        app.site = nil
        let services = [10, 20, 30].map {
            RemoteService(handle: $0, endHandle: $0 + 9, uuid: 0x1800, isPrimary: true)
        }
        app.report(.servicesDiscovered(.success(services)), of: .sensor)
        app.wait(61)
        app.site = Self.site(6)
        app.ask(.peer(.sensor, .forget))
        let sites = Dictionary(uniqueKeysWithValues: app.advice.map { ($0.rule, $0.site) })
        #expect(sites == [.idleConnection: Self.site(2), .narrowDiscovery: Self.site(5), .keepObjects: Self.site(2)])
    }

    @Test("endless advertising has the place that began to advertise")
    func peripheralPlaces() {
        var app = AdvisedApp(.peripheral)
        app.wait(10)
        app.site = Self.site(1)
        app.ask(.startAdvertising(AdvertisingRequest(localName: "a", services: [])))
        app.site = Self.site(2)
        app.wait(601)
        app.ask(.removeAllServices)
        #expect(app.advice.map(\.site) == [Self.site(1)])
    }

    @Test("an advice with a place says it behind what the app did")
    func text() {
        var app = AdvisedApp(.central)
        app.scan(nil)
        var advice = app.advice[0]
        advice.place = CallPlace(file: "/app/Sources/Heart.swift", line: 42)
        #expect(advice.description.hasPrefix("12.3 app scanned without naming a service (Heart.swift:42). Name"))
    }
}
