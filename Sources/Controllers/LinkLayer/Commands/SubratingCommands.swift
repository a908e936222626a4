import BluetoothTypes
import HCI

/// Connection subrating commands (Core Vol 4 Part E 7.8.123, 7.8.124).
extension CommandTable {
    mutating func addSubratingCommands() {
        add(LESetDefaultSubrate.self, needs: .connectionSubrating) { controller, command in
            let range = SubrateRequest(command)
            guard range.isValid else { return HCIStatus.invalidParameters }
            controller.setDefault(.subrate(range))
            return .success
        }
        add(LESubrateRequest.self, needs: .connectionSubrating) { $0.requestSubrate($1) }
    }
}

extension VirtualController {
    fileprivate func requestSubrate(_ command: LESubrateRequest) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        let wanted = SubrateRequest(command.parameters)
        let events = Int64(wanted.factorMax) * (Int64(wanted.maxLatency) + 1)
        guard wanted.isValid,
            2 * link.control.timing.intervalMicroseconds * events < Int64(wanted.timeout) * 10_000
        else { return .invalidParameters }
        // Not known before features have been exchanged.
        guard link.control.peerHasSubrating else { return .unsupportedRemoteFeature }
        guard link.ending == nil else { return .commandDisallowed }
        return link.request(.subrate(wanted)) ? .success : .controllerBusy
    }
}

extension SubrateRequest {
    fileprivate init(_ command: LESetDefaultSubrate) {
        self.init(
            factorMin: command.subrateMin,
            factorMax: command.subrateMax,
            maxLatency: command.maxLatency,
            continuation: command.continuation,
            timeout: command.supervisionTimeout
        )
    }
}
