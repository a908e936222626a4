import BluetoothTypes
import Cryptography

/// The legacy exchange, from the features to the short-term key (Core Vol 3 Part H 2.3.5.5).
struct LegacyExchange: Exchange {
    private enum State {
        case idle
        /// Waits for the user to enter the passkey. The peer's confirm value may have arrived already.
        case awaitsPasskey(confirm: Block128?)
        case awaitsConfirm(key: Key128)
        case awaitsRandom(key: Key128, confirm: Block128)
        case over
    }

    private let setting: ExchangeSetting
    private let request: [UInt8]
    private let response: [UInt8]
    private let own: Block128
    private var state = State.idle
    private var ownConfirm = Block128.zero

    init(_ setting: ExchangeSetting) {
        self.setting = setting
        request = PairingRequest(setting.negotiation.initiator).framed().bytes
        response = PairingResponse(setting.negotiation.responder).framed().bytes
        own = setting.block()
    }

    mutating func begin() -> [ExchangeAction] {
        switch setting.negotiation.model {
        case .justWorks: return proceed(with: .zero, confirm: nil)
        case .outOfBand:
            guard case .legacy(let key)? = setting.peerData else { return fail(.outOfBandNotAvailable) }
            return proceed(with: key, confirm: nil)
        case .passkey, .numericComparison:
            if let prompt = setting.negotiation.passkeyTask?.entryPrompt {
                state = .awaitsPasskey(confirm: nil)
                return [.ask(prompt)]
            }
            let passkey = setting.passkey()
            return [.ask(.showPasskey(passkey))] + proceed(with: Self.key(passkey), confirm: nil)
        }
    }

    mutating func answer(_ answer: PairingAnswer) -> [ExchangeAction] {
        guard answer != .refuse else { return fail(.passkeyEntryFailed) }
        guard case .awaitsPasskey(let confirm) = state, case .passkey(let passkey) = answer else { return [] }
        guard passkey <= 999_999 else { return fail(.passkeyEntryFailed) }
        return proceed(with: Self.key(passkey), confirm: confirm)
    }

    mutating func receive(_ command: SMPCommand) -> [ExchangeAction] {
        switch (command, state) {
        case (.confirm(let packet), .awaitsPasskey(nil)) where setting.role == .responder:
            state = .awaitsPasskey(confirm: packet.value)
            return []
        case (.confirm(let packet), .awaitsConfirm(let key)): return receive(confirm: packet.value, key)
        case (.random(let packet), .awaitsRandom(let key, let confirm)):
            return receive(random: packet.value, key, confirm)
        default: return fail(.unspecifiedReason)
        }
    }

    private mutating func proceed(with key: Key128, confirm: Block128?) -> [ExchangeAction] {
        ownConfirm = self.confirm(key, own)
        state = .awaitsConfirm(key: key)
        if let confirm { return receive(confirm: confirm, key) }
        return setting.role == .initiator ? [.send(.confirm(PairingConfirm(ownConfirm)))] : []
    }

    private mutating func receive(confirm: Block128, _ key: Key128) -> [ExchangeAction] {
        // A peer that reflects our own value has not proved that it has the key (AB-S02).
        guard confirm != ownConfirm else { return fail(.confirmValueFailed) }
        state = .awaitsRandom(key: key, confirm: confirm)
        return setting.role == .initiator
            ? [.send(.random(PairingRandom(own)))] : [.send(.confirm(PairingConfirm(ownConfirm)))]
    }

    private mutating func receive(random: Block128, _ key: Key128, _ confirm: Block128) -> [ExchangeAction] {
        guard self.confirm(key, random) == confirm else { return fail(.confirmValueFailed) }
        state = .over
        let isInitiator = setting.role == .initiator
        let short = Toolbox.s1(key, responder: isInitiator ? random : own, initiator: isInitiator ? own : random)
        let agreed = ExchangeAction.agreed(short.shortened(to: setting.negotiation.keySize))
        return isInitiator ? [agreed] : [.send(.random(PairingRandom(own))), agreed]
    }

    private mutating func fail(_ reason: PairingFailure) -> [ExchangeAction] {
        state = .over
        return [.fail(reason)]
    }

    private func confirm(_ key: Key128, _ random: Block128) -> Block128 {
        Toolbox.c1(
            key,
            random: random,
            request: request,
            response: response,
            initiator: setting.initiatorAddress,
            responder: setting.responderAddress
        )
    }

    /// Returns a passkey as a 128-bit temporary key (2.3.5.3).
    private static func key(_ passkey: UInt32) -> Key128 { Key128(Block128(high: 0, low: UInt64(passkey))) }
}
