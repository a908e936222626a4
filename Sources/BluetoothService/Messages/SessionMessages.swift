import BluetoothTypes

/// What a process says to the service first of all, and once: who it is. What both sides say after it follows from that.
public enum Opening: Hashable, Sendable {
    /// An app, which goes on with ``AppMessage``, and hears ``ServiceMessage``.
    case app(Hello)
    /// A tool of the person's, with the version that it speaks.
    case tool(version: UInt16)
}

/// What the process of an app says to the service.
public enum AppMessage: Hashable, Sendable {
    /// A manager is made; the app chooses its number.
    case openManager(ManagerID, ManagerRole, ManagerOptions)
    /// A manager is gone.
    case closeManager(ManagerID)
    /// A manager asks for something.
    case request(ManagerID, Request)
    /// A manager waits for an answer, which has the same number.
    case query(ManagerID, number: UInt32, Query)
    /// The app did something that has no effect, and why; its own log has it already (behaviour 1.26).
    case misuse(String)
    /// The number of events of a manager that the app has been called with since the manager was opened. Sent for managers with a restore
    /// identifier, for many events at once where they come fast. Events of channels don't count.
    case eventsRead(ManagerID, count: UInt64)
}

/// What the service says to the process of an app.
public enum ServiceMessage: Hashable, Sendable {
    /// The answer to ``Opening``.
    case welcome(Welcome)
    /// A manager is told something.
    case event(ManagerID, Event)
    /// The answer to the query of this number.
    case reply(number: UInt32, Result<Reply, ServiceError>)
    /// The service ends the conversation, and why.
    case goodbye(ServiceError)
}

/// How an app begins.
public struct Hello: Hashable, Sendable {
    /// The version that this code speaks. Another one is refused: both sides come from one release.
    public static let version: UInt16 = 6

    /// The version that the app's side speaks.
    public var version = Hello.version
    /// Who the app is.
    public var app: AppIdentity
    /// What it says of itself.
    public var declaration: AppDeclaration

    /// The beginning of an app of this version.
    public init(_ app: AppIdentity, declaring declaration: AppDeclaration = .unmanaged) {
        self.app = app
        self.declaration = declaration
    }
}

/// How the service answers, with the bounds that an app has to keep to.
public struct Welcome: Hashable, Sendable {
    /// The version that the service speaks.
    public var version = Hello.version
    /// Writes without response, per manager and peripheral, that may wait for the controller (behaviour 5.14).
    public var writesWithoutResponse = ServiceLimits.writesWithoutResponse
    /// Value updates, per manager, that may wait for the controller.
    public var valueUpdates = ServiceLimits.valueUpdates
    /// Managers that an app may have at a time (AB-G05).
    public var managers = ServiceLimits.managers
    /// L2CAP channels that a manager may have at a time.
    public var channels = ServiceLimits.channels
    /// Octets, per channel and direction, that may be on their way.
    public var channelWindow = ServiceLimits.channelWindow
    /// Octets of a message.
    public var message = ServiceLimits.message

    /// The bounds of this version.
    public init() {}
}
