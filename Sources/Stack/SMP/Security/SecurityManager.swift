import BluetoothTypes
import Cryptography
import EventLoops
import L2CAP

/// The Security Manager of one link (Core Vol 3 Part H): the shell around the state machines.
///
/// It owns the channel and the timer. The controller, the user and the bond store are reached through the ``delegate``.
/// All methods and callbacks run on the event loop.
package final class SecurityManager {
    /// The length of the longest command, a public key, in octets (Core Vol 3 Part H 3.2). Commands shorter than that
    /// are used without LE Secure Connections too.
    package static let maximumPayload = 1 + SMPCommand.longest

    /// Performs what the manager cannot do itself. Without a delegate every pairing is refused.
    package weak var delegate: (any SecurityManagerDelegate)? {
        didSet { updatePairable() }
    }

    private let channel: any L2CAPChannel
    private let loop: any EventLoop
    private(set) var machine: SecurityMachine
    private var events: [SecurityMachine.Event] = []
    private var isHandling = false
    private var timer: ScheduledTask?
    private var completions: [Int: (Result<Void, SecurityError>) -> Void] = [:]
    private var lastNumber = 0
    /// The generation of the prompt. It is incremented when a prompt closes, so that late answers are ignored.
    private var prompt = 0

    /// Creates a security manager on `channel` and takes over its callbacks.
    ///
    /// - Parameters:
    ///   - role: The pairing role, which follows from the link: the central is the initiator.
    ///   - ownAddress: The address, private or not, that this device uses on this link. Pairing computes its check
    ///     values from it.
    ///   - peerAddress: The address, private or not, that the peer uses on this link.
    ///   - identity: The identity that the peer receives when it pairs; nil if there is none behind `ownAddress`.
    ///   - keys: Keys that are not stored, for this link alone. The keys of a bond come from the delegate.
    package init(
        channel: any L2CAPChannel,
        role: PairingRole,
        ownAddress: BluetoothAddress,
        peerAddress: BluetoothAddress,
        loop: any EventLoop,
        random: RandomSource,
        configuration: PairingConfiguration = PairingConfiguration(),
        identity: LocalIdentity? = nil,
        keys: PeerKeys? = nil
    ) {
        self.channel = channel
        self.loop = loop
        self.configuration = configuration
        var context = PairingMachine.Context(
            initiatorAddress: role == .initiator ? ownAddress : peerAddress,
            responderAddress: role == .initiator ? peerAddress : ownAddress,
            random: random
        )
        context.ownIdentity = identity.map { .init(key: $0.key, address: $0.address) }
        let pairing = PairingMachine(role: role, configuration: configuration, context: context)
        machine = SecurityMachine(pairing, linkKeys: keys)
        machine.bond = { [weak self] in self.flatMap { $0.delegate?.securityManagerKeys($0) } }
        updatePairable()
        channel.onReceive = { [weak self] payload, moment in self?.receive(payload, at: moment) }
    }

    /// The way this device pairs. A change does not affect a pairing in progress.
    package var configuration: PairingConfiguration {
        didSet { updatePairable() }
    }

    /// Whether the user has to agree to a pairing in which nothing is compared or entered.
    package var consent: PairingConsent {
        get { machine.pairing.context.consent }
        set { machine.pairing.context.consent = newValue }
    }

    package var outOfBand: OutOfBand {
        get { OutOfBand(peer: machine.pairing.context.peerData, own: machine.pairing.context.ownData) }
        set {
            machine.pairing.context.peerData = newValue.peer
            machine.pairing.context.ownData = newValue.own
        }
    }

    package var keys: PeerKeys? { machine.keys }

    /// The level of the key that encrypts the link; nil if it is not encrypted.
    package var encryption: KeyLevel? { machine.encryption }

    package var isPairing: Bool { machine.pairing.isUnderWay }

    package var role: PairingRole { machine.role }

    private func updatePairable() {
        machine.pairing.configuration = configuration
        machine.pairing.configuration.isPairable = configuration.isPairable && delegate != nil
    }
}

// MARK: - Requests by callers

extension SecurityManager {
    /// Makes sure that the link satisfies `level`.
    ///
    /// As central, this encrypts the link with the bond's key, and pairs if that key is missing or too weak. As
    /// peripheral, it asks the central to do so. Several callers can wait for the same procedure.
    ///
    /// - Parameter completion: Called once, when the link satisfies `level` or the attempt has failed.
    package func secure(
        _ level: SecurityLevel,
        completion: @escaping (Result<Void, SecurityError>) -> Void = { _ in }
    ) {
        handle(.wanted(waiter(level, completion)))
    }

    /// Pairs, whatever keys there are.
    ///
    /// As peripheral, this asks the central to pair. The central may merely encrypt the link; then `completion` is
    /// called only after ``PairingMachine/timeout``.
    package func pair(completion: @escaping (Result<Void, SecurityError>) -> Void = { _ in }) {
        handle(.wanted(waiter(nil, completion)))
    }

    /// Cancels a pairing or request in progress. Pending completions receive ``SecurityError/cancelled``.
    package func cancel() { handle(.cancel) }

    /// Ends the link because the bond with the peer was removed.
    ///
    /// From then on the current encryption, and any encryption or pairing in progress, guarantees nothing.
    package func forget() { handle(.forgotten) }

