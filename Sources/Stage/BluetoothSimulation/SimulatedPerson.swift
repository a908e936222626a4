import BluetoothService
import EventLoops
import ServiceMessages

/// The person who holds a ``SimulatedDevice``: reads its alerts, looks at other devices for a code, and reacts in the
/// time of the world.
///
/// By default the person declines every alert. All methods may be called from any thread.
public final class SimulatedPerson: Sendable {
    /// A person's reaction to pairing alerts.
    public enum Habit: Sendable {
        /// Presses "Cancel" in every alert. The default.
        case declines
        /// Leaves every alert without an answer.
        case ignores
        /// Pairs. The person types the code that one of these devices shows, as soon as it appears, and compares
        /// numbers with theirs, declining if they differ.
        case agrees(lookingAt: [SimulatedDevice])
        /// Does what the function returns. It is called on the loop.
        case scripted(@Sendable (PairingAlert) -> PairingReaction)
    }

    private let attention: LoopBound<Attention>

    init(_ attention: Attention, loop: any EventLoop) {
        self.attention = LoopBound(attention, loop: loop)
    }

    /// Sets the person's reaction to alerts from now on.
    ///
    /// - Parameters:
    ///   - habit: The reaction.
    ///   - delay: The time between the appearance of an alert and the reaction.
    public func behaves(_ habit: Habit, after delay: Duration = .zero) {
        attention.with { $0.behaves(Attention.Habit(habit), after: delay) }
    }

    /// Sets the person's answer to apps that want to use Bluetooth, from now on and for questions without an answer.
    ///
    /// By default the person allows nothing.
    ///
    /// - Parameter answer: Returns the answer to a question. Called on the loop.
    public func permits(_ answer: @escaping @Sendable (PermissionQuestion) -> PermissionAnswer) {
        attention.with {
            $0.permits = answer
            $0.answerQuestions()
        }
    }

    /// Sets the person's answers to the views of AccessorySetupKit, from now on and for those that are open
    /// (behaviour 16.3).
    ///
    /// By default the person cancels them. A picker has no offers at first. It asks again with each accessory that it
    /// finds.
    ///
    /// - Parameter answer: Returns the answer to a view, or nil to wait. Called on the loop.
    public func answersAboutAccessories(_ answer: @escaping @Sendable (AccessoryQuestion) -> PersonAnswer?) {
        attention.with {
            $0.manages = answer
            $0.answerAccessoryQuestion()
        }
    }

    /// The views of AccessorySetupKit that the person was shown, the oldest first. A picker counts for each change.
    public var accessoryQuestions: [AccessoryQuestion] {
        attention.with { $0.accessoryQuestions }
    }

    /// Removes an accessory from an app in the settings (behaviour 16.7).
    ///
    /// - Parameters:
    ///   - name: The name of the accessory for the user.
    ///   - app: The name of the app.
    /// - Returns: Whether the app has such an accessory.
    @discardableResult
    public func removesAccessory(_ name: String, ofApp app: String) -> Bool {
        attention.with { $0.change(accessory: name, of: app) { $0.remove($1, of: $2) } }
    }

    /// Gives an accessory of an app another name in the settings (behaviour 16.8).
    ///
    /// - Parameters:
    ///   - name: The name of the accessory for the user.
    ///   - new: Its new name.
    ///   - app: The name of the app.
    /// - Returns: Whether the app has such an accessory.
    @discardableResult
    public func renamesAccessory(_ name: String, to new: String, ofApp app: String) -> Bool {
        attention.with { $0.change(accessory: name, of: app) { $0.rename($1, of: $2, to: new) } }
    }

    /// Changes an app's permission to use Bluetooth in the settings.
    ///
    /// As iOS does, the device ends the app if it is running and managed (behaviour 1.27).
    ///
    /// - Parameters:
    ///   - name: The name of the app.
    ///   - permission: The permission.
    public func changesPermission(ofApp name: String, to permission: AppPermission) {
        attention.with { $0.system?.apps.permissions.change(to: permission, for: AppIdentity(name: name)) }
    }

    /// Switches airplane mode.
    ///
    /// It switches Bluetooth off, unless the person has switched Bluetooth on in airplane mode before
    /// (behaviour 10.23).
    ///
    /// - Parameter isOn: Whether airplane mode is on.
    public func switchesAirplaneMode(_ isOn: Bool) {
        attention.with {
            $0.note("the user switches airplane mode \(isOn ? "on" : "off")")
            $0.system?.controllers.setAirplaneMode(isOn)
        }
    }

    /// Unlocks the device after a restart with a passcode (behaviour 10.24).
    public func unlocks() {
        attention.with {
            $0.note("the user unlocks the device")
            $0.system?.apps.preservation.isLocked = false
        }
    }

    /// The questions about apps that the person was asked, the oldest first.
    public var permissionQuestions: [PermissionQuestion] {
        attention.with { $0.permissionQuestions }
    }

    /// Adds an observer of alerts.
    ///
    /// - Parameter observer: Called on the loop when an alert appears.
    public func watchAlerts(_ observer: @escaping @Sendable (PairingAlert) -> Void) {
        attention.with { $0.observers.append(observer) }
    }

    /// The alerts on the screen, the oldest first.
    public var alerts: [PairingAlert] {
        attention.with { $0.alerts }
    }

    /// The other notices of the system, such as that Bluetooth is off, the oldest first.
    public var notices: [String] {
        attention.with { $0.notices }
    }
}

extension Attention.Habit {
    fileprivate init(_ habit: SimulatedPerson.Habit) {
        switch habit {
        case .declines: self = .declines
        case .ignores: self = .ignores
        case .agrees(let devices): self = .agrees { devices.map(\.attention) }
        case .scripted(let script): self = .scripted(script)
        }
    }
}
