import BluetoothTypes
import Testing

@testable import SMP

/// CVE-2020-10134: a man in the middle uses numeric comparison with one device and passkey entry with the other, and
/// makes the number of the one the passkey of the other. Two links, four security managers; the attacker owns the two
/// in the middle, which pair as well as they can.
@Suite struct MethodConfusionTests {
    /// The behaviour of the user with both devices. The prompts say what the other device has to display.
    enum Person {
        /// Compares only if both devices display a number to compare, and enters only passkeys displayed as such.
        case readsPrompts
        /// Treats any six digits as interchangeable, and agrees.
        case takesNumbersForNumbers
    }

    /// The attack on a device that compares and a device that enters or displays a passkey.
    final class Attack {
        /// The link to the comparing device, and the one to the other device.
        let comparing: PairedManagers
        let entering: PairedManagers
        let role: PairingRole
        private(set) var number: UInt32?

        /// - Parameters:
        /// - role: The role of the comparing device; the other device has the other role.
        /// - other: The IO capability of the other device.
        init(_ role: PairingRole, other: IOCapability, seed: UInt64) {
            let configuration = LegacyPairingTests.configuration
            self.role = role
            comparing = PairedManagers(
                central: configuration(.displayYesNo, true),
                peripheral: configuration(.displayYesNo, true),
                seed: seed
            )
            let (victim, attacker) = (configuration(other, true), configuration(.keyboardOnly, true))
            entering = PairedManagers(
                central: role == .initiator ? attacker : victim,
                peripheral: role == .initiator ? victim : attacker,
                seed: seed &+ 1_000
            )
            comparer.delay = nil
            enterer.delay = nil
            // The attacker's own users answer as the attack requires.
            for side in [comparing[role.other], entering[role]] { side.delay = .milliseconds(1) }
        }

        var comparer: SecuritySide { comparing[role] }
        var enterer: SecuritySide { entering[role.other] }

        /// Pairs with both, and enters the number of one as the passkey of the other.
        func run() {
            comparing.central.manager.pair()
            comparing.run()
            guard case .compare(let number)? = comparing[role.other].prompts.last else { return }
            self.number = number
            entering[role].person.entered = number
            entering.central.manager.pair()
            entering.run()
        }

        /// The user's reaction to the two devices.
        func answer(_ person: Person) {
            guard let first = comparer.prompts.last, let second = enterer.prompts.last else { return }
            let isSame = first == second
            let answers: (PairingAnswer, PairingAnswer?)
            switch (person, second) {
            case (.readsPrompts, .showPasskey): answers = (.refuse, nil)
            case (.readsPrompts, _): answers = (isSame ? .accept : .refuse, isSame ? .accept : .refuse)
            case (.takesNumbersForNumbers, .showPasskey): answers = (.accept, nil)
            case (.takesNumbersForNumbers, _): answers = (.accept, number.map(PairingAnswer.passkey))
            }
            comparer.answer?(answers.0)
            if let second = answers.1 { enterer.answer?(second) }
            comparing.run()
            entering.run()
        }
    }

    private static func isPaired(_ side: SecuritySide) -> Bool {
        side.stored.contains { $0.keys.level.isAuthenticated } || side.manager.encryption != nil
    }

    /// The defence is the prompts: the devices name different actions, so a user who follows them never compares with a
    /// device that is not comparing.
    @Test(
        "AB-S08: a user who follows the prompts pairs neither device with a man in the middle",
        arguments: [PairingRole.initiator, .responder],
        [IOCapability.keyboardOnly, .displayOnly]
    )
    func a_person_who_reads_pairs_nobody_in_the_middle(role: PairingRole, other: IOCapability) throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            let attack = Attack(role, other: other, seed: seed)
            attack.run()
            let number = try #require(attack.number)
            #expect(attack.comparer.prompts == [.compare(number)])
            // The number is never a passkey, and the other device never offers a comparison.
            let kind = attack.enterer.prompts.map(PairingTests.kind)
            #expect(kind == [other == .keyboardOnly ? "enter on both" : "show"])
            #expect(!attack.enterer.prompts.contains(.showPasskey(number)))
            attack.answer(.readsPrompts)
            #expect(!Self.isPaired(attack.comparer) && !Self.isPaired(attack.enterer), "seed \(seed)")
            #expect(attack.comparer.failures == [.refusedByPerson])
            #expect(attack.enterer.failures.count == 1)
        }
    }

    /// If the other device displays a passkey, the attacker has to guess it, whatever the user answers on the first.
    @Test(
        "AB-S08: the number of one device is of no use with another that displays a passkey",
        arguments: [PairingRole.initiator, .responder]
    )
    func a_number_does_not_open_a_device_with_a_passkey(role: PairingRole) {
        for seed in 1...50 as ClosedRange<UInt64> {
            let attack = Attack(role, other: .displayOnly, seed: seed)
            attack.run()
            attack.answer(.takesNumbersForNumbers)
            #expect(!Self.isPaired(attack.enterer), "seed \(seed)")
        }
    }

    /// The remaining weakness lies in the protocol: comparison numbers and passkeys both have six digits, and neither
    /// check covers the other side's method. A user who enters the number of one device into another is deceived.
    @Test(
        "AB-S08: the attack only succeeds with a user who enters a comparison number as a passkey",
        arguments: [PairingRole.initiator, .responder]
    )
    func only_entered_numbers_are_confused(role: PairingRole) {
        let attack = Attack(role, other: .keyboardOnly, seed: 1)
        attack.run()
        attack.answer(.takesNumbersForNumbers)
        #expect(Self.isPaired(attack.comparer))
        #expect(Self.isPaired(attack.enterer))
        #expect(attack.comparer.stored.first?.keys.peerKey != attack.enterer.stored.first?.keys.peerKey)
    }

    /// A device never accepts the answer to one prompt as the answer to another.
    @Test(
        "AB-S08: a comparison number and a passkey are never mistaken for each other",
        arguments: [PairingRole.initiator, .responder]
    )
    func a_number_and_a_passkey_are_not_confused(role: PairingRole) throws {
        let attack = Attack(role, other: .keyboardOnly, seed: 1)
        attack.run()
        let number = try #require(attack.number)
        let (compare, enter) = (try #require(attack.comparer.answer), try #require(attack.enterer.answer))
        // Digits are not consent, and consent is not digits.
        compare(.passkey(number))
        enter(.accept)
        attack.comparing.run()
        attack.entering.run()
        #expect(attack.comparer.isPromptOpen)
        #expect(attack.enterer.isPromptOpen)
        #expect(!Self.isPaired(attack.comparer))
        #expect(!Self.isPaired(attack.enterer))
        compare(.accept)
        enter(.passkey(number ^ 1))
        attack.comparing.run()
        attack.entering.run()
        #expect(Self.isPaired(attack.comparer))
        #expect(!Self.isPaired(attack.enterer))
    }
}
