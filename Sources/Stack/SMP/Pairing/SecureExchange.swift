import BluetoothTypes
import Cryptography
import EventLoops

/// The LE Secure Connections exchange, from the features to the long-term key (Core Vol 3 Part H 2.3.5.6).
struct SecureExchange: Exchange {
    private enum State {
        case idle
        case awaitsPublicKey
        /// Waits for the responder's commitment, as initiator, in numeric comparison and Just Works.
        case awaitsCommitment
        /// Waits for the peer's nonce, which the initiator then checks against `commitment`.
        case awaitsRandom(commitment: Block128?)
        /// Waits for the user to compare. The peer's check may have arrived already.
        case awaitsComparison(check: Block128?)
        /// Waits for the user to enter the passkey. The peer's first confirm value may have arrived already.
        case awaitsPasskey(confirm: Block128?)
        case awaitsRoundConfirm(PasskeyRounds)
        case awaitsRoundRandom(PasskeyRounds, confirm: Block128)
        case awaitsCheck
        case over
    }

    private let setting: ExchangeSetting
    /// Created when first needed, and new for each pairing, so that what one attempt reveals is useless in the next
    /// (2.3.6).
    private var keys: P256KeyPair?
    private var publicKey = P256KeyPair.debug.publicKey
    /// The out-of-band data that the peer received from this device; nil unless the peer claims to have it.
    private let ownData: OwnOutOfBandData?
    private let acceptsDebugKey: Bool
    private var state = State.idle
    private var peerKey = P256KeyPair.debug.publicKey
    private var secret: [UInt8] = []
    private var own: Block128
    private var peer = Block128.zero
    /// The random values of the DHKey checks: the passkey, or the out-of-band values (2.3.5.6.5).
    private var checkValues = (own: Block128.zero, peer: Block128.zero)

    /// The pair of `ownData` takes precedence over `keys`. Without either, a pair is created.
    init(_ setting: ExchangeSetting, keys: P256KeyPair?, ownData: OwnOutOfBandData?, acceptsDebugKey: Bool) {
        self.setting = setting
        self.keys = ownData?.keyPair ?? keys
        self.ownData = ownData
        self.acceptsDebugKey = acceptsDebugKey
        own = setting.block()
    }

    private var isInitiator: Bool { setting.role == .initiator }

    mutating func begin() -> [ExchangeAction] {
        state = .awaitsPublicKey
        guard isInitiator else { return [] }
        guard makeKeys() else { return fail(.unspecifiedReason) }
        return [.send(.publicKey(PairingPublicKey(publicKey)))]
    }

    /// Creates the key pair if there is none; returns false if the random source is broken (AB-H07).
    private mutating func makeKeys() -> Bool {
        guard let pair = keys ?? P256KeyPair(random: setting.random.bytes) else { return false }
        keys = pair
        publicKey = pair.publicKey
        return true
    }

    mutating func receive(_ command: SMPCommand) -> [ExchangeAction] {
        switch (command, state) {
        case (.publicKey(let packet), .awaitsPublicKey): return receive(key: packet)
        case (.confirm(let packet), .awaitsCommitment):
            state = .awaitsRandom(commitment: packet.value)
            return [.send(.random(PairingRandom(own)))]
        case (.random(let packet), .awaitsRandom(let commitment)): return receive(random: packet.value, commitment)
        case (.dhKeyCheck(let packet), .awaitsComparison(nil)) where !isInitiator:
            state = .awaitsComparison(check: packet.value)
            return []
        case (.confirm(let packet), .awaitsPasskey(nil)) where !isInitiator:
            state = .awaitsPasskey(confirm: packet.value)
            return []
        case (.confirm(let packet), .awaitsRoundConfirm(let rounds)): return receive(confirm: packet.value, rounds)
        case (.random(let packet), .awaitsRoundRandom(let rounds, let confirm)):
            return receive(random: packet.value, rounds, confirm)
        case (.dhKeyCheck(let packet), .awaitsCheck): return receive(check: packet.value)
        default: return fail(.unspecifiedReason)
        }
    }

