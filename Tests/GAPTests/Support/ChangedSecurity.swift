import ATT
import BluetoothTypes
import GATT

@testable import L2CAP

extension GATTClient {
    /// The security of the link. Setting it changes the history behind the back of the secure link, and notifies only
    /// this client.
    var security: LinkSecurity {
        get { linkSecurity }
        set { if bearer.history.change(to: newValue) { linkSecurityChanged() } }
    }
}

extension GATTServerSession {
    /// The security of the link. Setting it changes the history behind the back of the secure link, and notifies only
    /// this session.
    var security: LinkSecurity {
        get { linkSecurity }
        set {
            let old = linkSecurity
            if bearer.history.change(to: newValue) { linkSecurityChanged(from: old) }
        }
    }
}
