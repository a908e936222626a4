/// What a tool may do, by the user that it runs for.
package struct ToolRights: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The name by which the tools of other users than the service's are apps, where it matters whether they may use Bluetooth.
    package static let toolName = "harald"

    /// To look: status, devices, apps, and what happens, without what apps say and hear.
    package static let look = ToolRights(rawValue: 1 << 0)
    /// To put questions to a person and answer them.
    package static let answer = ToolRights(rawValue: 1 << 1)
    /// To see and change everything.
    package static let control: ToolRights = [.look, .answer, ToolRights(rawValue: 1 << 2)]
}

extension ToolQuestion {
    /// What is needed to ask it.
    package var needs: ToolRights {
        switch self {
        case .status, .devices, .monitor, .apps: .look
        case .prompts: .answer
        case .bonds, .forgetBond, .app: .control
        }
    }
}
