import BluetoothTypes
import Cryptography
import EventLoops

@testable import SMP

/// Two pairing machines connected by a wire, with a user at each, run until no events are left.
struct PairingBench {
    /// One side: its machine, its user's behaviour, and the outcome.
    struct Side {
        var machine: PairingMachine
        var person: Person
        var prompts: [PairingPrompt] = []
        var result: PairingResult?
        var error: PairingError?
        var key: Key128?
        var sent: [SMPCommand] = []
        /// The codes of the received commands.
        var received: [UInt8] = []
        var isPromptOpen = false
        var isTimerRunning = false
        var securityRequests = 0
        var isPermitted = true
        /// The actions for each event, and whether the pairing continued after it.
        var turns: [(actions: [PairingMachine.Action], isUnderWay: Bool)] = []
    }

    /// The user's reaction to a prompt.
    struct Person {
        var accepts = true
        /// The digits to enter; nil for those that the other side displays, or 111111 if neither does.
        var entered: UInt32?
    }

    static let central = BluetoothAddress(0xC0FF_EE00_0001, kind: .randomDevice)
    static let peripheral = BluetoothAddress(0x0012_3456_789A, kind: .publicDevice)

    var initiator: Side
    var responder: Side
    /// Changes or drops commands in transit.
    var tamper: (PairingRole, SMPCommand) -> [[UInt8]] = { [$1.framed().bytes] }
    /// The number of times encryption was requested.
    private(set) var encryptions = 0
    private var wire: [(to: PairingRole, octets: [UInt8])] = []
    private var asked: [(of: PairingRole, prompt: PairingPrompt)] = []

    init(
        initiator: PairingConfiguration = PairingConfiguration(),
        responder: PairingConfiguration = PairingConfiguration(),
        initiatorPerson: Person = Person(),
        responderPerson: Person = Person(),
        seed: UInt64 = 1,
        change: (PairingRole, inout PairingMachine.Context) -> Void = { _, _ in }
    ) {
        func side(_ role: PairingRole, _ configuration: PairingConfiguration, _ person: Person) -> Side {
            let isInitiator = role == .initiator
            var context = PairingMachine.Context(
                initiatorAddress: Self.central,
                responderAddress: Self.peripheral,
                random: RandomSource(seed: seed).split(isInitiator ? 1 : 2)
            )
            let identityKey = Key128(Block128(high: isInitiator ? 1 : 2, low: 0))
            context.ownIdentity = .init(key: identityKey, address: isInitiator ? Self.central : Self.peripheral)
            change(role, &context)
            return Side(
                machine: PairingMachine(role: role, configuration: configuration, context: context),
                person: person
            )
        }
        self.initiator = side(.initiator, initiator, initiatorPerson)
        self.responder = side(.responder, responder, responderPerson)
    }

    subscript(role: PairingRole) -> Side {
        get { role == .initiator ? initiator : responder }
        set { if role == .initiator { initiator = newValue } else { responder = newValue } }
    }

    /// Pairs until both are finished or would wait for ever.
    mutating func pair() {
        handle(.start(PairingDemand()), at: .initiator)
        run()
    }

    mutating func handle(_ event: PairingMachine.Event, at role: PairingRole) {
        let actions = self[role].machine.handle(event)
        self[role].turns.append((actions, self[role].machine.isUnderWay))
        for action in actions { perform(action, at: role) }
    }

    mutating func run() {
        for _ in 0..<1_000 where !step() { return }
    }

    /// Processes one event; returns false if there is none.
    mutating func step() -> Bool {
        // Wire first: a user is slower than the link.
        if !wire.isEmpty {
            let next = wire.removeFirst()
            receive(next.octets, at: next.to)
        } else if !asked.isEmpty {
            let next = asked.removeFirst()
            guard let answer = answer(to: next.prompt, by: next.of) else { return true }
            handle(.answered(answer), at: next.of)
        } else {
            return encrypt()
        }
        return true
    }

    /// Delivers a command to one side, before everything in transit.
    mutating func receive(_ octets: [UInt8], at role: PairingRole) {
        self[role].received.append(octets.first ?? 0)
        handle(.received(PacketBuffer(octets)), at: role)
    }

    mutating func inject(_ octets: [UInt8], to role: PairingRole) {
        wire.append((role, octets))
        run()
    }

    private mutating func perform(_ action: PairingMachine.Action, at role: PairingRole) {
        switch action {
        case .send(let command):
            self[role].sent.append(command)
            wire += tamper(role, command).map { (role.other, $0) }
        case .askPermission: handle(.permitted(self[role].isPermitted), at: role)
        case .ask(let prompt):
            self[role].prompts.append(prompt)
            self[role].isPromptOpen = true
            asked.append((role, prompt))
        case .closePrompt: self[role].isPromptOpen = false
        case .encrypt(let key): self[role].key = key
        case .startTimer: self[role].isTimerRunning = true
        case .stopTimer: self[role].isTimerRunning = false
        case .completed(let result): self[role].result = result
        case .failed(let error): self[role].error = error
        case .securityRequested: self[role].securityRequests += 1
        case .peerPressedKey, .failedByPeer, .usedOwnData: break
        }
    }

    private func answer(to prompt: PairingPrompt, by role: PairingRole) -> PairingAnswer? {
        let person = self[role].person
        switch prompt {
        case .confirmPairing, .confirmReplacement, .compare: return person.accepts ? .accept : .refuse
        case .showPasskey: return nil
        case .enterPasskey, .enterPasskeyOnBoth:
            guard person.accepts else { return .refuse }
            for case .showPasskey(let passkey) in self[role.other].prompts.reversed() {
                return .passkey(person.entered ?? passkey)
            }
            return .passkey(person.entered ?? 111_111)
        }
    }

    /// Encrypts the link if both ends have the same key.
    private mutating func encrypt() -> Bool {
        guard let key = initiator.key else { return false }
        let isEncrypted = responder.key == key
        initiator.key = nil
        responder.key = nil
        encryptions += 1
        handle(.encrypted(isEncrypted), at: .initiator)
        handle(.encrypted(isEncrypted), at: .responder)
        return true
    }
}
