import BluetoothTypes
import HCI

/// Fallbacks for controllers that do not do what they claim.
extension HCIHost {
    /// Returns the recorded fallbacks of a controller, combined with the one on trial.
    func fallbacks(of controller: ControllerInformation) -> Set<ControllerFallback> {
        var known = memory.fallbacks(of: controller)
        if let trial {
            known.insert(trial)
            if let opposite = trial.opposite { known.remove(opposite) }
        }
        return known
    }

    /// Counts an unanswered legacy or extended command. After the second one, which rules out chance, records the
    /// fallback to the other set of commands, if the controller supports it.
    func noteHang(_ error: HCIHostError) {
        guard case .commandTimedOut(let opcode) = error, case .ready(let controller) = state,
            controller.leFeatures.contains(.extendedAdvertising)
        else { return }
        let wanted: ControllerFallback
        if Self.legacyCommands.contains(opcode), !controller.supportsExtendedAdvertising {
            wanted = .extendedCommands
        } else if ControllerInformation.extendedCommands.contains(where: { $0.opcode == opcode }),
            controller.supportsExtendedAdvertising
        {
            wanted = .legacyCommands
        } else {
            return
        }
        trial = nil
        // A set of commands that has already failed is not tried again.
        guard memory.fallbacks(of: controller).isDisjoint(with: [.legacyCommands, .extendedCommands]) else { return }
        guard memory.noteHang(of: controller) else { return }
        memory.note(wanted, of: controller)
    }

    /// The legacy commands of version 4.0 that the extended commands of version 5.0 replace.
    static let legacyCommands: [Opcode] = [
        LESetScanParameters.opcode, LESetScanEnable.opcode, LECreateConnection.opcode,
        LESetAdvertisingParameters.opcode,
        LESetAdvertisingData.opcode, LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode,
    ]
}
