import BluetoothService
import EventLoops

/// The person who has a ``SimulatedDevice`` in hand: sees its alerts, looks at other devices for a code, and reacts in the
/// time of the world.
///
/// At first a person declines whatever is asked. Everything may be called from any thread.
public final class SimulatedPerson: Sendable {
    /// What a person makes of alerts.
    public enum Habit: Sendable {
        /// Presses "Cancel".
        case declines
        /// Does not look.
        case ignores
        /// Wants to pair: types the code that one of these devices shows, and waits for one to appear; compares numbers with
        /// theirs, and declines when they differ.
        case agrees(lookingAt: [SimulatedDevice])
        /// Does what the function says, which is called on the loop.
        case scripted(@Sendable (PairingAlert) -> PairingReaction)
    }

    let attention: LoopBound<Attention>

    init(_ attention: Attention, loop: any EventLoop) {
        self.attention = LoopBound(attention, loop: loop)
    }

    /// From now on the person does `habit` about each alert, some time after it has appeared.
    public func behaves(_ habit: Habit, after delay: Duration = .zero) {
        attention.with { $0.behaves(habit, after: delay) }
    }

    /// From now on the person says this to apps that want to use Bluetooth; those that were asked about and got no answer are looked
    /// at again. Called on the loop. At first the person allows nothing.
    public func permits(_ answer: @escaping @Sendable (PermissionQuestion) -> PermissionAnswer) {
        attention.with {
            $0.permits = answer
            $0.answerQuestions()
        }
    }

    /// Changes in the settings whether an app may use Bluetooth. iOS ends an app that runs with that, and so does this device with a managed
    /// one (behaviour 1.27).
    public func changesPermission(ofApp name: String, to permission: AppPermission) {
        attention.with { $0.system?.changePermission(permission, for: AppIdentity(name: name)) }
    }

    /// Switches airplane mode. Bluetooth goes off with it, unless the person has switched Bluetooth on beside it before (behaviour 10.23).
    public func switchesAirplaneMode(_ isOn: Bool) {
        attention.with { $0.system?.setAirplaneMode(isOn) }
    }

    /// Unlocks the device, which was restarted with a passcode (behaviour 10.24).
    public func unlocks() {
        attention.with { $0.system?.isLocked = false }
    }

    /// What the person was asked about apps, the oldest first.
    public var permissionQuestions: [PermissionQuestion] {
        attention.with { $0.permissionQuestions }
    }

    /// Tells `observer` of each alert when it appears. Called on the loop.
    public func watchAlerts(_ observer: @escaping @Sendable (PairingAlert) -> Void) {
        attention.with { $0.observers.append(observer) }
    }

    /// What is on the screen now, the oldest first.
    public var alerts: [PairingAlert] {
        attention.with { $0.alerts }
    }

    /// What the system has told the person besides, the oldest first.
    public var notices: [String] {
        attention.with { $0.notices }
    }
}
