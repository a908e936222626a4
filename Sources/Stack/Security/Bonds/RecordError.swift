/// The reason why a record is not used, or cannot be stored.
package enum RecordError: Error, Hashable, Sendable {
    /// Other users may have read or changed the record (AB-G06).
    case exposed(place: String, BondError.Exposure)
    /// The content is not what was written (AB-G06); `backup` is a second name of the file.
    case damaged(place: String, reason: String, backup: String?)
    /// The record was not written with the secret of this host (AB-G06).
    case foreign(place: String)
    case unknownVersion(place: String, UInt16)
    /// The record exceeds the maximum size, in octets.
    case tooLarge(place: String, limit: Int)
    case full(Int)
    case unavailable(reason: String)

    init(_ error: BondError) {
        switch error {
        case .exposed(let place, let exposure): self = .exposed(place: place, exposure)
        case .damaged(let place, let reason, let backup): self = .damaged(place: place, reason: reason, backup: backup)
        default: self = .unavailable(reason: "\(error)")
        }
    }
}

extension RecordError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .exposed(let place, let exposure): "\(place) \(exposure.fact), so it is not used; remove it"
        case .damaged(let place, let reason, let backup):
            "\(place) is damaged (\(reason)) and is not used; "
                + (backup.map { "a backup is kept as \($0); " } ?? "")
                + "remove it, and restore a good copy before the next start if there is one"
        case .foreign(let place):
            "\(place) was not written with the secret of this host and is not used; restore the secret that it was "
                + "written with, or remove it"
        case .unknownVersion(let place, let version):
            "\(place) has format \(version), which this program does not support; use the newer program that wrote it, "
                + "or remove it"
        case .tooLarge(let place, let limit):
            "the new content of \(place) exceeds \(limit) octets, so the older content is kept; reduce what the app "
                + "publishes and requests"
        case .full(let count):
            "the maximum number of \(count) app records is reached; end an app that is not needed"
        case .unavailable(let reason): "the stored records cannot be read or changed: \(reason)"
        }
    }
}
