import BluetoothService
import Foundation
import Synchronization

/// What central and peripheral managers have in common.
open class CBManager: NSObject, @unchecked Sendable {
    // Safe: the only state is in a mutex.
    private struct Core {
        var state = CBManagerState.unknown
        var link: ManagerLink?
    }

    private let core = Mutex(Core())

    /// Opens a manager of the service. Its events go to ``receive(_:)`` on `queue`; nil means the main queue.
    init(role: ManagerRole, options: ManagerOptions, queue: DispatchQueue?) {
        super.init()
        // The first event may come on another thread while this still runs; it waits for the link to be in place.
        core.withLock { core in
            core.link = ManagerLink(
                role,
                options: options,
                queue: queue ?? .main,
                connection: ServiceLocator.connect(otherwise: ProcessService.connection),
                of: self
            )
        }
    }

    deinit {
        link?.close()
    }

    /// What the manager can do now; `unknown` at first, and only with `poweredOn` does it take commands. Changes come
    /// through the delegate.
    open var state: CBManagerState { core.withLock { $0.state } }

    /// Whether this app may use Bluetooth, as the service says; it can be asked for before there is a manager, and asks nobody.
    /// Without a service nobody forbids it.
    open class var authorization: CBManagerAuthorization {
        SystemInfo.current.flatMap { CBManagerAuthorization(rawValue: $0.permission.rawValue) } ?? .allowedAlways
    }

    /// Whether this app may use Bluetooth.
    open var authorization: CBManagerAuthorization { Self.authorization }

    /// The line to the service.
    final var link: ManagerLink? { core.withLock { $0.link } }

    /// The line to the service if the manager takes commands now. If not the log says so, and the command is to be
    /// ignored (behaviour 1.6).
    ///
    /// - Parameter tell: Tells the delegate, in strict mode.
    final func linkForCommand(
        _ command: String = #function,
        _ tell: (@Sendable (any Error) -> Void)? = nil
    ) -> ManagerLink? {
        let (state, link) = core.withLock { ($0.state, $0.link) }
        if state == .poweredOn { return link }
        misused(
            "\(self) can only accept this command while in the powered on state: \(command)",
            .operationNotSupported,
            tell
        )
        return nil
    }

    /// The app broke a rule. In strict mode its delegate hears of it too.
    final func misused(_ text: String, _ code: CBError.Code, _ tell: (@Sendable (any Error) -> Void)?) {
        Misuse.report(text)
        guard Misuse.isStrict, let tell else { return }
        link?.callBack { tell(Misuse.error(code, text)) }
    }

    /// Takes a new state.
    final func setState(_ state: ManagerState) -> CBManagerState {
        let new = CBManagerState(rawValue: state.rawValue) ?? .unknown
        core.withLock { $0.state = new }
        return new
    }

    /// Takes what the service says, on the queue.
    func receive(_ event: Event) {}

    /// The class and where the object is.
    open override var description: String { "<\(nameAndAddress)>" }
}
