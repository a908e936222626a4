/// The results of every event on a link, as ``LinkRecord`` formats them: the initial state, then a line for each event
/// with its results and, after the last arrow, the new state if it has changed.
enum SecureLinkTable {
    static let central = """
        central, stranger
        open; 16; 16
        notRefreshed: end 5, changed -> open; key 16; 16
        expired: end 5, changed -> open; key 16; 16
        keyRequest: no key
        otherKeyRequest: no key
        end: ; 16; 16
        secure: SMP 0104000d100303 -> open pairing; 16; 16
        pair: SMP 0104000d100303 -> open pairing; 16; 16
        prepare: prepared
        authorize: changed -> open; authorized 16; 16
        forget: no bond
        removal: no bond
        giveWay: end 19, changed, replaced -> ; key 16; 16
        loss: end 5, changed -> open; key 16; 16
        disconnect: end 19, changed -> open; key 16; 16
        permission: may true -> open pairing; 16; 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may true -> open pairing; 16; 16
        bonding: changed, bond changed, bonded -> open known bond; key 16; key 16
        pairing: paired -> open paired without; 16; 16
        badBonding: thrown true
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost
        replacement: answer refuse -> open refused; 16; 16
        lostReplacement: asked confirmReplacement -> open prompt; 16; 16
        nothing: on off onV2 offV2 keyMissing silence failure refreshed noEnd noStore
        central, bonded
        open known bond; key 16; A key 16
        on: changed -> open known bond; E A S key 16; E A key 16
        onV2: changed -> open known bond; E A S key 16; E A key 16
        keyMissing: bond changed, lost, failed: key lost -> open known lost bond; key 16; A key 16
        silence: failed: no answer
        failure: failed: not encrypted
        refreshed: changed -> open known bond; E A S key 16; E A key 16
        notRefreshed: end 5, failed: no answer
        expired: end 5
        keyRequest: no key
        otherKeyRequest: no key
        end: failed: gone -> known bond; key 16; A key 16
        authorize: changed -> open known bond; key authorized 16; A key 16
        forget: end 5, changed, failed: forgotten, bond changed -> open; key 16; 16
        removal: open known; key 16; A key 16
        noStore: end 5, changed, failed: forgotten -> open; key 16; 16
        giveWay: end 19, failed: gone, replaced -> known bond; key 16; A key 16
        loss: end 5
        disconnect: end 19
        permission: may true -> open pairing known bond; key 16; A key 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may true, changed -> open known bond; E A S key 16; E A key 16
        bonding: thrown true
        pairing: paired -> open paired without known bond; key 16; A key 16
        badBonding: thrown true
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: bond changed, lost, failed: key lost -> open known lost bond; key 16; A key 16
        replacement: bond changed, lost, answer refuse -> open refused known lost bond; key 16; A key 16
        lostReplacement: bond changed, lost, asked confirmReplacement -> open prompt known lost bond; key 16; A key 16
        nothing: off offV2 noEnd secure pair prepare
        central, encrypted
        open known bond; E A S key 16; E A key 16
        off: end 5, changed -> open known bond; key 16; A key 16
        offV2: end 5, changed -> open known bond; key 16; A key 16
        notRefreshed: end 5, changed -> open known bond; key 16; A key 16
        expired: end 5, changed -> open known bond; key 16; A key 16
        keyRequest: no key
        otherKeyRequest: no key
        end: known bond; E A S key 16; E A key 16
        secure: secure
        pair: SMP 0104000d100303 -> open pairing known bond; E A S key 16; E A key 16
        prepare: prepared
        authorize: changed -> open known bond; E A S key authorized 16; E A key 16
        forget: end 5, changed, failed: forgotten, bond changed -> open; key 16; 16
        removal: open known; E A S key 16; E A key 16
        noStore: end 5, changed, failed: forgotten -> open; key 16; 16
        giveWay: end 19, changed, replaced -> known bond; key 16; A key 16
        loss: end 5, changed -> open known bond; key 16; A key 16
        disconnect: end 19, changed -> open known bond; key 16; A key 16
        permission: may true -> open pairing known bond; E A S key 16; E A key 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may true -> open pairing known bond; E A S key 16; E A key 16
        bonding: thrown true
        pairing: paired -> open paired without known bond; E A S key 16; E A key 16
        badBonding: thrown true
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: bond changed, lost, failed: key lost -> open known lost bond; E A S key 16; E A key 16
        replacement: bond changed, lost, answer refuse -> open refused known lost bond; E A S key 16; E A key 16
        lostReplacement: bond changed, lost, asked confirmReplacement -> open prompt known lost bond; E A S key 16; E A key 16
        nothing: on onV2 keyMissing silence failure refreshed noEnd
        central, ending
        end 5, changed -> open known bond; key 16; A key 16
        off: end 5
        notRefreshed: end 5
        expired: end 5
        keyRequest: no key
        otherKeyRequest: no key
        secure: encrypt true true
        prepare: prepared
        authorize: changed -> open known bond; key authorized 16; A key 16
        forget: end 5, changed, not secure: forgotten, not paired: forgotten, failed: forgotten, bond changed -> open; key authorized 16; 16
        removal: no bond
        giveWay: end 19, replaced -> ; key authorized 16; 16
        disconnect: end 19
        permission: may true -> pairing; key authorized 16; 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may false -> has to wait
        bonding: thrown false -> has to wait
        pairing: paired -> paired without; key authorized 16; 16
        badBonding: thrown false
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost -> has to wait
        replacement: answer refuse -> refused paired without; key authorized 16; 16 -> has to wait
        lostReplacement: refused paired without prompt; key authorized 16; 16 -> has to wait
        central, over
         -> known bond; E A S key 16; E A key 16
        keyRequest: no key
        otherKeyRequest: no key
        secure: not secure: gone
        pair: not paired: gone
        prepare: prepared
        authorize: changed -> known bond; key authorized 16; A key 16
        forget: bond changed -> known; key authorized 16; A key 16
        removal: no bond
        disconnect: end 19, changed -> known; key authorized 16; 16
        permission: may true -> pairing known; key authorized 16; 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may false -> has to wait
        bonding: thrown false -> has to wait
        pairing: paired -> paired without known; key authorized 16; 16
        badBonding: thrown false
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost -> has to wait
        replacement: answer refuse -> refused paired without known; key authorized 16; 16 -> has to wait
        lostReplacement: refused paired without prompt known; key authorized 16; 16 -> has to wait
        """

