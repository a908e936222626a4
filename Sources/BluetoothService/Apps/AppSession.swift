import Logging

/// Says who an app is.
public struct AppIdentity: Hashable, Sendable {
    /// The name for logs.
    public var name: String

    /// An app of this name.
    public init(name: String) {
        self.name = name
    }
}

/// One manager of an app, as the service sees it.
protocol ManagerSession: AnyObject {
    /// The radio's state is another one.
    func stateChanged(to state: ManagerState)
    /// The app asks for something.
    func handle(_ request: Request)
    /// The app wants to know something.
    func answer(_ query: Query) -> Result<Reply, ServiceError>
    /// The manager is gone: ends everything it has going on.
    func close()
}

/// One app and its managers. Lives on the loop.
final class AppSession {
    let identity: AppIdentity
    private let system: BluetoothSystem
    private var managers: [ManagerID: any ManagerSession] = [:]

    init(_ identity: AppIdentity, system: BluetoothSystem) {
        self.identity = identity
        self.system = system
    }

    func openManager(_ id: ManagerID, _ role: ManagerRole, _ options: ManagerOptions, _ line: ManagerLine) {
        guard managers.count < ServiceLimits.managers else {
            system.misuse("\(identity.name) has \(ServiceLimits.managers) managers already; this one stays unsupported")
            line.send(.stateChanged(.unsupported), on: system.loop)
            return
        }
        let key = ManagerKey(system.nextManagerNumber())
        let session: any ManagerSession =
            switch role {
            case .central: CentralSession(key, line: line, system: system)
            case .peripheral: PeripheralSession(key, line: line, system: system)
            }
        managers[id] = session
        system.add(session, key)
    }

    func closeManager(_ id: ManagerID) {
        guard let session = managers.removeValue(forKey: id) else { return }
        system.remove(session)
        session.close()
    }

    func close() {
        for id in managers.keys.sorted(by: { $0.rawValue < $1.rawValue }) { closeManager(id) }
    }

    func handle(_ request: Request, from id: ManagerID) {
        managers[id]?.handle(request)
    }

    func answer(_ query: Query, from id: ManagerID) -> Result<Reply, ServiceError> {
        managers[id]?.answer(query) ?? .failure(.noManager)
    }
}

/// Names a manager among those of all apps.
struct ManagerKey: Hashable {
    let number: UInt64

    init(_ number: UInt64) {
        self.number = number
    }
}

extension ServiceError {
    /// A message is from a manager that is not there any more, or never was.
    static let noManager = ServiceError(.operationCancelled, reason: "the manager is closed")
}
