import BluetoothTypes
import HCI

/// Flow control from the controller to the host (Core Vol 4 Part E 7.3.38 to 7.3.40).
extension CommandTable {
    mutating func addHostFlowCommands() {
        add(SetControllerToHostFlowControl.self) { controller, command in
            guard command.kinds <= 3 else { return HCIStatus.invalidParameters }
            guard controller.links.isEmpty else { return .commandDisallowed }
            // There are no synchronous links.
            guard command.kinds <= 1 else { return .unsupportedFeatureOrParameter }
            controller.hostFlow.isEnabled = command.kinds == 1
            return .success
        }
        add(HostBufferSize.self) { controller, command in
            let isPossible = controller.hostFlow.resize(length: command.aclLength, count: command.aclCount)
            return isPossible ? HCIStatus.success : .invalidParameters
        }
        addUnanswered(HostNumberOfCompletedPackets.self) { controller, command in
            guard controller.hostFlow.returned(command.entries) else { return HCIStatus.invalidParameters }
            controller.passWhatWasHeld()
            return .success
        }
    }
}

extension VirtualController {
    /// Gives the host what has come while it had no room, the links in turn.
    func passWhatWasHeld() {
        guard !links.isEmpty else { return }
        nextToPass %= links.count
        for link in links[nextToPass...] + links[..<nextToPass] { link.passOn() }
        nextToPass += 1
    }
}
