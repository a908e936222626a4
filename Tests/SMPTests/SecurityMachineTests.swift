import BluetoothTypes
import Testing

@testable import SMP

/// The security of one link: each event in each situation, with all resulting actions and the resulting state.
@Suite struct SecurityMachineTests {
    /// Events that may occur at any time.
    static let events: [(name: String, event: SecurityMachine.Event)] = [
        ("wanted", .wanted(.init(number: 9, level: .encrypted))),
        ("wanted more", .wanted(.init(number: 9, level: .authenticated))),
        ("pair", .wanted(.init(number: 9, level: nil))),
        ("request", .received(PairingRequest(features).framed())),
        ("wish", .received(SecurityRequest([]).framed())),
        ("refusal", .received(PairingFailed(.busy).framed())),
        ("rubbish", .received([0xFF])),
        ("may", .permitted(true)), ("may not", .permitted(false)),
        ("yes", .answered(.accept)), ("no", .answered(.refuse)),
        ("on", .encryption(.on)), ("refreshed", .encryption(.refreshed)), ("off", .encryption(.off)),
        ("no key", .encryption(.failed(.keyMissing))), ("no answer", .encryption(.failed(.timedOut))),
        ("failed", .encryption(.failed(.other))),
        ("kept", .stored(true)), ("not kept", .stored(false)),
        ("timeout", .timeout), ("cancel", .cancel), ("forgotten", .forgotten), ("link lost", .linkLost),
    ]

    private static let features: PairingFeatures = {
        var features = PairingFeatures()
        features.requirements = [.bonding, .secureConnections]
        return features
    }()

    private static let encrypted = SecurityMachine.Event.wanted(.init(number: 1, level: .encrypted))
    private static let more = SecurityMachine.Event.wanted(.init(number: 3, level: .authenticated))
    private static let pair = SecurityMachine.Event.wanted(.init(number: 2, level: nil))

    /// Points of a pairing as seen by one side.
    private static func isAsking(_ role: PairingRole) -> (SecuritySituation) -> Bool { { $0[role].pairing.isUnderWay } }
    private static func isTentative(_ role: PairingRole) -> (SecuritySituation) -> Bool { { $0[role].isTentative } }
    private static func isAgreed(_ role: PairingRole) -> (SecuritySituation) -> Bool {
        { $0[role].pending == .pairing }
    }
    private static func isStoring(_ role: PairingRole) -> (SecuritySituation) -> Bool {
        { if case .storing = $0[role].state { true } else { false } }
    }
    private static func isRequesting(_ situation: SecuritySituation) -> Bool {
        if case .awaitsResponse = situation.central.pairing.state { true } else { false }
    }

    private static var new: SecuritySituation { SecuritySituation() }
    private static var bonded: SecuritySituation { SecuritySituation(isBonded: true) }
    private static var secured: SecuritySituation { new.after(encrypted, at: .initiator) }
    private static var waitingForMore: SecuritySituation {
        bonded.after(more, at: .responder) { $0.peripheral.state == .awaitsCentral }
    }
    private static var proven: SecuritySituation { bonded.after(encrypted, at: .initiator) }

    /// The situations of both sides, by name.
    private static func situations(_ role: PairingRole) -> [(name: String, machine: SecurityMachine)] {
        role == .initiator ? central : peripheral
    }

    private static var central: [(name: String, machine: SecurityMachine)] {
        [
            ("new", new.central),
            ("bonded", bonded.central),
            ("encrypting", bonded.after(encrypted, at: .initiator) { $0.central.state == .encrypting }.central),
            ("encrypting for more", bonded.after(more, at: .initiator) { $0.central.state == .encrypting }.central),
            ("wish is met", bonded.after(events[4].event, at: .initiator) { $0.central.state == .encrypting }.central),
            ("lost key", bonded.after(encrypted, at: .initiator) { $0.central.state == .encrypting }.central.lostKey),
            ("asking", new.after(encrypted, at: .initiator, until: isAsking(.initiator)).central),
            ("requesting", new.after(encrypted, at: .initiator, until: isRequesting).central),
            ("agreed", new.after(encrypted, at: .initiator, until: isAgreed(.initiator)).central),
            ("tentative", new.after(encrypted, at: .initiator, until: isTentative(.initiator)).central),
            ("storing", new.after(encrypted, at: .initiator, until: isStoring(.initiator)).central),
            ("secured", secured.central),
            ("secured for the link", SecuritySituation(keepsKeys: false).after(encrypted, at: .initiator).central),
            ("proven", proven.central),
            ("again", proven.after(pair, at: .initiator, until: isRequesting).central),
            ("tentative again", proven.after(pair, at: .initiator, until: isTentative(.initiator)).central),
            (
                "dead",
                new.after(encrypted, at: .initiator, until: isRequesting).after(.timeout, at: .initiator).central
            ),
            ("ended", secured.after(.linkLost, at: .initiator).central),
        ]
    }

