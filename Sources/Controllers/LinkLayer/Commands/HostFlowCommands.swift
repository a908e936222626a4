import BluetoothTypes
import HCI

/// Controller-to-host flow control (Core Vol 4 Part E 7.3.38 to 7.3.40).
extension CommandTable {
    mutating func addHostFlowCommands() {
        add(SetControllerToHostFlowControl.self) { controller, command in
            controller.linkTable.setFlowControl(command)
        }
        add(HostBufferSize.self) { controller, command in controller.linkTable.resizeBuffers(command) }
        addUnanswered(HostNumberOfCompletedPackets.self) { controller, command in
            controller.linkTable.complete(command)
        }
    }
}
