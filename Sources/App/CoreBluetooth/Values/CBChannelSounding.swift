import Foundation

/// The configuration of a session that measures the distance to a peripheral by Channel Sounding.
///
/// Objects are immutable and may be used from any thread.
open class CBChannelSoundingSessionConfiguration: NSObject, @unchecked Sendable {
    // Safe: the stored properties are immutable.
    /// The role of this device in the session.
    public typealias Role = CBChannelSoundingSessionConfigurationRole

    private let chosen: Role

    /// Creates a configuration.
    ///
    /// - Parameter role: The role of this device in the session.
    public init(role: Role) {
        chosen = role
        super.init()
    }

    /// The role of this device in the session.
    open var role: Role { chosen }
}

/// The result of one Channel Sounding procedure.
///
/// Objects are immutable and may be used from any thread. None is created so far, since no controller supports the
/// procedure.
open class CBChannelSoundingProcedureResults: NSObject, @unchecked Sendable {
    // Safe: the stored properties are immutable.
    private let metres: Double

    init(distance: Double) {
        metres = distance
        super.init()
    }

    /// The distance in metres. Negative if it could not be measured.
    open var distance: Double { metres }
}