    mutating func answer(_ answer: PairingAnswer) -> [ExchangeAction] {
        switch (state, answer) {
        case (.awaitsComparison, .refuse): return fail(.numericComparisonFailed)
        case (.awaitsComparison(let check), .accept):
            return sendCheck() + (check.map { receive(check: $0) } ?? [])
        case (.awaitsPasskey(let confirm), .passkey(let passkey)) where passkey <= 999_999:
            return proceed(with: passkey, confirm: confirm)
        case (_, .refuse), (.awaitsPasskey, .passkey): return fail(.passkeyEntryFailed)
        default: return []
        }
    }

    private mutating func fail(_ reason: PairingFailure) -> [ExchangeAction] {
        state = .over
        secret = []
        return [.fail(reason)]
    }
}

// MARK: Public keys

extension SecureExchange {
    private mutating func receive(key packet: PairingPublicKey) -> [ExchangeAction] {
        guard let point = packet.point else { return fail(.invalidParameters) }
        guard makeKeys() else { return fail(.unspecifiedReason) }
        // A public key with our own x coordinate would let the peer reflect every value (AB-S02, CVE-2020-26558). The y
        // coordinate does not matter.
        guard point.x != publicKey.x || acceptsDebugKey else { return fail(.invalidParameters) }
        guard !point.isDebugKey || acceptsDebugKey else { return fail(.invalidParameters) }
        // The point is not on the curve (AB-S01; Vol 3 Part H 2.3.5.6.1).
        guard let shared = keys?.sharedSecret(with: point) else { return fail(.invalidParameters) }
        peerKey = point
        secret = shared
        let answer = isInitiator ? [] : [ExchangeAction.send(.publicKey(PairingPublicKey(publicKey)))]
        return answer + authenticate()
    }

    /// Starts authentication stage 1 (2.3.5.6.2 to 2.3.5.6.4).
    private mutating func authenticate() -> [ExchangeAction] {
        switch setting.negotiation.model {
        case .justWorks, .numericComparison:
            guard !isInitiator else {
                state = .awaitsCommitment
                return []
            }
            state = .awaitsRandom(commitment: nil)
            return [.send(.confirm(PairingConfirm(Toolbox.f4(publicKey.x, peerKey.x, own, 0))))]
        case .passkey:
            if let prompt = setting.negotiation.passkeyTask?.entryPrompt {
                state = .awaitsPasskey(confirm: nil)
                return [.ask(prompt)]
            }
            let passkey = setting.passkey()
            return [.ask(.showPasskey(passkey))] + proceed(with: passkey, confirm: nil)
        case .outOfBand: return checkData()
        }
    }

    /// Checks the out-of-band data against the public key that the peer sent over the link (2.3.5.6.4).
    private mutating func checkData() -> [ExchangeAction] {
        let negotiation = setting.negotiation
        let (ownFlag, peerFlag) =
            isInitiator
            ? (negotiation.initiator.outOfBandFlag, negotiation.responder.outOfBandFlag)
            : (negotiation.responder.outOfBandFlag, negotiation.initiator.outOfBandFlag)
        if ownFlag == 1 {
            guard case .secureConnections(let confirm, let random)? = setting.peerData else {
                return fail(.outOfBandNotAvailable)
            }
            guard Toolbox.f4(peerKey.x, peerKey.x, random, 0) == confirm else { return fail(.confirmValueFailed) }
            checkValues.peer = random
        }
        if peerFlag == 1 {
            guard let ownData else { return fail(.outOfBandNotAvailable) }
            checkValues.own = ownData.random
        }
        state = .awaitsRandom(commitment: nil)
        return isInitiator ? [.send(.random(PairingRandom(own)))] : []
    }
}

// MARK: Nonces

extension SecureExchange {
    private mutating func receive(random: Block128, _ commitment: Block128?) -> [ExchangeAction] {
        if let commitment, Toolbox.f4(peerKey.x, publicKey.x, random, 0) != commitment {
            return fail(.confirmValueFailed)
        }
        peer = random
        let answer = isInitiator ? [] : [ExchangeAction.send(.random(PairingRandom(own)))]
        guard setting.negotiation.model == .numericComparison else { return answer + sendCheck() }
        state = .awaitsComparison(check: nil)
        let number =
            isInitiator
            ? Toolbox.g2(publicKey.x, peerKey.x, own, peer) : Toolbox.g2(peerKey.x, publicKey.x, peer, own)
        return answer + [.ask(.compare(number))]
    }

