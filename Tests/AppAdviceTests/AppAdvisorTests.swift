import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// Apps, their processes and their managers are told apart, and each advice says which of them it is about.
@Suite struct AppAdvisorTests {
    private static let scan = Observation.Content.requested(.central(.startScan(ScanRequest(services: nil))))
    private static let advertise = Observation.Content.requested(
        .peripheral(.startAdvertising(AdvertisingRequest(localName: "a", services: [])))
    )

    private static func at(_ seconds: Double) -> Instant { .zero + .nanoseconds(Int64(seconds * 1e9)) }

    private static func app(_ number: Int) -> AppIdentity { AppIdentity(name: "app\(number)") }

    // MARK: Advisor

    @Test("AB-G05: 256 apps are followed, and later ones get no advice")
    func apps() {
        var advisor = Advisor()
        for number in 0..<300 {
            advisor.accept(.managerOpened(.central), of: Self.app(number), ManagerID(1), at: .zero)
            advisor.accept(Self.scan, of: Self.app(number), ManagerID(1), at: .zero)
        }
        #expect(advisor.advice.map(\.app) == (0..<256).map { "app\($0)" })
    }

    @Test("the advice and the changes are sorted by app, in the order in which the apps appeared")
    func order() {
        var advisor = Advisor()
        for number in [2, 1, 3] {
            advisor.accept(.managerOpened(.central), of: Self.app(number), ManagerID(1), at: Self.at(Double(number)))
        }
        for number in [1, 2, 3] { advisor.accept(Self.scan, of: Self.app(number), ManagerID(1), at: Self.at(4)) }
        #expect(advisor.advice.map(\.app) == ["app2", "app1", "app3"])
        #expect(advisor.advice.map(\.appSince) == [.seconds(2), .seconds(1), .seconds(3)])
        #expect(advisor.takeChanges().map(\.app.name) == ["app2", "app1", "app3"])
        #expect(advisor.takeChanges().isEmpty)
        advisor.advance(to: Self.at(65))
        #expect(
            advisor.takeChanges().map { "\($0.app.name) \($0.advice.rule.number)" }.sorted() == [
                "app1 12.4", "app2 12.4", "app3 12.4",
            ]
        )
        #expect(advisor.dropped == 0)
    }

    @Test("AB-G05: the dropped findings of all apps are counted")
    func dropped() {
        var advisor = Advisor()
        for number in [1, 2] {
            advisor.accept(.managerOpened(.peripheral), of: Self.app(number), ManagerID(1), at: .zero)
            for id in 1...(256 + UInt32(number)) {
                let value = LocalCharacteristic(
                    id: LocalAttributeID(id),
                    uuid: 0x2A37,
                    properties: 0x08,
                    permissions: 0x02
                )
                let service = LocalService(
                    id: LocalAttributeID(10_000 + id),
                    uuid: 0x180D,
                    isPrimary: true,
                    characteristics: [value]
                )
                for request in [.addService(service), .removeService(service.id)] as [PeripheralRequest] {
                    advisor.accept(.requested(.peripheral(request)), of: Self.app(number), ManagerID(1), at: .zero)
                }
            }
        }
        #expect(advisor.dropped == 3)
    }

    // MARK: Managers

    @Test("AB-G05: 64 managers of an app are followed, and another one after the end of one")
    func managers() {
        var advisor = AppAdvisor(name: "app", since: .zero)
        for number in 1...70 {
            advisor.accept(.managerOpened(.central), of: ManagerID(UInt32(number)), at: .zero)
            advisor.accept(Self.scan, of: ManagerID(UInt32(number)), at: .zero)
        }
        #expect(advisor.advice.count == 64)
        advisor.accept(.managerClosed, of: ManagerID(3), at: .zero)
        advisor.accept(Self.scan, of: ManagerID(3), at: .zero)
        #expect(advisor.advice.allSatisfy { $0.count == 1 })
        advisor.accept(.managerOpened(.central), of: ManagerID(100), at: .zero)
        advisor.accept(Self.scan, of: ManagerID(100), at: .zero)
        #expect(advisor.advice.count == 65)
    }

    @Test("managers that break a rule at the same time get their advice in the order of their creation")
    func orderOfManagers() {
        var advisor = AppAdvisor(name: "app", since: .zero)
        let numbers = Array(1...40 as ClosedRange<UInt32>)
        for number in numbers.reversed() {
            advisor.accept(.managerOpened(.central), of: ManagerID(number), at: .zero)
            advisor.accept(
                .requested(.central(.startScan(ScanRequest(services: [0x180D])))),
                of: ManagerID(number),
                at: .zero,
                from: CallSite(number: number)
            )
        }
        advisor.advance(to: Self.at(61))
        #expect(advisor.advice.map(\.site) == numbers.reversed().map { CallSite(number: $0) })
    }

    @Test("a manager has rivals if another one of its kind exists at the same time, and an advice about the app has")
    func rivals() {
        func hasRivals(_ roles: [ManagerRole], closing: Bool = false) -> [Bool] {
            var advisor = AppAdvisor(name: "app", since: .zero)
            for (number, role) in roles.enumerated() {
                let id = ManagerID(UInt32(number + 1))
                advisor.accept(.managerOpened(role), of: id, at: .zero)
                if closing { advisor.accept(.managerClosed, of: id, at: .zero) }
            }
            advisor.accept(.managerOpened(roles[0]), of: ManagerID(9), at: .zero)
            advisor.accept(Self.scan, of: ManagerID(9), at: .zero)
            return advisor.advice.map(\.hasRivals)
        }
        #expect(hasRivals([.central]) == [true])
        #expect(hasRivals([.central, .central], closing: true) == [false])
        var advisor = AppAdvisor(name: "app", since: .zero)
        advisor.accept(.managerOpened(.peripheral), of: ManagerID(1), at: .zero)
        advisor.accept(.managerOpened(.central), of: ManagerID(2), at: .zero)
        advisor.accept(Self.scan, of: ManagerID(2), at: .zero)
        #expect(advisor.advice.map(\.hasRivals) == [false])
        #expect(advisor.takeChanges { _ in true }.map(\.hasRivals) == [false])
        advisor.accept(.misused("\(EarlyCalls.sign): stopScan", isToldToApp: true), of: ManagerID(2), at: .zero)
        #expect(advisor.advice.map(\.hasRivals) == [false, true])
    }

    @Test("behaviour 12.23: a call before poweredOn has the place of the call, and is about the app as a whole")
    func earlyCall() {
        var advisor = AppAdvisor(name: "app", since: .zero)
        advisor.accept(.managerOpened(.central), of: ManagerID(1), at: .zero)
        advisor.accept(Self.scan, of: ManagerID(1), at: Self.at(1), from: CallSite(number: 1))
        advisor.accept(
            .misused("<X> \(EarlyCalls.sign): : scanForPeripherals", isToldToApp: true),
            of: ManagerID(1),
            at: Self.at(2),
            from: CallSite(number: 2)
        )
        #expect(advisor.advice.map(\.site) == [CallSite(number: 1), CallSite(number: 2)])
        #expect(advisor.advice[1].manager == nil)
        #expect(advisor.advice[1].time == .seconds(2))
        #expect(advisor.advice[1].found == "called scanForPeripherals before it was told that Bluetooth is on")
    }

    @Test("events without a manager, and of a manager that has not been opened, give no advice")
    func unknownManagers() {
        var advisor = AppAdvisor(name: "app", since: .zero)
        advisor.accept(.managerOpened(.central), of: nil, at: .zero)
        advisor.accept(Self.scan, of: nil, at: .zero)
        advisor.accept(Self.scan, of: ManagerID(1), at: .zero)
        #expect(advisor.advice == [])
    }

    // MARK: Processes

    @Test("behaviour 12.15: the launch is the first manager of a process, and each process has its own")
    func launches() {
        var advisor = AppAdvisor(name: "app", since: .zero)
        advisor.accept(.managerOpened(.central), of: ManagerID(1), at: Self.at(5))
        advisor.accept(.managerOpened(.peripheral), of: ManagerID(2), at: Self.at(6))
        advisor.accept(Self.advertise, of: ManagerID(2), at: Self.at(6))
        #expect(advisor.advice == [])
        advisor.accept(.appMoved(.notRunning(.forceQuit)), of: nil, at: Self.at(10))
        advisor.accept(.managerOpened(.peripheral), of: ManagerID(1), at: Self.at(20))
        advisor.accept(Self.advertise, of: ManagerID(1), at: Self.at(20.999))
        #expect(advisor.advice.map(\.rule.number) == ["12.15"])
        #expect(advisor.advice.map(\.hasRivals) == [false])
    }

    @Test("a scan of a process that ended is over")
    func endOfProcess() {
        var advisor = AppAdvisor(name: "app", since: .zero)
        advisor.accept(.managerOpened(.central), of: ManagerID(1), at: .zero)
        advisor.accept(
            .requested(.central(.startScan(ScanRequest(services: [0x180D])))),
            of: ManagerID(1),
            at: .zero
        )
        advisor.accept(.appMoved(.notRunning(.crashed)), of: nil, at: Self.at(1))
        advisor.advance(to: Self.at(1_000))
        #expect(advisor.advice == [])
    }

    // MARK: The background

    @Test("behaviour 12.25: a stay in the background may last exactly ten seconds after its last event")
    func wakes() {
        func found(
            _ seconds: Double,
            from first: AppPhase = .suspended,
            to last: AppPhase = .suspended,
            event: Bool = false
        )
            -> [String]
        {
            var app = AdvisedApp(.central)
            app.note(.appMoved(first))
            app.note(.appMoved(.background))
            if event {
                app.wait(9)
                app.report(.valueNotified(18, PacketBuffer([1])), of: .sensor)
            }
            app.wait(seconds)
            app.note(.appMoved(last))
            return app.advice.map(\.found)
        }
        #expect(found(10) == [])
        #expect(found(10.5) == ["ran for 10 s in the background after an event woke it"])
        #expect(found(10, event: true) == [])
        #expect(found(11, event: true) == ["ran for 11 s in the background after an event woke it"])
        // The user left the app, and the system gave it this time.
        #expect(found(60, from: .foreground) == [])
        // The user came back.
        #expect(found(60, to: .foreground) == [])
        #expect(found(60, to: .notRunning(.crashed)) == [])
    }

    @Test("behaviour 12.25: an event before the app was woken gives no time, and each stay counts by itself")
    func eachWake() {
        var app = AdvisedApp(.central)
        app.note(.appMoved(.background))
        app.report(.valueNotified(18, PacketBuffer([1])), of: .sensor)
        app.wait(30)
        app.note(.appMoved(.suspended))
        #expect(app.rules == [])
        app.note(.appMoved(.background))
        app.wait(5)
        app.note(.appMoved(.suspended))
        app.wait(100)
        app.note(.appMoved(.suspended))
        #expect(app.rules == [])
        app.note(.appMoved(.background))
        app.wait(5)
        // Without a change of the phase, the stay goes on.
        app.note(.appMoved(.background))
        app.wait(6)
        app.note(.appMoved(.suspended))
        #expect(app.rules == ["12.25"])
        app.note(.appMoved(.foreground))
        app.note(.appMoved(.background))
        app.wait(30)
        app.note(.appMoved(.suspended))
        #expect(app.rules == ["12.25"])
    }

    // MARK: Findings

    @Test("a cause is a rule with manager, peer and attribute; its count grows by one, and its first words stay")
    func causes() {
        var findings = Findings(app: "app")
        findings.prepare(for: (ManagerID(1), .central), at: Self.at(1))
        findings.site = CallSite(number: 1)
        findings.add(.keepObjects, peer: .sensor, "first")
        findings.prepare(for: (ManagerID(1), .central), at: Self.at(2))
        findings.add(.keepObjects, peer: .sensor, "second")
        findings.add(.keepObjects, peer: .other, "third")
        findings.add(.keepObjects, peer: .sensor, attribute: 7, at: CallSite(number: 4), "fourth")
        findings.prepare(for: (ManagerID(2), .peripheral), at: Self.at(3))
        findings.add(.keepObjects, peer: .sensor, "fifth")
        findings.prepare(for: nil, at: Self.at(4))
        findings.add(.keepObjects, peer: .sensor, "sixth")
        #expect(findings.all.map(\.found) == ["first", "third", "fourth", "fifth", "sixth"])
        #expect(findings.all.map(\.count) == [2, 1, 1, 1, 1])
        #expect(findings.all.map(\.manager) == [.central, .central, .central, .peripheral, nil])
        #expect(findings.all.map(\.time) == [1, 2, 2, 3, 4].map { .seconds($0) })
        #expect(findings.all.map(\.site) == [CallSite(number: 1), nil, CallSite(number: 4), nil, nil])
    }

    @Test("changes are the new causes and the new counts, in order, each once")
    func changes() {
        var findings = Findings(app: "app")
        for number in 0..<20 as Range<UInt32> { findings.add(.keepObjects, attribute: number, "\(number)") }
        #expect(findings.takeChanges().map(\.found) == (0..<20).map { "\($0)" })
        #expect(findings.takeChanges().isEmpty)
        for number in [7, 3, 5, 3] as [UInt32] { findings.add(.keepObjects, attribute: number, "again") }
        findings.add(.keepObjects, attribute: 99, "new")
        #expect(findings.takeChanges().map { "\($0.found) \($0.count)" } == ["3 3", "5 2", "7 2", "new 1"])
        #expect(findings.takeChanges().isEmpty)
        #expect(findings.dropped == 0)
    }
}
