/// Who a ``SecurityManager`` works for: the controller, persons, and the store of bonds are behind it. Everything is called
/// on the loop. Without a delegate nothing is paired.
package protocol SecurityManagerDelegate: AnyObject {
    /// Do this. What comes of it goes back as an event, at once or later.
    func securityManager(_ manager: SecurityManager, perform action: SecurityManager.Action)

    /// The keys that are kept of the peer at this moment; nil when there are none. Asked for each time that they are needed: a
    /// person may have removed them, and another link to the same peer may have changed them. No more than a look: the
    /// manager is in the middle of something.
    func securityManagerKeys(_ manager: SecurityManager) -> PeerKeys?

    /// Keep these keys, in which the number of a signature has moved on. It must have been written when this returns, and no
    /// link to the peer may use the number again.
    ///
    /// - Throws: when it cannot be kept: then nothing is signed, and no signature believed.
    func securityManager(_ manager: SecurityManager, keep keys: PeerKeys) throws
}

extension SecurityManager {
    /// What a manager wants done, each when its turn comes among what it sends itself.
    package enum Action {
        /// These two are to be paired. Whether they may, after attempts that failed (Core Vol 3 Part H 2.3.6, AB-S12), goes to
        /// ``SecurityManager/permitted(_:)``.
        case askPermission
        /// Ask or show a person this. `answer` may be called more than once while the person types; what decides counts once,
        /// and nothing counts after ``closePrompt``.
        case ask(PairingPrompt, answer: (PairingAnswer) -> Void)
        /// Whatever is shown or asked is over.
        case closePrompt
        /// The peer's person has pressed a key.
        case peerPressedKey(KeypressNotification.Kind)
        /// What was given away another way, ``OutOfBand/own``, is used up: no pairing may use it again, on whichever link, and
        /// however this one ends.
        case usedOutOfBand
        /// As central: encrypt the link with this key, or change its key to this one (HCI LE Enable Encryption). What comes of
        /// it goes to ``SecurityManager/encryptionChanged(_:)``.
        case encrypt(EncryptionKey)
        /// Keep these keys, if `isBonding`. Whether they are kept goes to ``SecurityManager/stored(_:)``: they must have been
        /// written by then, and count only then. When they cannot be kept, or must not take the place of others (AB-S10), the
        /// pairing has failed.
        case store(PeerKeys, isBonding: Bool)
        /// ``SecurityManager/encryption`` is another one.
        case encryptionChanged
        /// What was under way has failed, whoever began it: tell those above.
        case fail(SecurityError)
        /// Nothing is to be believed of the link any more, and ``SecurityManager/encryption`` is gone: end it. A pairing has
        /// failed after the link was encrypted, its keys are not kept, or the bond is gone.
        case endLink
    }
}