    private static var peripheral: [(name: String, machine: SecurityMachine)] {
        [
            ("new", new.peripheral),
            ("bonded", bonded.peripheral),
            ("given", bonded.asked().peripheral),
            ("waiting", new.after(encrypted, at: .responder) { $0.peripheral.state == .awaitsCentral }.peripheral),
            (
                "waiting, given",
                bonded.after(encrypted, at: .responder) { $0.peripheral.state == .awaitsCentral }.asked().peripheral
            ),
            ("waiting for more, given", waitingForMore.asked().peripheral),
            ("asking", new.after(encrypted, at: .initiator, until: isAsking(.responder)).peripheral),
            ("impostor", bonded.after(events[3].event, at: .responder) { $0.asksPeripheral }.peripheral),
            ("impostor, given", bonded.after(events[3].event, at: .responder) { $0.asksPeripheral }.asked().peripheral),
            (
                "impostor for more, given",
                waitingForMore.after(events[3].event, at: .responder) { $0.asksPeripheral }.asked().peripheral
            ),
            ("agreed", new.after(encrypted, at: .initiator, until: isAgreed(.responder)).peripheral),
            ("tentative", new.after(encrypted, at: .initiator, until: isTentative(.responder)).peripheral),
            ("storing", new.after(encrypted, at: .initiator, until: isStoring(.responder)).peripheral),
            ("secured", secured.peripheral),
            ("secured for the link", SecuritySituation(keepsKeys: false).after(encrypted, at: .initiator).peripheral),
            ("tentative again", proven.after(pair, at: .initiator, until: isTentative(.responder)).peripheral),
            (
                "dead",
                new.after(encrypted, at: .initiator, until: isAsking(.responder)).after(.timeout, at: .responder)
                    .peripheral
            ),
            ("ended", secured.after(.linkLost, at: .responder).peripheral),
        ]
    }

    /// The rows of a table, by situation and event.
    private static func rows(_ table: String) -> [String: [String: String]] {
        var all: [String: [String: String]] = [:]
        var situations: [String] = []
        for line in table.split(separator: "\n") {
            guard let colon = line.firstIndex(of: "|") else {
                situations = line.split(separator: " / ").map(String.init)
                continue
            }
            let effect = line[line.index(after: colon)...].trimmingSpaces
            for name in line[..<colon].split(separator: ",").map(\.trimmingSpaces) {
                for situation in situations { all[situation, default: [:]][name] = effect }
            }
        }
        return all
    }

    @Test(
        "every event in every situation does what the table says and nothing else",
        arguments: [PairingRole.initiator, .responder]
    )
    func every_event_does_what_the_table_says(role: PairingRole) throws {
        let rows = Self.rows(role == .initiator ? SecurityTables.central : SecurityTables.peripheral)
        let situations = Self.situations(role)
        #expect(Set(rows.keys) == Set(situations.map(\.name)))
        for (situation, before) in situations {
            let expected = rows[situation] ?? [:]
            #expect(Set(expected.keys).isSubset(of: Self.events.map(\.name) + ["now"]))
            #expect(before.inWords == expected["now"], "\(situation)")
            for (name, event) in Self.events {
                var machine = before
                let actions = machine.handle(event).map(\.inWords).joined(separator: ", ")
                let isUntouched = actions.isEmpty && machine.inWords == before.inWords
                let found = isUntouched ? nil : (actions.isEmpty ? "" : actions + " ") + "-> \(machine.inWords)"
                #expect(found == expected[name], "\(situation), \(name)")
                // Waiters exist only if something is in progress.
                #expect(machine.state != .idle || machine.waiters.isEmpty, "\(situation), \(name)")
            }
        }
    }
}

extension SecurityMachine {
    /// The machine after the peer has reported that it lacks the key.
    fileprivate var lostKey: SecurityMachine {
        var machine = self
        _ = machine.handle(.encryption(.failed(.keyMissing)))
        return machine
    }
}

