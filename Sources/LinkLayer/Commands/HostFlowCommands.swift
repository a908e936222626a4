import BluetoothTypes
import HCI

/// Controller-to-host flow control (Core Vol 4 Part E 7.3.38 to 7.3.40).
extension CommandTable {
    mutating func addHostFlowCommands() {
        add(SetControllerToHostFlowControl.self) { controller, command in
            guard command.kinds <= 3 else { return HCIStatus.invalidParameters }
            guard controller.links.isEmpty else { return .commandDisallowed }
            // Synchronous links are not implemented.
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
