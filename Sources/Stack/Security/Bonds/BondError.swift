import BluetoothTypes
import SMP

/// The reason why bonds cannot be read or stored.
package enum BondError: Error, Hashable, Sendable {
    /// A property of a file or directory that allows other users to read or write it.
    package enum Exposure: Hashable, Sendable {
        case symbolicLink
        /// It is not of the required kind, but for instance a pipe, a device, or a directory in place of a file.
        case wrongKind
        case otherOwner(UInt32)
        /// Other users have access to it; the value contains its permission bits.
        case permissions(UInt32)
    }

    /// The new key is weaker than that of the existing bond, which is kept (AB-S10).
    case weaker(than: BondIdentifier)
    /// The peer claims the identity address or the resolving key of another bond (AB-S10, AB-S11). The name is that
    /// bond's.
    case identityTaken(by: BondIdentifier, name: String?)
    /// The peer claims this device's own identity (AB-S11).
    case ownIdentity
    /// The store has ``BondStore/maximumBonds``, and none of them may be evicted (AB-S14).
    case full(Int)
    case unknown(BondIdentifier)
    case missing(place: String)
    /// Another process, or another object in this one, has opened the store.
    case inUse(place: String)
    /// The store belongs to another adapter (AB-H08).
    case otherAdapter(place: String, owner: AdapterIdentity, present: AdapterIdentity)
    /// Other users may have read or changed the keys (AB-G06).
    case exposed(place: String, Exposure)
    /// The content is not what was written (AB-G06). It was left in place; `backup` is a second name of the file.
    case damaged(place: String, reason: String, backup: String?)
    /// The bonds were not written with the present secret: they are from another host, or from a user who does not know
    /// the secret (AB-G06, AB-H08).
    case foreign(place: String, secret: String)
    case unknownVersion(place: String, UInt16)
    case tooLarge(place: String)
    case system(place: String, doing: String, reason: String)
}

extension BondError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .weaker(let identifier):
            "the new key is weaker than the stored key of \(identifier); forget that bond before you pair again"
        case .identityTaken(let identifier, let name):
            "the device claims the address or the resolving key of \(Self.label(identifier, name)) and has not proved "
                + "that it has the key of that bond; if it is the same device, forget \(identifier) and pair again, "
                + "otherwise do not trust it"
        case .ownIdentity:
            "the device claims the address or the resolving key of this host; do not trust it"
        case .full(let count):
            "the store is full: none of its \(count) bonds may be evicted; forget one that is not needed"
        case .unknown(let identifier): "there is no bond \(identifier); list the bonds to see their identifiers"
        case .missing(let place): "there are no bonds in \(place); check the path"
        case .inUse(let place):
            "the bonds in \(place) are in use by another process, such as a second program with a controller of its own; let "
                + "both use one `harald service`, end one, or choose another directory (XDG_STATE_HOME, or --store of harald)"
        case .otherAdapter(let place, let owner, let present):
            "the bonds in \(place) belong to the adapter \(owner), but the present one is \(present); attach the former "
                + "where it was, choose another directory, or confirm with harald bonds adopt that the present one "
                + "replaces it"
        case .exposed(let place, let exposure): "\(place) \(exposure)"
        case .damaged(let place, let reason, let backup):
            "\(place) is damaged (\(reason)), so the bonds are not used; "
                + (backup.map { "a backup is kept as \($0); " } ?? "")
                + "remove the file, then restore a good copy, or start without bonds and pair again"
        case .foreign(let place, let secret):
            "the bonds in \(place) were not written with the secret in \(secret) and are not used; restore the "
                + "secret that they were written with, or remove the bonds to start without any and pair again"
        case .unknownVersion(let place, let version):
            "the bonds in \(place) have format \(version), which this program does not support; use the newer program "
                + "that wrote them, or remove the file to start without bonds and pair again"
        case .tooLarge(let place): "the bonds in \(place) exceed the maximum size; forget some"
        case .system(let place, let doing, let reason):
            "\(place) could not be \(doing): \(reason); check the path, its permissions and the free space on the disk"
        }
    }
}

extension BondError {
    /// The bond as the user knows it. The name was chosen by the peer, and may be misleading.
    private static func label(_ identifier: BondIdentifier, _ name: String?) -> String {
        name.map { "\($0.quotedName) (\(identifier))" } ?? "\(identifier)"
    }
}

extension BondError.Exposure {
    /// The problem, to be printed after the path.
    var fact: String {
        switch self {
        case .symbolicLink: "is a symbolic link, which is not followed"
        case .wrongKind: "is not the required regular file or directory"
        case .otherOwner(let user): "belongs to user \(user)"
        case .permissions(let mode): "is accessible to other users (mode \(String(mode, radix: 8)))"
        }
    }
}

extension BondError.Exposure: CustomStringConvertible {
    /// The problem and a remedy, to be printed after the path.
    package var description: String {
        switch self {
        case .symbolicLink: "\(fact); use the directory that it leads to"
        case .wrongKind: "\(fact); move it away"
        case .otherOwner:
            "\(fact), so its keys are not trusted; run as that user, or choose another directory"
        case .permissions:
            "\(fact), so its keys are not secret; if no other user has read them, "
                + "remove that access with chmod go=, otherwise remove it and pair again"
        }
    }
}
