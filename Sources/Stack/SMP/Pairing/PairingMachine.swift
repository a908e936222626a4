import BluetoothTypes
import Cryptography
import EventLoops

/// The state machine for pairing on one link, in the role that the link determines (Core Vol 3 Part H 2.3, 2.4, 3.5,
/// 3.6).
///
/// Events go in and actions come out: the owner sends, prompts, encrypts and keeps time. Each state accepts only the
/// commands of its exchange; any other command ends the pairing (AB-S05).
struct PairingMachine {
    /// How long a pairing waits for the peer (3.4).
    static let timeout = Duration.seconds(30)
    /// The maximum number of keypress notifications that restart the time-out in one pairing: more than a user needs
    /// for six digits.
    static let maximumKeypresses = 60

    enum Event {
        /// Start a pairing that satisfies the demand, as central.
        case start(PairingDemand)
        /// Whether the devices may pair now, in response to ``Action/askPermission``.
        case permitted(Bool)
        case received(PacketBuffer)
        case answered(PairingAnswer)
        /// Whether the link was encrypted with the agreed key.
        case encrypted(Bool)
        case timeout
        case linkLost
        /// The owner cancels the pairing and tells the peer the reason.
        case cancel(PairingFailure)
        /// The owner discards the pairing without reporting it to the peer or the callers.
        case drop
    }

    enum Action: Equatable {
        case send(SMPCommand)
        /// Ask whether the devices may pair now, considering failed attempts (2.3.6).
        case askPermission
        case ask(PairingPrompt)
        case closePrompt
        /// Encrypt the link with this key, as central. As peripheral, return it when the controller requests a key.
        case encrypt(Key128)
        case startTimer
        case stopTimer
        /// The peripheral requests security: encrypt with the existing key, or pair.
        case securityRequested(AuthenticationRequirements)
        /// The peer sent Pairing Failed outside of a pairing, possibly in response to a Security Request.
        case failedByPeer(PairingFailure)
        case peerPressedKey(KeypressNotification.Kind)
        /// This device's out-of-band data is used up: the peer claims to have it, and is about to receive the matching
        /// public key.
        case usedOwnData
        case completed(PairingResult)
        case failed(PairingError)
    }

    enum State {
        case idle
        /// The owner decides whether the devices may pair now. As responder this has the request.
        case awaitsPermission(PairingFeatures?)
        /// The request was sent, as initiator.
        case awaitsResponse(PairingFeatures)
        /// The user decides whether to pair at all.
        case awaitsConsent(PairingNegotiation)
        case exchanging(PairingNegotiation, any Exchange)
        /// Both devices have the key, which encryption will prove.
        case encrypting(PairingNegotiation, Key128)
        case distributing(PairingResult, KeyDistribution)
        /// A time-out has ended pairing on this link for good (3.4).
        case dead
    }

    let role: PairingRole
    var configuration: PairingConfiguration
    /// The minimum result of the next pairing. As responder it states the requested protection and the level of the
    /// existing bond.
    var demand = PairingDemand()
    /// Whether the peer has proved that it has the bond's keys, or there is no bond.
    var isProven = true
    var context: Context
    private(set) var state = State.idle
    /// The number of keypress notifications that may still restart the time-out.
    private var keypresses = PairingMachine.maximumKeypresses

    /// The environment of a pairing.
    struct Context {
        var initiatorAddress: BluetoothAddress
        var responderAddress: BluetoothAddress
        var random: RandomSource
        /// The identity that is distributed to the peer, if it accepts it.
        var ownIdentity: DistributedKeys.Identity?
        var peerData: OutOfBandData?
        var ownData: OwnOutOfBandData?
        /// The consent needed before a pairing in which no number is compared or entered.
        var consent = PairingConsent.asked
    }

    init(role: PairingRole, configuration: PairingConfiguration, context: Context) {
        self.role = role
        self.configuration = configuration
        self.context = context
    }

