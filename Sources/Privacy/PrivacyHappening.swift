import HCIHost

/// What happens to the addresses of a device.
package enum PrivacyHappening: StackHappening {
    /// The controller does not take a change of its resolving list.
    case listRefused(HCICommandError)
    /// The controller does not take an address.
    case addressRefused(HCICommandError)
    /// Advertising, scanning or connecting goes on although the controller was asked to end it, for too long.
    case notQuiet

    package static var room: StackRoom { .privacy }

    package var weight: HappeningWeight {
        switch self {
        case .addressRefused: .error
        case .listRefused, .notQuiet: .warning
        }
    }

    package var description: String {
        switch self {
        case .listRefused(let error): "the controller cannot resolve addresses: \(error)"
        case .addressRefused(let error): "cannot set the random address: \(error)"
        case .notQuiet: "the controller does not fall silent"
        }
    }
}
