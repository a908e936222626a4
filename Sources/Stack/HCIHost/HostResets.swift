import BluetoothTypes
import EventLoops
import HCI

extension HCIHost {
    /// A reset and initialization of the controller in progress.
    struct StartUp {
        /// Whether the reset has not been answered. If the controller fails now, another reset will not help.
        var isResetting = true
        /// The completion of ``renew(_:)``; nil for a start or for the recovery from a failure.
        var renewed: ((ControllerInformation) -> Void)?
    }

    /// The reset that ends the use of the controller, which has to wait until the controller can accept a command.
    struct FinalReset {
        /// The answers still due after ``stop()``.
        private var owed: CommandQueue
        /// Called in order once the reset has been sent.
        private(set) var completions: [() -> Void] = []

        init(owed: CommandQueue) {
            self.owed = owed
        }

        var isDue: Bool { !owed.awaitsController }

        mutating func add(_ completion: @escaping () -> Void) {
            completions.append(completion)
        }

        mutating func receive(_ packet: HCIPacket) {
            guard packet.kind == .event, let event = try? EventPacket(reading: packet.bytes) else { return }
            switch event.code {
            case CommandComplete.eventCode:
                if let event = try? CommandComplete.reading(event.parameters) { _ = owed.handle(.complete(event)) }
            case CommandStatus.eventCode:
                if let event = try? CommandStatus.reading(event.parameters) { _ = owed.handle(.status(event)) }
            default: break
            }
        }
    }

    /// The resets of a failing controller, each within ``resetWindow`` of the previous one.
    struct ResetLimit {
        private var resets: [Instant] = []

        /// Records a reset.
        ///
        /// - Returns: False if there were too many.
        mutating func admit(at now: Instant) -> Bool {
            if let last = resets.last, now - last > HCIHost.resetWindow { resets = [] }
            guard resets.count < HCIHost.maximumResets else { return false }
            resets.append(now)
            return true
        }
    }
}
