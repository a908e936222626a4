import BluetoothTypes
import Cryptography
import EventLoops

/// The part of a pairing from the negotiated features to the key (Core Vol 3 Part H 2.3.5).
protocol Exchange {
    mutating func begin() -> [ExchangeAction]
    mutating func receive(_ command: SMPCommand) -> [ExchangeAction]
    mutating func answer(_ answer: PairingAnswer) -> [ExchangeAction]
}

/// An action that an exchange requires.
enum ExchangeAction: Hashable {
    case send(SMPCommand)
    case ask(PairingPrompt)
    /// Both devices have the key if the peer was honest, which encryption will prove.
    case agreed(Key128)
    case fail(PairingFailure)
}

/// The fixed parameters of an exchange.
struct ExchangeSetting {
    let negotiation: PairingNegotiation
    let initiatorAddress: BluetoothAddress
    let responderAddress: BluetoothAddress
    let random: RandomSource
    let peerData: OutOfBandData?

    var role: PairingRole { negotiation.role }

    func block() -> Block128 { Block128(random.bytes(16)) ?? .zero }

    /// Returns six random digits, new for each attempt (AB-S13).
    func passkey() -> UInt32 { UInt32(truncatingIfNeeded: random.below(1_000_000)) }
}
