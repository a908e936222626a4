import Foundation

/// How the distance to a peripheral is measured.
open class CBChannelSoundingSessionConfiguration: NSObject, @unchecked Sendable {
    // Safe: immutable.
    /// What this device does meanwhile.
    public typealias Role = CBChannelSoundingSessionConfigurationRole

    private let chosen: Role

    /// A measurement in which this device has the given role.
    public init(role: Role) {
        chosen = role
        super.init()
    }

    /// What this device does meanwhile.
    open var role: Role { chosen }
}

/// What one measurement found.
open class CBChannelSoundingProcedureResults: NSObject, @unchecked Sendable {
    // Safe: immutable.
    private let metres: Double

    init(distance: Double) {
        metres = distance
        super.init()
    }

    /// The distance in metres; negative when it could not be measured.
    open var distance: Double { metres }
}
