/// Who a ``SecurityManager`` works for: the controller, persons, and the store of bonds are behind it. Everything is called
/// on the loop. Without a delegate nothing is paired.
package protocol SecurityManagerDelegate: AnyObject {
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

    /// What was given away another way, ``OutOfBand/own``, is used up: no pairing may use it again, on whichever link, and
    /// however this one ends.
    func securityManagerUsedOutOfBand(_ manager: SecurityManager)

    /// Whether these two may pair now, after attempts that failed (Core Vol 3 Part H 2.3.6, AB-S12).
    func securityManagerMayPair(_ manager: SecurityManager) -> Bool

    /// The keys that are kept of the peer at this moment; nil when there are none. Asked for each time that they are needed: a
    /// person may have removed them, and another link to the same peer may have changed them. No more than a look: the
    /// manager is in the middle of something.
    func securityManagerKeys(_ manager: SecurityManager) -> PeerKeys?

    /// Keep these keys, if `isBonding`. They must have been written when this returns, and count only then.
    ///
    /// - Throws: when they cannot be kept, or must not take the place of others (AB-S10). The pairing has failed then.
    func securityManager(_ manager: SecurityManager, didPair keys: PeerKeys, isBonding: Bool) throws

    /// ``SecurityManager/encryption`` is another one.
    func securityManagerChangedEncryption(_ manager: SecurityManager)

    /// What was under way has failed, whoever began it.
    func securityManager(_ manager: SecurityManager, didFail error: SecurityError)

    /// Keep these keys, in which the number of a signature has moved on. It must have been written when this returns, and no
    /// link to the peer may use the number again.
    ///
    /// - Throws: when it cannot be kept: then nothing is signed, and no signature believed.
    func securityManager(_ manager: SecurityManager, keep keys: PeerKeys) throws

    /// Nothing is to be believed of the link any more: end it. A pairing has failed after the link was encrypted, its keys
    /// are not kept, or the bond is gone.
    func securityManagerEndsLink(_ manager: SecurityManager)
}

extension SecurityManagerDelegate {
    /// Nothing is shown.
    package func securityManager(_ manager: SecurityManager, peerPressedKey kind: KeypressNotification.Kind) {}
    /// Whoever gives nothing away has nothing to remember.
    package func securityManagerUsedOutOfBand(_ manager: SecurityManager) {}
}