extension SecuritySituation {
    /// Whether the user at the peripheral is asked to replace the bond.
    fileprivate var asksPeripheral: Bool {
        if case .awaitsConsent = peripheral.pairing.state { true } else { false }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

extension SecurityMachineTests {
    /// After a timeout no pairing is possible on the link, whatever else this device lacks for one (Core Vol 3 Part H
    /// 3.4).
    @Test(arguments: [PairingRole.initiator, .responder])
    func requests_after_a_timeout_fail_with_it(role: PairingRole) {
        var machine = SecuritySituation().after(Self.encrypted, at: .initiator, until: Self.isAsking(role))[role]
        _ = machine.handle(.timeout)
        machine.pairing.configuration.ioCapability = .noInputNoOutput
        let error = SecurityError.pairing(.timedOut)
        let actions = machine.handle(.wanted(.init(number: 9, level: .authenticated)))
        #expect(actions == [.finish(9, error), .fail(error)])
    }

    /// If a pairing ends before its encryption starts, neither side has confirmed its key (AB-L06).
    @Test(
        "AB-L06: encryption that starts after its pairing has ended gives no level",
        arguments: [PairingRole.initiator, .responder]
    )
    func encryption_after_its_pairing_gives_no_level(role: PairingRole) throws {
        let agreed = SecuritySituation().after(Self.encrypted, at: .initiator, until: Self.isAgreed(role))[role]
        for end in ["request", "refusal", "rubbish", "timeout", "cancel", "no key"] {
            var machine = agreed
            _ = machine.handle(try #require(Self.events.first { $0.name == end }).event)
            #expect(!machine.pairing.isUnderWay, "\(end)")
            #expect(
                machine.handle(.encryption(.on)).isEmpty && machine.handle(.encryption(.refreshed)).isEmpty,
                "\(end)"
            )
            #expect(machine.encryption == nil && !machine.isTentative, "\(end)")
        }
    }

    /// A refused pairing is the central's answer to a security request: the waiting ends.
    @Test("refusing the requested pairing ends the wait for security")
    func refusing_the_pairing_ends_the_wait() {
        let waiting = SecuritySituation().after(Self.encrypted, at: .responder) {
            $0.peripheral.state == .awaitsCentral
        }
        var machine = waiting.peripheral
        machine.pairing.configuration.isPairable = false
        let error = SecurityError.pairing(.refused(.pairingNotSupported))
        let refusal = SecurityMachine.Action.send(.failed(PairingFailed(.pairingNotSupported)))
        let actions = machine.handle(.received(PairingRequest(Self.features).framed()))
        #expect(actions == [refusal, .stopTimer, .closePrompt, .finish(1, error), .fail(error)])
        #expect(machine.state == .idle)
        #expect(machine.waiters.isEmpty)
        #expect(!machine.pairing.isUnderWay)
    }

    /// A caller that wants a pairing does not settle for the bond's key, which other callers do.
    @Test(
        "a caller that wants a pairing keeps waiting when the bond's key is in use",
        arguments: [PairingRole.initiator, .responder]
    )
    func pairing_requests_outlast_encryption(role: PairingRole) {
        let isCentral = role == .initiator
        let begun = SecuritySituation(isBonded: true).after(Self.encrypted, at: role) {
            isCentral ? $0.central.state == .encrypting : $0.peripheral.state == .awaitsCentral
        }
        var machine = (isCentral ? begun : begun.asked())[role]
        #expect(machine.handle(Self.pair).isEmpty)
        #expect(machine.waiters.count == 2)
        let rest: [SecurityMachine.Action] = isCentral ? [.askPermission] : []
        #expect(machine.handle(.encryption(.on)) == [.encryptionChanged, .finish(1, nil)] + rest)
        #expect(machine.waiters == [.init(number: 2, level: nil)])
        #expect(machine.state == (isCentral ? .pairing : .awaitsCentral))
    }

    /// At most sixty-four callers wait.
    @Test(arguments: [PairingRole.initiator, .responder])
    func no_more_than_sixty_four_wait(role: PairingRole) {
        var machine = SecuritySituation()[role]
        for number in 1...64 {
            #expect(!machine.handle(.wanted(.init(number: number, level: .encrypted))).isTurnedAway)
        }
        #expect(machine.handle(.wanted(.init(number: 65, level: .encrypted))) == [.finish(65, .notAllowed)])
        #expect(machine.waiters.count == 64)
        #expect(SecurityMachine.maximumWaiters == 64)
        // Space is available again when they have gone.
        _ = machine.handle(.cancel)
        #expect(machine.waiters.isEmpty)
        #expect(!machine.handle(.wanted(.init(number: 66, level: .encrypted))).isTurnedAway)
    }
}

extension [SecurityMachine.Action] {
    fileprivate var isTurnedAway: Bool { contains { if case .finish = $0 { true } else { false } } }
}
