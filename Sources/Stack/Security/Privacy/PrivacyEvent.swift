import HCIHost

/// An event of the device's privacy, for the log and for trouble reports.
package enum PrivacyEvent: StackEvent {
    /// The controller refused a change of its resolving list.
    case listRefused(HCICommandError)
    /// The controller refused a random address.
    case addressRefused(HCICommandError)
    /// Advertising, scanning or connecting did not stop in time when the controller was asked to end it.
    case notQuiet

    package static var module: StackModule { .privacy }

    package var weight: EventWeight {
        switch self {
        case .addressRefused: .error
        case .listRefused, .notQuiet: .warning
        }
    }

    package var description: String {
        switch self {
        case .listRefused(let error): "the controller refused a change of its resolving list: \(error)"
        case .addressRefused(let error): "the controller refused the random address: \(error)"
        case .notQuiet: "the controller did not stop using the radio in time; continuing anyway"
        }
    }
}
