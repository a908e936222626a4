import BluetoothTypes
import EventLoops
import HCI

/// Commands for periodic advertising with responses (Core Vol 4 Part E 7.8.61, 7.8.125 to 7.8.127).
extension CommandTable {
    mutating func addPeriodicResponseCommands() {
        add(LESetPeriodicAdvertisingParametersV2.self, as: .extended, needs: .periodicResponsesAdvertiser) {
            .init($0.setParameters($1), set: $1.v1.set)
        }
        add(LESetPeriodicAdvertisingSubeventData.self, as: .extended, needs: .periodicResponsesAdvertiser) {
            .init($0.setSubeventData($1), set: $1.set)
        }
        add(LESetPeriodicAdvertisingResponseData.self, needs: .periodicResponsesScanner) { controller, command in
            guard let follower = controller.synchronizer.follower(command.sync) else {
                return .init(.unknownAdvertisingIdentifier, sync: command.sync)
            }
            return .init(follower.add(command), sync: command.sync)
        }
        add(LESetPeriodicSyncSubevent.self, needs: .periodicResponsesScanner) { controller, command in
            .init(controller.choose(command), sync: command.sync)
        }
    }
}

extension LESetPeriodicAdvertisingParametersV2 {
    var hasSubevents: Bool { timing.subevents > 0 }

    /// Whether these are valid parameters of a train (7.8.61). Without subevents or slots, the remaining ones are
    /// ignored.
    var isUsable: Bool {
        guard hasSubevents else { return true }
        let timing = normalized.timing
        guard timing.isUsable(within: v1.intervalMin) else { return false }
        // A train may use fewer slots than fit into a subevent.
        return responseSlots == 0 || timing.responseSlotDelay > 0 && timing.hasSlot(responseSlots - 1)
    }

    /// The parameters without the ignored ones.
    var normalized: Self {
        var command = self
        if !hasSubevents { (command.timing, command.responseSlots) = (LESubeventTiming(), 0) }
        if command.responseSlots == 0 {
            (command.timing.responseSlotDelay, command.timing.responseSlotSpacing) = (0, 0)
        }
        return command
    }
}

extension VirtualController {
    /// The maximum number of subevents per command (7.8.125).
    private static let maximumSubeventsAtOnce = 15

    fileprivate func setSubeventData(_ command: LESetPeriodicAdvertisingSubeventData) -> HCIStatus {
        guard advertisers[command.set] != nil else { return .unknownAdvertisingIdentifier }
        guard let train = trains[command.set], train.hasSubevents else { return .commandDisallowed }
        guard (1...Self.maximumSubeventsAtOnce).contains(command.subevents.count) else { return .invalidParameters }
        return train.supply(command.subevents)
    }

    fileprivate func choose(_ command: LESetPeriodicSyncSubevent) -> HCIStatus {
        guard let follower = synchronizer.follower(command.sync) else { return .unknownAdvertisingIdentifier }
        guard let timing = follower.train.responses?.timing else { return .commandDisallowed }
        let chosen = command.subevents.bytes
        guard (1...LESubeventTiming.maximumSubevents).contains(chosen.count), Set(chosen).count == chosen.count,
            chosen.allSatisfy({ $0 < timing.subevents })
        else { return .invalidParameters }
        follower.choose(chosen, command.properties)
        return .success
    }
}
