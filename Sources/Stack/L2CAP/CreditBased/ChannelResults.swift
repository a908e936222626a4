import BluetoothTypes

/// The result of a request for credit-based channels (Core Vol 3 Part A 4.23 and 4.26). For enhanced channels some
/// results apply to only some of the channels.
package struct ChannelResult: WireValue, CustomStringConvertible {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let success = ChannelResult(rawValue: 0x0000)
    /// No server listens on the SPSM.
    package static let spsmNotSupported = ChannelResult(rawValue: 0x0002)
    /// There is no capacity for the channel, or for some of the channels.
    package static let insufficientResources = ChannelResult(rawValue: 0x0004)
    /// There is no key, or only one that is too weak.
    package static let insufficientAuthentication = ChannelResult(rawValue: 0x0005)
    /// The server does not authorize the peer.
    package static let insufficientAuthorization = ChannelResult(rawValue: 0x0006)
    package static let encryptionKeySizeTooShort = ChannelResult(rawValue: 0x0007)
    /// There is a key, but the link is not encrypted.
    package static let insufficientEncryption = ChannelResult(rawValue: 0x0008)
    /// A source channel is outside the dynamic range.
    package static let invalidSource = ChannelResult(rawValue: 0x0009)
    package static let sourceAlreadyAllocated = ChannelResult(rawValue: 0x000A)
    /// The server does not accept the parameters.
    package static let unacceptableParameters = ChannelResult(rawValue: 0x000B)
    /// The request contradicts itself or the specification (enhanced channels only).
    package static let invalidParameters = ChannelResult(rawValue: 0x000C)
    /// The final response follows (enhanced channels only).
    package static let pending = ChannelResult(rawValue: 0x000D)
    /// The final response follows once the peer is authenticated (enhanced channels only).
    package static let authenticationPending = ChannelResult(rawValue: 0x000E)
    /// The final response follows once the peer is authorized (enhanced channels only).
    package static let authorizationPending = ChannelResult(rawValue: 0x000F)

    /// Whether another response to the same request follows.
    var isPending: Bool { (Self.pending.rawValue...Self.authorizationPending.rawValue).contains(rawValue) }

    /// Whether some of the channels may have been opened nonetheless (Vol 3 Part A 4.26, table of results).
    var isPartial: Bool { [.insufficientResources, .invalidSource, .sourceAlreadyAllocated].contains(self) }

    private static let names: [UInt16: String] = [
        0x0000: "success", 0x0002: "SPSM not supported", 0x0004: "insufficient resources",
        0x0005: "insufficient authentication", 0x0006: "insufficient authorization",
        0x0007: "encryption key size too short", 0x0008: "insufficient encryption", 0x0009: "invalid source CID",
        0x000A: "source CID already allocated", 0x000B: "unacceptable parameters", 0x000C: "invalid parameters",
        0x000D: "pending", 0x000E: "authentication pending", 0x000F: "authorization pending",
    ]

    /// The name of the result, for logs, or else the number.
    package var description: String { Self.names[rawValue] ?? "result 0x" + String(rawValue, radix: 16) }
}

/// The result of a reconfiguration (Core Vol 3 Part A 4.28).
package struct ReconfigureResult: WireValue, CustomStringConvertible {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let success = ReconfigureResult(rawValue: 0x0000)
    /// The request reduces the MTU of a channel, which is not allowed.
    package static let mtuReduced = ReconfigureResult(rawValue: 0x0001)
    /// The request reduces the MPS of several channels at once, which is not allowed.
    package static let mpsReduced = ReconfigureResult(rawValue: 0x0002)
    /// A channel does not exist.
    package static let invalidDestination = ReconfigureResult(rawValue: 0x0003)
    /// Another parameter is not acceptable.
    package static let unacceptableParameters = ReconfigureResult(rawValue: 0x0004)

    private static let names: [UInt16: String] = [
        0: "success", 1: "MTU reduced", 2: "MPS reduced", 3: "invalid destination CID", 4: "unacceptable parameters",
    ]

    /// The name of the result, for logs, or else the number.
    package var description: String { Self.names[rawValue] ?? "result 0x" + String(rawValue, radix: 16) }
}

extension LinkSecurity {
    /// Returns the result that refuses a channel with requirement `level`; nil if the link satisfies it.
    ///
    /// A key that would be too weak even if it were in use is reported first, because encryption with it would not help
    /// (Vol 3 Part C 10.3.1). Its size is checked last (AB-A13).
    package func channelRefusal(of level: SecurityLevel) -> ChannelResult? {
        guard level.isEncrypted else { return nil }
        guard level.with(keySize: 0).isMet(by: usableKey) else { return .insufficientAuthentication }
        guard isEncrypted else { return .insufficientEncryption }
        return level.isMet(by: usableKey) ? nil : .encryptionKeySizeTooShort
    }
}
