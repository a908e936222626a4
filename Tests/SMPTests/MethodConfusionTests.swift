import BluetoothTypes
import Cryptography
import Testing

@testable import SMP

/// CVE-2020-10134: somebody in the middle compares a number with one device and enters a passkey with the other, and makes
/// the number of the one the passkey of the other. Two links, four security managers; the two in the middle are the
/// attacker's, and pair as well as they can.
@Suite struct MethodConfusionTests {
    /// What the person with both devices does. The prompts say what the other device has to show.
    enum Person {
        /// Compares only where both show a number to compare, and enters only what is shown to be entered.
        case readsPrompts
        /// Takes any six digits for any others, and says yes.
        case takesNumbersForNumbers
    }

    /// The attack on one device that compares and one that enters, or shows, a passkey.
    final class Attack {
        /// The link to the device that compares, and the one to the other.
        let comparing: SecurityBench
        let entering: SecurityBench
        let role: PairingRole
        private(set) var number: UInt32?

        /// - Parameters:
        ///   - role: what the device that compares is: the other device is the other one.
        ///   - other: what the other device has.
        init(_ role: PairingRole, other: IOCapability, seed: UInt64) {
            let configuration = LegacyPairingTests.configuration
            self.role = role
            comparing = SecurityBench(
                central: configuration(.displayYesNo, true),
                peripheral: configuration(.displayYesNo, true),
                seed: seed
            )
            let (victim, attacker) = (configuration(other, true), configuration(.keyboardOnly, true))
            entering = SecurityBench(
                central: role == .initiator ? attacker : victim,
                peripheral: role == .initiator ? victim : attacker,
                seed: seed &+ 1_000
            )
            comparer.delay = nil
            enterer.delay = nil
            // Their own persons say what the attack needs.
            for side in [comparing[role.other], entering[role]] { side.delay = .milliseconds(1) }
        }

        /// The devices of the person.
        var comparer: SecuritySide { comparing[role] }
        var enterer: SecuritySide { entering[role.other] }

        /// Pairs with both, the number of the one entered as the passkey of the other.
        func run() {
            comparing.central.manager.pair()
            comparing.run()
            guard case .compare(let number)? = comparing[role.other].prompts.last else { return }
            self.number = number
            entering[role].person.entered = number
            entering.central.manager.pair()
            entering.run()
        }

        /// What the person does with what the two devices say.
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

    /// The defence is what the person is asked: the devices name different things, so that nobody who does what they say
    /// compares with a device that does not compare.
    @Test(
        "AB-S08: a person who reads the prompts pairs neither device with somebody in the middle",
        arguments: [PairingRole.initiator, .responder],
        [IOCapability.keyboardOnly, .displayOnly]
    )
    func a_person_who_reads_pairs_nobody_in_the_middle(role: PairingRole, other: IOCapability) throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            let attack = Attack(role, other: other, seed: seed)
            attack.run()
            let number = try #require(attack.number)
            #expect(attack.comparer.prompts == [.compare(number)])
            // The number is nowhere a passkey, and the other device never asks whether numbers are the same.
            let kind = attack.enterer.prompts.map(PairingTests.kind)
            #expect(kind == [other == .keyboardOnly ? "enter" : "show"])
            #expect(!attack.enterer.prompts.contains(.showPasskey(number)))
            attack.answer(.readsPrompts)
            #expect(!Self.isPaired(attack.comparer) && !Self.isPaired(attack.enterer), "seed \(seed)")
            #expect(attack.comparer.failures == [.refusedByPerson])
            #expect(attack.enterer.failures.count == 1)
        }
    }

    /// Where the other device shows a passkey the attacker has to guess it, whatever the person says to the first.
    @Test(
        "AB-S08: the number of one device does not open another that shows a passkey",
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

    /// What remains, and lies in the protocol: numbers to compare and passkeys are both six digits, and neither check knows
    /// the method of the other side. Who enters the number of one device into another is deceived.
    @Test(
        "AB-S08: what remains is a person who enters a number that was to be compared",
        arguments: [PairingRole.initiator, .responder]
    )
    func what_remains_is_a_number_that_is_entered(role: PairingRole) {
        let attack = Attack(role, other: .keyboardOnly, seed: 1)
        attack.run()
        attack.answer(.takesNumbersForNumbers)
        #expect(Self.isPaired(attack.comparer) && Self.isPaired(attack.enterer))
        #expect(attack.comparer.stored.first?.keys.peerKey != attack.enterer.stored.first?.keys.peerKey)
    }

    /// A device never takes the answer to one question for that to another.
    @Test(
        "AB-S08: a number to compare and a passkey are never taken for each other",
        arguments: [PairingRole.initiator, .responder]
    )
    func a_number_and_a_passkey_are_not_confused(role: PairingRole) throws {
        let attack = Attack(role, other: .keyboardOnly, seed: 1)
        attack.run()
        let number = try #require(attack.number)
        let (compare, enter) = (try #require(attack.comparer.answer), try #require(attack.enterer.answer))
        // Digits are not a yes, and a yes is no digits.
        compare(.passkey(number))
        enter(.accept)
        attack.comparing.run()
        attack.entering.run()
        #expect(attack.comparer.isPromptOpen && attack.enterer.isPromptOpen)
        #expect(!Self.isPaired(attack.comparer) && !Self.isPaired(attack.enterer))
        compare(.accept)
        enter(.passkey(number ^ 1))
        attack.comparing.run()
        attack.entering.run()
        #expect(Self.isPaired(attack.comparer) && !Self.isPaired(attack.enterer))
    }
}
