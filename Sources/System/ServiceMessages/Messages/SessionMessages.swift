import BluetoothTypes

/// The first message of a process to the service, sent once. It determines the messages that follow in both directions.
public enum Opening: Hashable, Sendable {
    /// An app. It continues with ``AppMessage``, and receives ``ServiceMessage``.
    case app(Hello)
    /// A tool of the user, with the protocol version that it implements.
    case tool(version: UInt16)
}

/// A message of an app's process to the service.
public enum AppMessage: Hashable, Sendable {
    /// Opens a manager, whose number the app chooses.
    case openManager(ManagerID, ManagerRole, ManagerOptions)
    /// Closes a manager and ends all its activity.
    case closeManager(ManagerID)
    /// A request of a manager.
    case request(ManagerID, Request)
    /// A query of a manager. The reply repeats its number.
    case query(ManagerID, number: UInt32, Query)
    /// Reports why a call of the app had no effect. The app's own log contains it already (behaviour 1.26).
    case misuse(String)
    /// The number of events that have been delivered to the app since the manager was opened, without events of
    /// channels. Sent for managers with a restore identifier; one message may cover many events.
    case eventsRead(ManagerID, count: UInt64)
    /// The number of the place in the app that the next message is about. Sent before ``request(_:_:)``,
    /// ``misuse(_:)`` and ``note(_:_:)``, after ``ServiceMessage/adviceWanted(_:)`` with true.
    case callSite(UInt32)
    /// A report of the app's side about a manager, for advice. Sent after ``ServiceMessage/adviceWanted(_:)`` with
    /// true.
    case note(ManagerID, AppNote)
    /// The file and line of a place, or what is known instead. Answers ``ServiceMessage/placeWanted(_:)``; nil if
    /// nothing is known.
    case place(UInt32, String?)
}

/// A message of the service to an app's process.
public enum ServiceMessage: Hashable, Sendable {
    /// The answer to ``Opening``.
    case welcome(Welcome)
    /// An event for a manager.
    case event(ManagerID, Event)
    /// The reply to the query with this number.
    case reply(number: UInt32, Result<Reply, ServiceError>)
    /// The service closes the conversation for this reason.
    case goodbye(ServiceError)
    /// Whether something listens for advice about apps, from now on. Before the first of these, nothing does.
    case adviceWanted(Bool)
    /// Asks for the file and line of the place with this number (``AppMessage/callSite(_:)``).
    case placeWanted(UInt32)
}

/// The first message of an app.
public struct Hello: Hashable, Sendable {
    /// The protocol version of this code. Other versions are refused, since both sides come from one release.
    public static let version: UInt16 = 11

    /// The protocol version of the app's side.
    public var version = Hello.version
    /// The identity of the app.
    public var app: AppIdentity
    /// The properties that the app declares.
    public var declaration: AppDeclaration

    /// Creates the first message of an app of this version.
    ///
    /// - Parameters:
    ///   - app: The identity of the app. The service determines the owner itself.
    ///   - declaration: The properties that the app declares.
    public init(_ app: AppIdentity, declaring declaration: AppDeclaration = .unmanaged) {
        self.app = app
        self.declaration = declaration
    }
}

/// The service's answer to an app, with the limits that the app has to observe.
public struct Welcome: Hashable, Sendable {
    /// The protocol version of the service.
    public var version = Hello.version
    /// The number of writes without response that may be queued, per manager and peripheral (behaviour 5.14).
    public var writesWithoutResponse = ServiceLimits.writesWithoutResponse
    /// The number of value updates that may be queued, per manager.
    public var valueUpdates = ServiceLimits.valueUpdates
    /// The number of managers that an app may have at a time (AB-G05).
    public var managers = ServiceLimits.managers
    /// The number of L2CAP channels that a manager may have at a time.
    public var channels = ServiceLimits.channels
    /// The number of octets that may be in transit, per channel and direction.
    public var channelWindow = ServiceLimits.channelWindow
    /// The maximum length of a message, in octets.
    public var message = ServiceLimits.message

    /// Creates the limits of this version.
    public init() {}
}

/// Identifies a channel of a manager. The service assigns the numbers and never reuses one.
public struct ChannelID: Hashable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// Creates the identifier with this number.
    public init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// A request of an app for one of its L2CAP channels.
///
/// Each side may only have as many octets in transit as the other has allowed. An app that does not read thus stops its
/// peer, and an app that writes notices when its peer stops reading (behaviour 8.13).
public enum ChannelRequest: Hashable, Sendable {
    /// Allows the service to deliver this many more octets. The first grant adopts the channel; nothing is delivered
    /// before it. Up to ``ServiceLimits/channelWindow`` octets may be granted at a time.
    case grant(Int)
    /// Sends octets. Up to ``ServiceLimits/channelWindow`` may be queued; ``ChannelEvent/room(_:)`` reports those that
    /// have left the queue.
    case send(PacketBuffer)
    /// Closes the channel after the octets sent before have gone out.
    case close
}

/// An event of a channel.
public enum ChannelEvent: Hashable, Sendable {
    /// Octets of the peer, at most as many as were granted.
    case received(PacketBuffer)
    /// This many octets of the app have left the queue.
    case room(Int)
    /// The channel has ended, in order or with an error. The last event of the channel (behaviour 8.8).
    case ended(ServiceError?)
}
