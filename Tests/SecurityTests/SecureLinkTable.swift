import HCI

/// The results of every event on a link, as ``LinkRecord`` formats them: the initial state, then a line for each event
/// with its results and, after the last arrow, the new state if it has changed. A line with a role holds for that role
/// only.
///
/// A state is what holds of the link, its security, and its security as L2CAP sees it. LESC is LE Secure Connections.
enum SecureLinkTable {
    static func lines(_ role: LERole) -> [String] {
        let other = role == .central ? "peripheral | " : "central | "
        return both.split(separator: "\n").map(String.init).filter { !$0.hasPrefix(other) }.map { line in
            line.split(separator: " | ", maxSplits: 1).last.map(String.init) ?? line
        }
    }

    private static let both = """
        stranger
        open; none; none
        notRefreshed: end: authentication failure, changed -> open; key; none
        expired: end: authentication failure, changed -> open; key; none
        keyRequest: no key
        otherKeyRequest: no key
        end: ; none; none
        central | secure: Pairing Request -> open pairing; none; none
        central | pair: Pairing Request -> open pairing; none; none
        peripheral | secure: Security Request
        peripheral | pair: Security Request
        prepare: prepared
        authorize: changed -> open; authorized; none
        forget: no bond
        removal: no bond
        giveWay: end: remote user, changed, replaced -> ; key; none
        loss: end: authentication failure, changed -> open; key; none
        disconnect: end: remote user, changed -> open; key; none
        permission: may pair -> open pairing; none; none
        hastyPermission: may not pair -> has to wait
        permissionAndOn: may pair -> open pairing; none; none
        bonding: changed, bond changed, bonded -> open known bond; key; key
        pairing: paired -> open paired without; none; none
        badBonding: keys refused
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost
        replacement: answer refuse -> open refused; none; none
        lostReplacement: asked confirmReplacement -> open prompt; none; none
        nothing: on off onV2 offV2 keyMissing silence failure refreshed noEnd noStore
        bonded
        open known bond; key; authenticated key
        central | on: changed -> open known bond; encrypted authenticated LESC key; encrypted authenticated key
        central | onV2: changed -> open known bond; encrypted authenticated LESC key; encrypted authenticated key
        central | keyMissing: bond changed, lost, failed: key lost -> open known lost bond; key; authenticated key
        central | silence: failed: no answer
        central | failure: failed: not encrypted
        central | refreshed: changed -> open known bond; encrypted authenticated LESC key; encrypted authenticated key
        central | notRefreshed: end: authentication failure, failed: no answer
        peripheral | notRefreshed: end: authentication failure
        expired: end: authentication failure
        central | keyRequest: no key
        peripheral | keyRequest: key
        otherKeyRequest: no key
        central | end: failed: gone -> known bond; key; authenticated key
        peripheral | end: known bond; key; authenticated key
        peripheral | secure: Security Request
        peripheral | pair: Security Request
        peripheral | prepare: prepared
        authorize: changed -> open known bond; key authorized; authenticated key
        forget: end: authentication failure, changed, failed: forgotten, bond changed -> open; key; none
        removal: open known; key; authenticated key
        noStore: end: authentication failure, changed, failed: forgotten -> open; key; none
        central | giveWay: end: remote user, failed: gone, replaced -> known bond; key; authenticated key
        peripheral | giveWay: end: remote user, replaced -> known bond; key; authenticated key
        loss: end: authentication failure
        disconnect: end: remote user
        permission: may pair -> open pairing known bond; key; authenticated key
        hastyPermission: may not pair -> has to wait
        central | permissionAndOn: may pair, changed -> open known bond; encrypted authenticated LESC key; encrypted authenticated key
        peripheral | permissionAndOn: may pair -> open pairing known bond; key; authenticated key
        bonding: keys refused
        pairing: paired -> open paired without known bond; key; authenticated key
        badBonding: keys refused
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: bond changed, lost, failed: key lost -> open known lost bond; key; authenticated key
        replacement: bond changed, lost, answer refuse -> open refused known lost bond; key; authenticated key
        lostReplacement: bond changed, lost, asked confirmReplacement -> open prompt known lost bond; key; authenticated key
        central | nothing: off offV2 noEnd secure pair prepare
        peripheral | nothing: on off onV2 offV2 keyMissing silence failure refreshed noEnd
        encrypted
        open known bond; encrypted authenticated LESC key; encrypted authenticated key
        off: end: authentication failure, changed -> open known bond; key; authenticated key
        offV2: end: authentication failure, changed -> open known bond; key; authenticated key
        notRefreshed: end: authentication failure, changed -> open known bond; key; authenticated key
        expired: end: authentication failure, changed -> open known bond; key; authenticated key
        central | keyRequest: no key
        peripheral | keyRequest: key
        otherKeyRequest: no key
        end: known bond; encrypted authenticated LESC key; encrypted authenticated key
        secure: secure
        central | pair: Pairing Request -> open pairing known bond; encrypted authenticated LESC key; encrypted authenticated key
        peripheral | pair: Security Request
        prepare: prepared
        authorize: changed -> open known bond; encrypted authenticated LESC key authorized; encrypted authenticated key
        forget: end: authentication failure, changed, failed: forgotten, bond changed -> open; key; none
        removal: open known; encrypted authenticated LESC key; encrypted authenticated key
        noStore: end: authentication failure, changed, failed: forgotten -> open; key; none
        giveWay: end: remote user, changed, replaced -> known bond; key; authenticated key
        loss: end: authentication failure, changed -> open known bond; key; authenticated key
        disconnect: end: remote user, changed -> open known bond; key; authenticated key
        permission: may pair -> open pairing known bond; encrypted authenticated LESC key; encrypted authenticated key
        hastyPermission: may not pair -> has to wait
        permissionAndOn: may pair -> open pairing known bond; encrypted authenticated LESC key; encrypted authenticated key
        bonding: keys refused
        pairing: paired -> open paired without known bond; encrypted authenticated LESC key; encrypted authenticated key
        badBonding: keys refused
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: bond changed, lost, failed: key lost -> open known lost bond; encrypted authenticated LESC key; encrypted authenticated key
        replacement: bond changed, lost, answer refuse -> open refused known lost bond; encrypted authenticated LESC key; encrypted authenticated key
        lostReplacement: bond changed, lost, asked confirmReplacement -> open prompt known lost bond; encrypted authenticated LESC key; encrypted authenticated key
        nothing: on onV2 keyMissing silence failure refreshed noEnd
        ending
        end: authentication failure, changed -> open known bond; key; authenticated key
        off: end: authentication failure
        notRefreshed: end: authentication failure
        expired: end: authentication failure
        central | keyRequest: no key
        peripheral | keyRequest: key
        otherKeyRequest: no key
        central | secure: encrypt
        peripheral | secure: Security Request
        prepare: prepared
        authorize: changed -> open known bond; key authorized; authenticated key
        forget: end: authentication failure, changed, not secure: forgotten, not paired: forgotten, failed: forgotten, bond changed -> open; key authorized; none
        removal: no bond
        giveWay: end: remote user, replaced -> ; key authorized; none
        disconnect: end: remote user
        permission: may pair -> pairing; key authorized; none
        hastyPermission: may not pair -> has to wait
        permissionAndOn: may not pair -> has to wait
        bonding: not stored -> has to wait
        pairing: paired -> paired without; key authorized; none
        badBonding: not stored
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost -> has to wait
        replacement: answer refuse -> refused paired without; key authorized; none -> has to wait
        lostReplacement: refused paired without prompt; key authorized; none -> has to wait
        over
         -> known bond; encrypted authenticated LESC key; encrypted authenticated key
        keyRequest: no key
        otherKeyRequest: no key
        secure: not secure: gone
        pair: not paired: gone
        prepare: prepared
        authorize: changed -> known bond; key authorized; authenticated key
        forget: bond changed -> known; key authorized; authenticated key
        removal: no bond
        disconnect: end: remote user, changed -> known; key authorized; none
        permission: may pair -> pairing known; key authorized; none
        hastyPermission: may not pair -> has to wait
        permissionAndOn: may not pair -> has to wait
        bonding: not stored -> has to wait
        pairing: paired -> paired without known; key authorized; none
        badBonding: not stored
        cancelledPairing: failed: the request was cancelled
        forgottenPairing: failed: forgotten
        failedPairing: failed: gone -> has to wait
        lostKey: failed: key lost -> has to wait
        replacement: answer refuse -> refused paired without known; key authorized; none -> has to wait
        lostReplacement: refused paired without prompt known; key authorized; none -> has to wait
        """
}
