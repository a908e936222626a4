import ServiceMessages

/// The rights of a tool, depending on the user that it runs as.
package struct ToolRights: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The app name for tools of users other than the service's, for decisions about their permission to use Bluetooth.
    package static let toolName = "harald"

    /// Read status, devices, apps and events, without the contents of apps' messages.
    package static let look = ToolRights(rawValue: 1 << 0)
    /// Show prompts to the user and answer them.
    package static let answer = ToolRights(rawValue: 1 << 1)
    /// Read and change everything.
    package static let control: ToolRights = [.look, .answer, ToolRights(rawValue: 1 << 2)]
}

extension ToolQuestion {
    /// The rights that the question requires.
    package var needs: ToolRights {
        switch self {
        case .status, .devices, .monitor, .apps: .look
        case .prompts: .answer
        case .ownAdvice: []
        case .bonds, .forgetBond, .app, .advice, .packets: .control
        }
    }
}
