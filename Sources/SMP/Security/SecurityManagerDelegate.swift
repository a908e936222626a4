/// Who a ``SecurityManager`` works for: the controller, persons, and the store of bonds are behind it. Everything is called
/// on the loop. Without a delegate nothing is paired.
public protocol SecurityManagerDelegate: AnyObject {
    /// As central: encrypt the link with this key, or change its key to this one (HCI LE Enable Encryption). What comes of
    /// it goes to ``SecurityManager/encryptionChanged(_:)``.
    func securityManager(_ manager: SecurityManager, encryptWith key: EncryptionKey)

    /// Ask or show a person this. `answer` may be called more than once while the person types; what decides counts once,
    /// and nothing counts after ``securityManagerClosedPrompt(_:)``.
    func securityManager(
        _ manager: SecurityManager,
        ask prompt: PairingPrompt,
        answer: @escaping (PairingAnswer) -> Void
    )

    /// Whatever is shown or asked is over.
    func securityManagerClosedPrompt(_ manager: SecurityManager)

    /// The peer's person has pressed a key.
    func securityManager(_ manager: SecurityManager, peerPressedKey kind: KeypressNotification.Kind)

    /// Whether these two may pair now, after attempts that failed (Core Vol 3 Part H 2.3.6, AB-S12).
    func securityManagerMayPair(_ manager: SecurityManager) -> Bool

    /// Keep these keys, if `isBonding`. They must have been written when this returns, and count only then.
    ///
    /// - Throws: when they cannot be kept, or must not take the place of others (AB-S10). The pairing has failed then.
    func securityManager(_ manager: SecurityManager, didPair keys: PeerKeys, isBonding: Bool) throws

    /// ``SecurityManager/encryption`` is another one.
    func securityManagerChangedEncryption(_ manager: SecurityManager)

    /// What was under way has failed, whoever began it.
    func securityManager(_ manager: SecurityManager, didFail error: SecurityError)

    /// A number of ``SecurityManager/keys`` that signatures have has moved on, and must be kept before it is used.
    func securityManagerKeysChanged(_ manager: SecurityManager)
}

extension SecurityManagerDelegate {
    /// Nothing is shown.
    public func securityManager(_ manager: SecurityManager, peerPressedKey kind: KeypressNotification.Kind) {}
    /// Nothing is kept.
    public func securityManagerKeysChanged(_ manager: SecurityManager) {}
}