    private mutating func proceed(with passkey: UInt32, confirm: Block128?) -> [ExchangeAction] {
        let value = Block128(high: 0, low: UInt64(passkey))
        checkValues = (value, value)
        let rounds = PasskeyRounds(passkey: passkey)
        guard !isInitiator else { return send(rounds) }
        state = .awaitsRoundConfirm(rounds)
        return confirm.map { receive(confirm: $0, rounds) } ?? []
    }

    private mutating func send(_ rounds: PasskeyRounds) -> [ExchangeAction] {
        own = setting.block()
        state = .awaitsRoundConfirm(rounds)
        return [.send(.confirm(PairingConfirm(ownConfirm(rounds))))]
    }

    private func ownConfirm(_ rounds: PasskeyRounds) -> Block128 {
        Toolbox.f4(publicKey.x, peerKey.x, own, rounds.bit)
    }

    private mutating func receive(confirm: Block128, _ rounds: PasskeyRounds) -> [ExchangeAction] {
        if !isInitiator { own = setting.block() }
        let ours = ownConfirm(rounds)
        // A peer that reflects our own value has not proved that it has the passkey (AB-S02).
        guard confirm != ours else { return fail(.confirmValueFailed) }
        state = .awaitsRoundRandom(rounds, confirm: confirm)
        return isInitiator ? [.send(.random(PairingRandom(own)))] : [.send(.confirm(PairingConfirm(ours)))]
    }

    private mutating func receive(
        random: Block128,
        _ rounds: PasskeyRounds,
        _ confirm: Block128
    ) -> [ExchangeAction] {
        guard Toolbox.f4(peerKey.x, publicKey.x, random, rounds.bit) == confirm else {
            return fail(.confirmValueFailed)
        }
        peer = random
        let answer = isInitiator ? [] : [ExchangeAction.send(.random(PairingRandom(own)))]
        guard let next = rounds.next else { return answer + sendCheck() }
        guard !isInitiator else { return send(next) }
        state = .awaitsRoundConfirm(next)
        return answer
    }
}

// MARK: Keys and checks

extension SecureExchange {
    /// Starts authentication stage 2 (2.3.5.6.5), in which the initiator sends its check first.
    private mutating func sendCheck() -> [ExchangeAction] {
        state = .awaitsCheck
        return isInitiator ? [.send(.dhKeyCheck(PairingDHKeyCheck(keysAndChecks.own)))] : []
    }

    private mutating func receive(check: Block128) -> [ExchangeAction] {
        let values = keysAndChecks
        guard check == values.peer else { return fail(.dhKeyCheckFailed) }
        state = .over
        secret = []
        let agreed = ExchangeAction.agreed(values.longTermKey.shortened(to: setting.negotiation.keySize))
        return isInitiator ? [agreed] : [.send(.dhKeyCheck(PairingDHKeyCheck(values.own))), agreed]
    }

    private var keysAndChecks: (longTermKey: Key128, own: Block128, peer: Block128) {
        let (a, b) = (setting.initiatorAddress, setting.responderAddress)
        let (na, nb) = isInitiator ? (own, peer) : (peer, own)
        let keys = Toolbox.f5(secret, na, nb, a, b)
        let features = (setting.negotiation.initiator.capabilities, setting.negotiation.responder.capabilities)
        // Each device's check contains the value that it received from the other (2.3.5.6.5).
        let (ra, rb) = isInitiator ? (checkValues.own, checkValues.peer) : (checkValues.peer, checkValues.own)
        let ea = Toolbox.f6(keys.macKey, na, nb, rb, capabilities: features.0, a, b)
        let eb = Toolbox.f6(keys.macKey, nb, na, ra, capabilities: features.1, b, a)
        return isInitiator ? (keys.longTermKey, ea, eb) : (keys.longTermKey, eb, ea)
    }
}

/// The 20 rounds that reveal the passkey bit by bit, least significant first (2.3.5.6.3).
struct PasskeyRounds {
    static let count = 20
    let passkey: UInt32
    private(set) var round = 0

    /// The input to the confirm value: 0x80 or 0x81.
    var bit: UInt8 { 0x80 | UInt8(truncatingIfNeeded: passkey >> UInt32(round) & 1) }

    /// The next round; nil after the last.
    var next: PasskeyRounds? {
        guard round + 1 < Self.count else { return nil }
        var next = self
        next.round += 1
        return next
    }
}