    private func waiter(
        _ level: SecurityLevel?,
        _ completion: @escaping (Result<Void, SecurityError>) -> Void
    ) -> SecurityMachine.Waiter {
        lastNumber &+= 1
        completions[lastNumber] = completion
        return SecurityMachine.Waiter(number: lastNumber, level: level)
    }
}

// MARK: - Results of actions

extension SecurityManager {
    /// Reports whether pairing is permitted now, in response to ``Action/askPermission``.
    package func permitted(_ isPermitted: Bool) { handle(.permitted(isPermitted)) }

    /// Reports whether the keys of a pairing were stored, or need not be, in response to
    /// ``Action/store(_:isBonding:)``.
    package func stored(_ isStored: Bool) { handle(.stored(isStored)) }
}

// MARK: - Signatures

extension SecurityManager {
    /// Signs `message` (Core Vol 3 Part H 2.4.5).
    ///
    /// - Returns: The signature in wire order, twelve octets; nil if the peer has no signing key of ours,
    ///   or the delegate could not store the new counter.
    package func sign(_ message: PacketBuffer) -> PacketBuffer? {
        guard var keys = machine.keys, let signature = keys.sign(message), keep(keys) else { return nil }
        return signature
    }

    /// Verifies that the peer signed `message` with its key, and that the signature is new.
    ///
    /// A signature is valid once, and only if the delegate stored its counter. Otherwise it could be replayed on
    /// another link.
    package func verify(_ message: PacketBuffer, signature: PacketBuffer) -> Bool {
        guard var keys = machine.keys, keys.verify(message, signature: signature) else { return false }
        return keep(keys)
    }

    private func keep(_ keys: PeerKeys) -> Bool {
        guard machine.linkKeys == nil else {
            machine.linkKeys = keys
            return true
        }
        guard let delegate else { return false }
        do { try delegate.securityManager(self, keep: keys) } catch { return false }
        return true
    }
}

// MARK: - Events from the controller

extension SecurityManager {
    /// Returns, as peripheral, the key that matches the values sent by the central; nil if there is none, which the
    /// controller has to be told.
    package func longTermKey(random: UInt64, diversifier: UInt16) -> Key128? {
        machine.longTermKey(random: random, diversifier: diversifier)
    }

    package func encryptionChanged(_ report: EncryptionChangeReport) {
        handle(.encryption(report))
    }

    /// Handles the loss of the link. Pending completions receive ``SecurityError/linkLost``.
    package func linkLost() { handle(.linkLost) }
}

// MARK: - Events and actions

extension SecurityManager {
    /// Ignores commands that began to arrive before the last change of encryption.
    ///
    /// No phase of pairing sends a command across such a change (Core Vol 3 Part H 2.1), and keys are accepted on an
    /// encrypted link only (AB-S11).
    private func receive(_ payload: PacketBuffer, at moment: LinkMoment) {
        guard channel.history.isEncryptionUnchanged(since: moment) else { return }
        handle(.received(payload))
    }

    /// Handles events in order: what a delegate triggers in a callback is handled after the current event.
    private func handle(_ event: SecurityMachine.Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while !events.isEmpty {
            let next = events.removeFirst()
            for action in machine.handle(next) { perform(action) }
        }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    private var brokenInvariant: String? {
        guard completions.count == machine.waiters.count(where: { $0.number != nil }) else {
            return "\(completions.count) callers wait, of whom the machine has \(machine.waiters.count)"
        }
        guard timer == nil || machine.pairing.isUnderWay || machine.state == .awaitsCentral else {
            return "a timer runs although nothing is in progress"
        }
        return machine.state != .awaitsCentral || timer != nil ? nil : "nothing limits the time of a Security Request"
    }

    private func perform(_ action: SecurityMachine.Action) {
        switch action {
        case .send(let command): channel.send(command.framed())
        case .startTimer: startTimer()
        case .stopTimer: if let timer = timer.take() { loop.cancel(timer) }
        case .finish(let number, let error):
            completions.removeValue(forKey: number)?(error.map(Result.failure) ?? .success(()))
        case .askPermission: order(.askPermission, else: .permitted(false))
        // Without a delegate to ask the user, the answer is no.
        case .ask(let prompt): order(.ask(prompt, answer: answer()), else: .answered(.refuse))
        case .closePrompt: closePrompt()
        case .peerPressedKey(let kind): order(.peerPressedKey(kind))
        case .usedOwnData: order(.usedOutOfBand)
        case .encrypt(let key): order(.encrypt(key))
        case .store(let keys, let isBonding): order(.store(keys, isBonding: isBonding), else: .stored(false))
        case .encryptionChanged: order(.encryptionChanged)
        case .fail(let error): order(.fail(error))
        case .endLink: order(.endLink)
        }
    }

    /// Passes an action to the delegate. Without one, `answer` is handled instead.
    private func order(_ action: Action, else answer: SecurityMachine.Event? = nil) {
        if let delegate { return delegate.securityManager(self, perform: action) }
        if let answer { handle(answer) }
    }

    private func closePrompt() {
        prompt &+= 1
        order(.closePrompt)
    }

    /// Returns the answer handler for the next prompt, which is valid until that prompt closes.
    private func answer() -> (PairingAnswer) -> Void {
        { [weak self, prompt] answer in
            guard let self, self.prompt == prompt else { return }
            handle(.answered(answer))
        }
    }

    private func startTimer() {
        if let timer = timer.take() { loop.cancel(timer) }
        timer = loop.schedule(after: PairingMachine.timeout) { [weak self] in
            self?.timer = nil
            self?.handle(.timeout)
        }
    }
}
