import BluetoothTypes
import HCI

/// What the host does otherwise with its controller.
extension HCIHost {
    /// What is known of a controller, and what is being tried.
    func fallbacks(of controller: ControllerInformation) -> Set<ControllerFallback> {
        var known = memory.fallbacks(of: controller)
        if let trial {
            known.insert(trial)
            if let opposite = trial.opposite { known.remove(opposite) }
        }
        return known
    }

    /// The controller does not answer a command. When it is the second time that it does not take one of a generation, it is
    /// driven with the other one, if it has it: once may be chance.
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
        // There is no way back to commands that have turned out to be of no use.
        guard memory.fallbacks(of: controller).isDisjoint(with: [.legacyCommands, .extendedCommands]) else { return }
        guard memory.noteHang(of: controller) else { return }
        memory.note(wanted, of: controller)
    }

    /// The commands of version 4.0 that those of version 5.0 take the place of.
    static let legacyCommands: [Opcode] = [
        LESetScanParameters.opcode, LESetScanEnable.opcode, LECreateConnection.opcode,
        LESetAdvertisingParameters.opcode,
        LESetAdvertisingData.opcode, LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode,
    ]
}