    var isUnderWay: Bool {
        switch state {
        case .idle, .dead: false
        default: true
        }
    }

    var isDead: Bool {
        if case .dead = state { true } else { false }
    }

    /// The key that the link is about to be encrypted with; nil in any other state.
    var agreedKey: Key128? {
        if case .encrypting(_, let key) = state { key } else { nil }
    }

    var agreedLevel: KeyLevel? {
        if case .encrypting(let negotiation, _) = state { negotiation.level } else { nil }
    }

    mutating func handle(_ event: Event) -> [Action] {
        if case .dead = state {
            if case .start = event { return [.failed(.timedOut)] }
            return []
        }
        var actions = react(to: event)
        // Each command that is sent restarts the time-out (3.4).
        let hasSent = actions.contains { if case .send = $0 { true } else { false } }
        if hasSent, isUnderWay, !actions.contains(.startTimer) { actions.append(.startTimer) }
        return actions
    }

    private mutating func react(to event: Event) -> [Action] {
        switch event {
        case .start(let demand): return start(demand)
        case .permitted(let isPermitted): return permitted(isPermitted)
        case .received(let payload): return receive(payload)
        case .answered(let answer): return handle(answer)
        case .encrypted(let isEncrypted): return encrypted(isEncrypted)
        case .timeout:
            guard isUnderWay else { return [] }
            state = .dead
            return [.closePrompt, .failed(.timedOut)]
        case .linkLost: return isUnderWay ? end(.linkLost) : []
        case .cancel(let reason): return isUnderWay ? refuse(reason) : []
        case .drop:
            guard isUnderWay else { return [] }
            state = .idle
            return [.stopTimer, .closePrompt]
        }
    }

    // MARK: Start

    private mutating func start(_ demand: PairingDemand) -> [Action] {
        guard case .idle = state, role == .initiator else { return [] }
        guard configuration.isPairable else { return [.failed(.refused(.pairingNotSupported))] }
        self.demand = demand
        state = .awaitsPermission(nil)
        return [.askPermission]
    }

    private mutating func permitted(_ isPermitted: Bool) -> [Action] {
        guard case .awaitsPermission(let request) = state else { return [] }
        keypresses = Self.maximumKeypresses
        if let request { return isPermitted ? respond(to: request) : refuse(.repeatedAttempts) }
        guard isPermitted else {
            state = .idle
            return [.failed(.refused(.repeatedAttempts))]
        }
        let features = ownFeatures
        state = .awaitsResponse(features)
        return [.send(.pairingRequest(PairingRequest(features)))]
    }

    private var ownFeatures: PairingFeatures {
        var features = PairingFeatures()
        features.ioCapability = configuration.ioCapability
        features.outOfBandFlag = context.peerData == nil ? 0 : 1
        features.requirements = configuration.requirements(demand)
        features.maximumKeySize = UInt8(clamping: configuration.maximumKeySize)
        features.initiatorKeys = role == .initiator ? givenKeys : configuration.wantedKeys
        features.responderKeys = role == .initiator ? configuration.wantedKeys : givenKeys
        return features
    }

    private var givenKeys: KeyKinds {
        context.ownIdentity == nil ? configuration.givenKeys.subtracting(.identity) : configuration.givenKeys
    }

    // MARK: Commands

