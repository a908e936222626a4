import BluetoothTypes
import Security

/// The owner of a secure link, which does nothing by itself.
package final class StandInOwner: SecureLinkOwner {
    /// Called when the security of the link has changed.
    package var onChange: (_ old: LinkSecurity) -> Void = { _ in }
    /// Called when another link has replaced the link.
    package var onReplaced: () -> Void = {}

    /// Becomes the owner of a link, which does not retain it.
    package init(of link: SecureLink) { link.owner = self }

    package func secureLink(_ secureLink: SecureLink, changedFrom old: LinkSecurity) { onChange(old) }

    package func secureLinkWasReplaced(_ secureLink: SecureLink) { onReplaced() }
}
