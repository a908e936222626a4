import Foundation
import ServiceMessages
import Synchronization

/// The base class of ``CBCentralManager`` and ``CBPeripheralManager``: the state of Bluetooth and the app's permission.
///
/// Properties and methods of managers may be called from any thread. Delegates are called on the queue that the manager
/// was created with (behaviour 13.1).
open class CBManager: NSObject, EventReceiver, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    private struct Core {
        var state = CBManagerState.unknown
        var link: ManagerLink?
        /// Whether the app has read the state, or is known not to.
        var isStateRead = false
    }

    private let core = Mutex(Core())
    let keyValues = LazyKeyValueObservers()

    /// Registers a manager with the service.
    ///
    /// - Parameters:
    ///   - role: The kind of manager.
    ///   - options: The options to register it with.
    ///   - queue: The queue on which ``receive(_:)`` is called; nil means the main queue.
    init(role: ManagerRole, options: ManagerOptions, queue: DispatchQueue?) {
        super.init()
        // The first event may arrive on another thread before this initializer returns. The lock makes it wait for the
        // link.
        core.withLock { core in
            core.link = ManagerLink(
                role,
                options: options,
                queue: queue ?? .main,
                connection: ServiceLocator.connect(otherwise: ProcessService.connection, warn: Misuse.warnOfOutsider),
                of: self
            )
        }
    }

    deinit {
        link?.close()
    }

    /// The current state, initially `unknown` (behaviour 1.1).
    ///
    /// A manager accepts commands only while it is `poweredOn`. In any other state they have no effect but a line in
    /// the log (behaviour 1.6). Changes are reported by `centralManagerDidUpdateState(_:)` or
    /// `peripheralManagerDidUpdateState(_:)`, on the manager's queue.
    open var state: CBManagerState {
        core.withLock { core in
            core.isStateRead = true
            return core.state
        }
    }

    /// The state, for this module: that the app has read it is not noted.
    final var currentState: CBManagerState { core.withLock { $0.state } }

    /// The app's permission to use Bluetooth.
    ///
    /// You can read this property before there is a manager. Reading it never prompts the user; creating the first
    /// manager does, where the permission is not determined (behaviours 1.18, 1.20). Without a service the value is
    /// `allowedAlways`.
    ///
    /// The call blocks until the service has answered.
    open class var authorization: CBManagerAuthorization {
        SystemInfo.current.flatMap { CBManagerAuthorization(rawValue: $0.permission.rawValue) } ?? .allowedAlways
    }

    /// The app's permission to use Bluetooth, the same for all its managers (behaviour 1.20).
    open var authorization: CBManagerAuthorization { Self.authorization }

    /// The connection to the service. Nil only until the initializer has created it.
    final var link: ManagerLink? { core.withLock { $0.link } }

    /// Returns the connection to the service if the manager accepts commands. Otherwise logs misuse and returns nil,
    /// and the command is to be ignored (behaviour 1.6).
    ///
    /// - Parameters:
    ///   - command: The name of the method, for the log.
    ///   - report: Reports the error to the delegate. Called in strict mode only, on the manager's queue.
    final func linkForCommand(
        _ command: String = #function,
        _ report: (@Sendable (any Error) -> Void)? = nil
    ) -> ManagerLink? {
        let (state, link, isStateRead) = core.withLock { ($0.state, $0.link, $0.isStateRead) }
        if state == .poweredOn {
            if !isStateRead { noteUnreadState(link) }
            return link
        }
        misused(
            "\(self) can only accept this command while in the powered on state: \(command)",
            .operationNotSupported,
            report
        )
        return nil
    }

    /// Reports once that the app uses the manager without having read its state, while something listens for advice.
    private func noteUnreadState(_ link: ManagerLink?) {
        guard CallSites.isRecording else { return }
        core.withLock { $0.isStateRead = true }
        link?.note(.stateUnread)
    }

    /// Logs that the app broke a rule. In strict mode, also reports the error to the delegate, on the manager's queue.
    final func misused(_ text: String, _ code: CBError.Code, _ report: (@Sendable (any Error) -> Void)?) {
        if let link { link.report(text) } else { Misuse.report(text) }
        guard Misuse.isStrict, let report else { return }
        link?.callBack { report(Misuse.error(code, text)) }
    }

    /// Stores the new state and returns it as the API represents it.
    final func setState(_ state: ManagerState) -> CBManagerState {
        let new = CBManagerState(rawValue: state.rawValue) ?? .unknown
        core.withLock { $0.state = new }
        keyValues.check()
        return new
    }

    func receive(_ event: Event) {}

    /// Returns the value of a property by the name that Objective-C has for it. Nil if there is no such property.
    func value(named name: String) -> Any?? {
        switch name {
        case "state": state.rawValue
        case "authorization": authorization.rawValue
        default: nil
        }
    }

    /// The class and the address of the object.
    open override var description: String { "<\(nameAndAddress)>" }
}

extension CBManager: KeyValueObserved {}