    static let peripheral = """
        peripheral, stranger
        open; 16; 16
        notRefreshed: end 5, changed -> open; key 16; 16
        expired: end 5, changed -> open; key 16; 16
        keyRequest: no key
        otherKeyRequest: no key
        end: ; 16; 16
        secure: SMP 0b0d
        pair: SMP 0b0d
        prepare: prepared
        authorize: changed -> open; authorized 16; 16
        forget: no bond
        removal: no bond
        giveWay: end 19, changed, replaced -> ; key 16; 16
        loss: end 5, changed -> open; key 16; 16
        disconnect: end 19, changed -> open; key 16; 16
        permission: may true -> open pairing; 16; 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may true -> open pairing; 16; 16
        bonding: changed, bond changed, bonded -> open known bond; key 16; key 16
        pairing: paired -> open paired without; 16; 16
        badBonding: thrown true
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost
        replacement: answer refuse -> open refused; 16; 16
        lostReplacement: asked confirmReplacement -> open prompt; 16; 16
        nothing: on off onV2 offV2 keyMissing silence failure refreshed noEnd noStore
        peripheral, bonded
        open known bond; key 16; A key 16
        notRefreshed: end 5
        expired: end 5
        keyRequest: key true
        otherKeyRequest: no key
        end: known bond; key 16; A key 16
        secure: SMP 0b0d
        pair: SMP 0b0d
        prepare: prepared
        authorize: changed -> open known bond; key authorized 16; A key 16
        forget: end 5, changed, failed: forgotten, bond changed -> open; key 16; 16
        removal: open known; key 16; A key 16
        noStore: end 5, changed, failed: forgotten -> open; key 16; 16
        giveWay: end 19, replaced -> known bond; key 16; A key 16
        loss: end 5
        disconnect: end 19
        permission: may true -> open pairing known bond; key 16; A key 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may true -> open pairing known bond; key 16; A key 16
        bonding: thrown true
        pairing: paired -> open paired without known bond; key 16; A key 16
        badBonding: thrown true
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: bond changed, lost, failed: key lost -> open known lost bond; key 16; A key 16
        replacement: bond changed, lost, answer refuse -> open refused known lost bond; key 16; A key 16
        lostReplacement: bond changed, lost, asked confirmReplacement -> open prompt known lost bond; key 16; A key 16
        nothing: on off onV2 offV2 keyMissing silence failure refreshed noEnd
        peripheral, encrypted
        open known bond; E A S key 16; E A key 16
        off: end 5, changed -> open known bond; key 16; A key 16
        offV2: end 5, changed -> open known bond; key 16; A key 16
        notRefreshed: end 5, changed -> open known bond; key 16; A key 16
        expired: end 5, changed -> open known bond; key 16; A key 16
        keyRequest: key true
        otherKeyRequest: no key
        end: known bond; E A S key 16; E A key 16
        secure: secure
        pair: SMP 0b0d
        prepare: prepared
        authorize: changed -> open known bond; E A S key authorized 16; E A key 16
        forget: end 5, changed, failed: forgotten, bond changed -> open; key 16; 16
        removal: open known; E A S key 16; E A key 16
        noStore: end 5, changed, failed: forgotten -> open; key 16; 16
        giveWay: end 19, changed, replaced -> known bond; key 16; A key 16
        loss: end 5, changed -> open known bond; key 16; A key 16
        disconnect: end 19, changed -> open known bond; key 16; A key 16
        permission: may true -> open pairing known bond; E A S key 16; E A key 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may true -> open pairing known bond; E A S key 16; E A key 16
        bonding: thrown true
        pairing: paired -> open paired without known bond; E A S key 16; E A key 16
        badBonding: thrown true
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: bond changed, lost, failed: key lost -> open known lost bond; E A S key 16; E A key 16
        replacement: bond changed, lost, answer refuse -> open refused known lost bond; E A S key 16; E A key 16
        lostReplacement: bond changed, lost, asked confirmReplacement -> open prompt known lost bond; E A S key 16; E A key 16
        nothing: on onV2 keyMissing silence failure refreshed noEnd
        peripheral, ending
        end 5, changed -> open known bond; key 16; A key 16
        off: end 5
        notRefreshed: end 5
        expired: end 5
        keyRequest: key true
        otherKeyRequest: no key
        secure: SMP 0b0d
        prepare: prepared
        authorize: changed -> open known bond; key authorized 16; A key 16
        forget: end 5, changed, not secure: forgotten, not paired: forgotten, failed: forgotten, bond changed -> open; key authorized 16; 16
        removal: no bond
        giveWay: end 19, replaced -> ; key authorized 16; 16
        disconnect: end 19
        permission: may true -> pairing; key authorized 16; 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may false -> has to wait
        bonding: thrown false -> has to wait
        pairing: paired -> paired without; key authorized 16; 16
        badBonding: thrown false
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost -> has to wait
        replacement: answer refuse -> refused paired without; key authorized 16; 16 -> has to wait
        lostReplacement: refused paired without prompt; key authorized 16; 16 -> has to wait
        peripheral, over
         -> known bond; E A S key 16; E A key 16
        keyRequest: no key
        otherKeyRequest: no key
        secure: not secure: gone
        pair: not paired: gone
        prepare: prepared
        authorize: changed -> known bond; key authorized 16; A key 16
        forget: bond changed -> known; key authorized 16; A key 16
        removal: no bond
        disconnect: end 19, changed -> known; key authorized 16; 16
        permission: may true -> pairing known; key authorized 16; 16
        hastyPermission: may false -> has to wait
        permissionAndOn: may false -> has to wait
        bonding: thrown false -> has to wait
        pairing: paired -> paired without known; key authorized 16; 16
        badBonding: thrown false
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost -> has to wait
        replacement: answer refuse -> refused paired without known; key authorized 16; 16 -> has to wait
        lostReplacement: refused paired without prompt known; key authorized 16; 16 -> has to wait
        """
}
