import BluetoothTypes

extension LinkSecurity {
    /// Why a channel that asks for `level` is refused, nil when it is not. A key that would not do even if it were in use
    /// comes first: encryption alone would not help (Vol 3 Part C 10.3.1). How long it has to be counts last (AB-A13).
    package func channelRefusal(of level: SecurityLevel) -> ChannelResult? {
        guard level.isEncrypted else { return nil }
        guard level.with(keySize: 0).isMet(by: usableKey) else { return .insufficientAuthentication }
        guard isEncrypted else { return .insufficientEncryption }
        return level.isMet(by: usableKey) ? nil : .encryptionKeySizeTooShort
    }
}
