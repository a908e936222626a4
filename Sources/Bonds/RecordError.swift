/// Why a record is not used, or cannot be kept.
package enum RecordError: Error, Hashable, Sendable {
    /// Others may have read or changed it (AB-G06).
    case exposed(place: String, BondError.Exposure)
    /// The content is not what was written (AB-G06); `backup` is a second name for it.
    case damaged(place: String, reason: String, backup: String?)
    /// It was not written with the secret that is there (AB-G06).
    case foreign(place: String)
    /// A version that this program does not know.
    case unknownVersion(place: String, UInt16)
    /// More octets than a record may have.
    case tooLarge(place: String, limit: Int)
    /// There is no place left.
    case full(Int)
    /// The place where records are cannot be used.
    case unavailable(reason: String)

    /// What befell a file.
    init(_ error: BondError) {
        switch error {
        case .exposed(let place, let exposure): self = .exposed(place: place, exposure)
        case .damaged(let place, let reason, let backup): self = .damaged(place: place, reason: reason, backup: backup)
        default: self = .unavailable(reason: "\(error)")
        }
    }
}

extension RecordError: CustomStringConvertible {
    /// What happened, where, and what to do about it.
    package var description: String {
        switch self {
        case .exposed(let place, let exposure): "\(place) \(exposure.fact), and is not used; remove it"
        case .damaged(let place, let reason, let backup):
            "\(place) is damaged (\(reason)), and is not used; "
                + (backup.map { "it is also kept as \($0); " } ?? "")
                + "put a good copy there before the next start, or remove it"
        case .foreign(let place):
            "\(place) was not written with the secret of this host, and is not used; put the secret back that it was "
                + "written with, or remove it"
        case .unknownVersion(let place, let version):
            "\(place) has format \(version), which this program does not know; use the newer program that wrote it, or "
                + "remove it"
        case .tooLarge(let place, let limit):
            "what is to be kept in \(place) takes more than \(limit) octets, and an older state stays there; let the app "
                + "publish or ask for less"
        case .full(let count):
            "there are records of \(count) apps, and no place for another one; end an app that is not needed"
        case .unavailable(let reason): "what is kept of apps cannot be read or changed: \(reason)"
        }
    }
}