    private mutating func receive(_ payload: PacketBuffer) -> [Action] {
        let command: SMPCommand
        do {
            command = try SMPCommand(payload)
        } catch {
            // Outside of a pairing errors are not reported (3.5.5), but a request gets a response.
            let isRequest = payload.first == SMPCode.pairingRequest.rawValue && role == .responder
            return isUnderWay || isRequest ? refuse(error) : []
        }
        switch (command, state) {
        case (.failed(let packet), _):
            return isUnderWay ? end(.refusedByPeer(packet.reason)) : [.failedByPeer(packet.reason)]
        case (.pairingRequest(let packet), .idle) where role == .responder:
            guard canPair else { return refuse(.pairingNotSupported) }
            state = .awaitsPermission(packet.features)
            return [.askPermission]
        case (.securityRequest(let packet), .idle) where role == .initiator:
            return [.securityRequested(packet.requirements)]
        // The pairing in progress is what the request asks for (2.4.6).
        case (.securityRequest, _) where role == .initiator: return []
        case (.pairingResponse(let packet), .awaitsResponse(let own)):
            return negotiate(initiator: own, responder: packet.features)
        case (.keypress(let packet), .exchanging(let negotiation, _)) where negotiation.passkeyTask != nil:
            keypresses -= 1
            return (keypresses >= 0 ? [.startTimer] : []) + [.peerPressedKey(packet.kind)]
        case (_, .exchanging(let negotiation, var exchange)):
            let actions = exchange.receive(command)
            state = .exchanging(negotiation, exchange)
            return perform(actions, negotiation)
        case (_, .distributing(let result, var distribution)):
            let actions = distribution.receive(command)
            state = .distributing(result, distribution)
            return [.startTimer] + perform(actions, result)
        case (_, .idle): return []
        default: return refuse(.unspecifiedReason)
        }
    }

    private mutating func respond(to features: PairingFeatures) -> [Action] {
        var own = ownFeatures
        own.initiatorKeys.formIntersection(features.initiatorKeys)
        own.responderKeys.formIntersection(features.responderKeys)
        return negotiate(initiator: features, responder: own)
    }

    private mutating func negotiate(initiator: PairingFeatures, responder: PairingFeatures) -> [Action] {
        let negotiation: PairingNegotiation
        do {
            negotiation = try PairingNegotiation(
                role: role,
                initiator: initiator,
                responder: responder,
                configuration: configuration,
                demand: demand
            )
        } catch {
            return refuse(error)
        }
        // The time-out runs from the request on, so while the user decides too (3.4).
        let isReplacement = role == .responder && demand.replaced != nil && !isProven
        guard isReplacement || negotiation.model == .justWorks && context.consent != .given else {
            return begin(negotiation)
        }
        state = .awaitsConsent(negotiation)
        return [.startTimer, .ask(isReplacement ? .confirmReplacement : .confirmPairing)]
    }

    private mutating func begin(_ negotiation: PairingNegotiation) -> [Action] {
        let setting = ExchangeSetting(
            negotiation: negotiation,
            initiatorAddress: context.initiatorAddress,
            responderAddress: context.responderAddress,
            random: context.random,
            peerData: context.peerData
        )
        var exchange: any Exchange
        var uses: [Action] = []
        if negotiation.isSecureConnections {
            // The public key of out-of-band data never changes and would identify this device. It is revealed only to a
            // peer that claims to have the data, and only once (2.3.6).
            let ownData = negotiation.peerHasData ? context.ownData : nil
            if ownData != nil {
                context.ownData = nil
                uses = [.usedOwnData]
            }
            exchange = SecureExchange(
                setting,
                keys: configuration.isDebugMode ? .debug : nil,
                ownData: ownData,
                acceptsDebugKey: configuration.isDebugMode
            )
        } else {
            exchange = LegacyExchange(setting)
        }
        let actions = exchange.begin()
        state = .exchanging(negotiation, exchange)
        let answer = role == .responder ? [Action.send(.pairingResponse(PairingResponse(negotiation.responder)))] : []
        return uses + answer + perform(actions, negotiation)
    }

