/// The owner of a ``SecurityManager``, which gives it access to the controller, the user and the bond store.
///
/// All methods are called on the event loop. Without a delegate nothing is paired.
package protocol SecurityManagerDelegate: AnyObject {
    /// Performs an action. Its result, if any, is reported back to the manager at once or later.
    func securityManager(_ manager: SecurityManager, perform action: SecurityManager.Action)

    /// Returns the keys currently stored for the peer; nil if there are none.
    ///
    /// The manager asks each time it needs them: the user may have removed them, or another link to the same peer may
    /// have changed them. The implementation must only look the keys up, because the manager may be in the middle of an
    /// event.
    func securityManagerKeys(_ manager: SecurityManager) -> PeerKeys?

    /// Stores `keys`, in which a signature counter has advanced.
    ///
    /// The keys must have been written when this returns, and no link to the peer may use the counter again.
    ///
    /// - Throws: Any error, if the keys could not be stored. Then nothing is signed, and no signature is accepted.
    func securityManager(_ manager: SecurityManager, keep keys: PeerKeys) throws
}

extension SecurityManager {
    /// An action for the delegate, in order with the commands that the manager sends itself.
    package enum Action {
        /// Decide whether the two devices may pair now, considering failed attempts (Core Vol 3 Part H 2.3.6, AB-S12).
        /// Report the decision to ``SecurityManager/permitted(_:)``.
        case askPermission
        /// Show a prompt to the user. `answer` may be called several times while the user types. A decision counts
        /// once, and calls after ``closePrompt`` are ignored.
        case ask(PairingPrompt, answer: (PairingAnswer) -> Void)
        case closePrompt
        case peerPressedKey(KeypressNotification.Kind)
        /// The out-of-band data of this device, ``OutOfBand/own``, is used up. No further pairing may use it, on any
        /// link, whatever the outcome of this one.
        case usedOutOfBand
        /// Encrypt the link with this key as central, or change to this key (HCI LE Enable Encryption). Report the
        /// result to ``SecurityManager/encryptionChanged(_:)``.
        case encrypt(EncryptionKey)
        /// Store the keys, if `isBonding`. Report the result to ``SecurityManager/stored(_:)``.
        ///
        /// The keys must be written by then, and are valid only from then on. If they could not be stored, or must not
        /// replace others (AB-S10), the pairing fails.
        case store(PeerKeys, isBonding: Bool)
        /// ``SecurityManager/encryption`` has a new value.
        case encryptionChanged
        /// A procedure failed, whichever side started it. Notify the layers above.
        case fail(SecurityError)
        /// End the link, which is no longer trusted; ``SecurityManager/encryption`` is nil. A pairing failed after the
        /// link was encrypted, its keys were not stored, or the bond was removed.
        case endLink
    }
}
