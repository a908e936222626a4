import CoreBluetooth
import ServiceMessages

/// Whether an app may have Live Activities.
public final class ActivityAuthorizationInfo: Sendable {
    /// Creates the information.
    public init() {}

    /// Whether the app declares Live Activities, and the system has them (behaviour 9.22).
    public final var areActivitiesEnabled: Bool {
        switch ActivityLink.current?.check().access {
        case .allowed, .notVisible: true
        case .unsupported, .undeclared, nil: false
        }
    }
}
