import BluetoothTypes
import Cryptography
import EventLoops

/// What both exchanges of pairing have in common: from the agreement on features to a key (Core Vol 3 Part H 2.3.5).
protocol Exchange {
    /// Begins it.
    mutating func begin() -> [ExchangeAction]
    /// Takes a command of the peer.
    mutating func receive(_ command: SMPCommand) -> [ExchangeAction]
    /// Takes what the person did.
    mutating func answer(_ answer: PairingAnswer) -> [ExchangeAction]
}

/// What an exchange wants done.
enum ExchangeAction: Hashable {
    case send(SMPCommand)
    case ask(PairingPrompt)
    /// Both have the key, if the peer has told the truth: encryption proves it.
    case agreed(Key128)
    case fail(PairingFailure)
}

/// What an exchange knows from the start.
struct ExchangeSetting {
    let negotiation: PairingNegotiation
    /// The address of the initiator on this link.
    let initiatorAddress: BluetoothAddress
    /// The address of the responder on this link.
    let responderAddress: BluetoothAddress
    let random: RandomSource
    /// What came from the peer another way.
    let peerData: OutOfBandData?

    var role: PairingRole { negotiation.role }

    func block() -> Block128 { Block128(random.bytes(16)) ?? .zero }

    /// Six digits, fresh for each attempt (AB-S13).
    func passkey() -> UInt32 { UInt32(truncatingIfNeeded: random.below(1_000_000)) }
}
