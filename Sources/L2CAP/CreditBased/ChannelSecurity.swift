import BluetoothTypes

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
