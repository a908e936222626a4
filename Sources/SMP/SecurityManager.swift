import BluetoothTypes
import Cryptography
import EventLoops
import L2CAP

/// The Security Manager of one link (Core Vol 3 Part H): the shell around the machines. It has the channel and the timer;
/// the controller, persons and the store of bonds are its delegate's.
package final class SecurityManager {
    /// Octets of the longest command: a public key (Core Vol 3 Part H 3.2). Shorter ones go over links without LE Secure
    /// Connections too.
    package static let maximumPayload = 1 + SMPCommand.longest

    /// Who performs what the manager cannot. Without one pairing is refused.
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
    /// Counts prompts that are over, so that an answer to one of them is known.
    private var prompt = 0
    /// When the encryption of the link last changed; nil before it did.
    private var encryptionMoment: LinkMoment?

    /// A security manager on `channel`, whose callbacks it takes over.
    ///
    /// - Parameters:
    ///   - role: what the link makes of this device: the central is the initiator.
    ///   - ownAddress: the address that this device has on the air on this link, private or not: it enters the values
    ///     that pairing compares.
    ///   - peerAddress: the peer's address on the air, likewise.
    ///   - identity: what the peer learns when it pairs; nil when there is nothing behind the address.
    ///   - keys: keys that nobody keeps, for this link alone. Those of a bond are the delegate's.
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

    /// How this device pairs. What is under way is not changed.
    package var configuration: PairingConfiguration {
        didSet { updatePairable() }
    }

    /// Who agrees to a pairing in which nothing is compared or entered.
    package var consent: PairingConsent {
        get { machine.pairing.context.consent }
        set { machine.pairing.context.consent = newValue }
    }

    /// What has come another way than over the link.
    package var outOfBand: OutOfBand {
        get { OutOfBand(peer: machine.pairing.context.peerData, own: machine.pairing.context.ownData) }
        set {
            machine.pairing.context.peerData = newValue.peer
            machine.pairing.context.ownData = newValue.own
        }
    }

    /// The keys that the two have, kept or for this link alone.
    package var keys: PeerKeys? { machine.keys }

    /// What the key is worth that the link is encrypted with; nil when it is not.
    package var encryption: KeyLevel? { machine.encryption }

    /// Whether a pairing is under way.
    package var isPairing: Bool { machine.pairing.isUnderWay }

    /// Which side of a pairing this device is.
    package var role: PairingRole { machine.role }

    private func updatePairable() {
        machine.pairing.configuration = configuration
        machine.pairing.configuration.isPairable = configuration.isPairable && delegate != nil
    }
}

// MARK: - What callers want

extension SecurityManager {
    /// Makes the link as secure as `level` says, if it is not.
    ///
    /// As central it is encrypted with the key of the bond, and paired if that key is not good enough or there is none. As
    /// peripheral the central is asked to. Several callers wait for the same procedure.
    package func secure(
        _ level: SecurityLevel,
        completion: @escaping (Result<Void, SecurityError>) -> Void = { _ in }
    ) {
        handle(.wanted(waiter(level, completion)))
    }

    /// Pairs, whatever keys there are. As peripheral the central is asked to, which may do no more than encrypt: then the
    /// caller waits until ``PairingMachine/timeout`` has passed.
    package func pair(completion: @escaping (Result<Void, SecurityError>) -> Void = { _ in }) {
        handle(.wanted(waiter(nil, completion)))
    }

    /// Ends a pairing that is under way. Who waits is told.
    package func cancel() { handle(.cancel) }

    /// The bond with the peer was removed. Whatever the link is encrypted with, on its way there, or pairs for, is not worth
    /// anything any more, and the link ends.
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

// MARK: - What comes of actions

extension SecurityManager {
    /// Whether the two may pair now: the answer to ``Action/askPermission``.
    package func permitted(_ isPermitted: Bool) { handle(.permitted(isPermitted)) }

    /// Whether the keys of a pairing are kept, or need not be: the answer to ``Action/store(_:isBonding:)``.
    package func stored(_ isStored: Bool) { handle(.stored(isStored)) }
}

// MARK: - Signatures

extension SecurityManager {
    /// Octets of a signature.
    package static let signatureLength = Signature.length

    /// The signature under `message`, of ``signatureLength`` octets as on the air (Core Vol 3 Part H 2.4.5); nil when the
    /// peer has no key of ours, or the number that it takes could not be kept.
    package func sign(_ message: PacketBuffer) -> PacketBuffer? {
        guard var keys = machine.keys, let signature = keys.sign(message), keep(keys) else { return nil }
        return signature
    }

    /// Whether the peer has signed `message`: with its key, and for the first time. A signature counts once, and only when it
    /// is kept that it was there: otherwise it would count again on another link.
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

// MARK: - What the controller says

extension SecurityManager {
    /// As peripheral: the key for what the central has shown; nil when there is none, and the controller is to be told so.
    package func longTermKey(random: UInt64, diversifier: UInt16) -> Key128? {
        machine.longTermKey(random: random, diversifier: diversifier)
    }

    /// Encryption is another one, or could not be had.
    package func encryptionChanged(_ report: EncryptionChangeReport) {
        if case .failed = report {} else { encryptionMoment = channel.moment }
        handle(.encryption(report))
    }

    /// The link is gone. Who waits is told.
    package func linkLost() { handle(.linkLost) }
}

// MARK: - Events and actions

extension SecurityManager {
    /// A command that was begun under another encryption than it is finished under is nobody's: no phase of pairing sends
    /// one across the change (Core Vol 3 Part H 2.1), and keys are taken from an encrypted link only (AB-S11).
    private func receive(_ payload: PacketBuffer, at moment: LinkMoment) {
        if let encryptionMoment, moment <= encryptionMoment { return }
        handle(.received(payload))
    }

    /// One event after another: what a delegate does in a callback comes after what it was called for.
    private func handle(_ event: SecurityMachine.Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while !events.isEmpty {
            let next = events.removeFirst()
            for action in machine.handle(next) { perform(action) }
        }
    }

    private func perform(_ action: SecurityMachine.Action) {
        switch action {
        case .send(let command): channel.send(command.framed())
        case .startTimer: startTimer()
        case .stopTimer: stopTimer()
        case .finish(let number, let error):
            completions.removeValue(forKey: number)?(error.map(Result.failure) ?? .success(()))
        case .askPermission: order(.askPermission, else: .permitted(false))
        // Nobody to ask is a no.
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

    /// Has the delegate do something. Without one that is the answer.
    private func order(_ action: Action, else answer: SecurityMachine.Event? = nil) {
        if let delegate { return delegate.securityManager(self, perform: action) }
        if let answer { handle(answer) }
    }

    private func closePrompt() {
        prompt &+= 1
        order(.closePrompt)
    }

    /// Takes the answers to the next prompt, as long as it is open.
    private func answer() -> (PairingAnswer) -> Void {
        { [weak self, prompt] answer in
            guard let self, self.prompt == prompt else { return }
            handle(.answered(answer))
        }
    }

    private func startTimer() {
        stopTimer()
        timer = loop.schedule(after: PairingMachine.timeout) { [weak self] in self?.handle(.timeout) }
    }

    private func stopTimer() {
        if let timer { loop.cancel(timer) }
    }
}