    private mutating func handle(_ answer: PairingAnswer) -> [Action] {
        switch (state, answer) {
        case (.exchanging(let negotiation, _), .typing(let kind)):
            // Only the device on which the passkey is entered sends notifications, and only if both want them (2.3.5.1,
            // 3.5.8).
            guard negotiation.passkeyTask?.entryPrompt != nil, negotiation.notifiesKeypresses else { return [] }
            return [.send(.keypress(KeypressNotification(kind)))]
        case (_, .typing): return []
        case (.awaitsConsent(let negotiation), _):
            return answer == .accept ? [.closePrompt] + begin(negotiation) : refuse(.unspecifiedReason)
        case (.exchanging(let negotiation, var exchange), _):
            let actions = exchange.answer(answer)
            state = .exchanging(negotiation, exchange)
            return perform(actions, negotiation)
        default: return []
        }
    }

    // MARK: Keys

    private mutating func perform(_ actions: [ExchangeAction], _ negotiation: PairingNegotiation) -> [Action] {
        actions.flatMap { action -> [Action] in
            switch action {
            case .send(let command): return [.send(command)]
            case .ask(let prompt): return [.ask(prompt)]
            case .fail(let reason): return refuse(reason)
            case .agreed(let key):
                state = .encrypting(negotiation, key)
                return [.closePrompt, .encrypt(key)]
            }
        }
    }

    private mutating func encrypted(_ isEncrypted: Bool) -> [Action] {
        guard case .encrypting(let negotiation, let key) = state else { return [] }
        guard isEncrypted else { return end(.encryptionFailed) }
        let own = keysToGive(negotiation)
        let result = PairingResult(
            linkKey: key,
            keySize: negotiation.keySize,
            isAuthenticated: negotiation.model.isAuthenticated,
            isSecureConnections: negotiation.isSecureConnections,
            // Keys that anyone can compute are not stored (AB-S03).
            isBonding: negotiation.isBonding && !configuration.isDebugMode,
            ownKeys: own
        )
        var distribution = KeyDistribution(
            role: role,
            given: own,
            own: identity,
            expected: negotiation.keys(from: role.other)
        )
        let actions = distribution.begin()
        state = .distributing(result, distribution)
        return [.startTimer] + perform(actions, result)
    }

    /// The identity of this device, or else its address on the link.
    private var identity: DistributedKeys.Identity {
        let address = role == .initiator ? context.initiatorAddress : context.responderAddress
        return context.ownIdentity ?? .init(key: .zero, address: address)
    }

    private func keysToGive(_ negotiation: PairingNegotiation) -> DistributedKeys {
        let kinds = negotiation.keys(from: role)
        var keys = DistributedKeys()
        let random = context.random
        if kinds.contains(.encryption), let key = Key128(random.bytes(16)) {
            let diversifier = UInt16(truncatingIfNeeded: random.next())
            keys.encryption = EncryptionKey(
                key: key.shortened(to: negotiation.keySize),
                diversifier: diversifier,
                random: random.next()
            )
        }
        if kinds.contains(.identity) { keys.identity = context.ownIdentity }
        if kinds.contains(.signing) { keys.signing = Key128(random.bytes(16)) }
        return keys
    }

    private mutating func perform(_ actions: [KeyDistribution.Action], _ result: PairingResult) -> [Action] {
        actions.flatMap { action -> [Action] in
            switch action {
            case .send(let command): return [.send(command)]
            case .fail(let reason): return refuse(reason)
            case .done(let keys):
                state = .idle
                var result = result
                result.peerKeys = keys
                // Both devices may want to bond without agreeing on a key for it (2.4.3, 3.6.1). A bond that neither
                // can prove would only keep them from pairing again.
                result.isBonding = result.isBonding && result.keys.canEncrypt
                return [.stopTimer, .completed(result)]
            }
        }
    }

    // MARK: Completion

    /// Ends the pairing and sends the reason to the peer.
    private mutating func refuse(_ reason: PairingFailure) -> [Action] {
        [.send(.failed(PairingFailed(reason)))] + end(.refused(reason))
    }

    private mutating func end(_ error: PairingError) -> [Action] {
        state = .idle
        return [.stopTimer, .closePrompt, .failed(error)]
    }
}
