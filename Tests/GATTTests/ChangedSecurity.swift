import ATT
import BluetoothTypes
import GATT

@testable import L2CAP

extension GATTClient {
    /// The security of the link. Setting it does what the owner of the link does: it changes the history, and notifies
    /// this client.
    var security: LinkSecurity {
        get { linkSecurity }
        set { if bearer.history.change(to: newValue) { linkSecurityChanged() } }
    }
}

extension GATTServerSession {
    /// The security of the link. Setting it does what the owner of the link does: it changes the history, and notifies
    /// this session.
    var security: LinkSecurity {
        get { linkSecurity }
        set {
            let old = linkSecurity
            if bearer.history.change(to: newValue) { linkSecurityChanged(from: old) }
        }
    }
}
