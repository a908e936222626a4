import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCIHost
import ServiceMessages

/// An event in a Bluetooth system, and its subject.
package struct Observation: Sendable {
    /// The sequence number among the observations of the system. It only grows.
    package let number: UInt64
    /// The time on the system's loop.
    package let time: Instant
    /// The number of the observation that caused this one in the same task, such as the request that an event answers.
    package let cause: UInt64?
    package let subject: Subject
    package let content: Content
    /// The place in the app that made the request or the misuse, while something listens that asks for places.
    package var site: CallSite?

    package init(
        number: UInt64,
        time: Instant,
        cause: UInt64?,
        subject: Subject,
        content: Content,
        site: CallSite? = nil
    ) {
        (self.number, self.time, self.cause) = (number, time, cause)
        (self.subject, self.content, self.site) = (subject, content, site)
    }

    /// The subject of an observation. Properties that do not apply are nil.
    package struct Subject: Hashable, Sendable {
        package var app: AppIdentity?
        /// The number of the manager within its app.
        package var manager: ManagerID?
        package var peer: UUID?
        package var link: ConnectionHandle?

        package init(
            app: AppIdentity? = nil,
            manager: ManagerID? = nil,
            peer: UUID? = nil,
            link: ConnectionHandle? = nil
        ) {
            self.app = app
            self.manager = manager
            self.peer = peer
            self.link = link
        }
    }

    /// Kinds of observations, for filtering.
    package struct Kinds: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16

        // Compared for each event that no listener wants.
        @inlinable
        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// Radio states, and failures of the controller.
        package static let state = Kinds(rawValue: 1 << 0)
        /// Apps and managers that come and go.
        package static let managers = Kinds(rawValue: 1 << 1)
        /// Requests and queries of apps, and events sent to them.
        package static let messages = Kinds(rawValue: 1 << 2)
        /// Links and their security.
        package static let links = Kinds(rawValue: 1 << 3)
        /// Notices to the user.
        package static let notices = Kinds(rawValue: 1 << 4)
        /// API misuse by apps.
        package static let misuse = Kinds(rawValue: 1 << 5)
        /// Errors of controllers, peers and the service that apps do not notice.
        package static let trouble = Kinds(rawValue: 1 << 6)
        /// The controller and its transport, reported by the host stack.
        package static let host = Kinds(rawValue: 1 << 7)
        /// The addresses of the device, reported by the host stack.
        package static let privacy = Kinds(rawValue: 1 << 8)
        /// Pairing, bonds and link security, reported by the host stack.
        package static let security = Kinds(rawValue: 1 << 9)
        /// Advertising, scanning and connecting, reported by the host stack.
        package static let access = Kinds(rawValue: 1 << 10)
        /// Signs that matter to advice alone.
        package static let practices = Kinds(rawValue: 1 << 11)
        /// No kind, but a property of a tool's stream: the number of discoveries in a second is limited.
        package static let thinned = Kinds(rawValue: 1 << 15)
        package static let all = Kinds(rawValue: .max)
    }

    /// The events that are observed.
    package enum Content: Sendable {
        /// The radio state changed, as reported to managers.
        case stateChanged(ManagerState)
        /// There is no working controller.
        case controllerFailed(HCIHostError)
        /// A step in the recovery of a controller that fails.
        case recovery(RecoveryReport)
        case managerOpened(ManagerRole)
        case managerClosed
        case appMoved(AppPhase)
        /// The app started a Live Activity, or it ended. `isPrivileged`: the app has the privileges of the foreground
        /// with it (behaviour 9.17).
        case liveActivity(isShown: Bool, isPrivileged: Bool)
        /// An app was launched to receive events.
        case appLaunched(RestoreIdentifiers)
        /// An app was not running for too long, so this number of events was lost.
        case eventsLost(Int)
        case requested(Request)
        /// An app sent a query and waits for the answer.
        case asked(Query)
        case delivered(Event)
        case linkMade
        case linkEnded(HCIStatus)
        case secured(LinkSecurity)
        /// The connection parameters that this side requested are in effect.
        case parametersUpdated
        case noticed(SystemNotice)
        /// A call of the app that has no effect, and why (behaviour 1.26). `isToldToApp`: the app's own log has it.
        case misused(String, isToldToApp: Bool)
        /// A problem, with a description and its weight.
        case trouble(String, EventWeight)
        /// A sign of a good practice that is broken.
        case practiced(Practice)
        case below(any StackEvent)
    }
}

extension Observation.Content {
    package var kind: Observation.Kinds {
        switch self {
        case .stateChanged, .controllerFailed, .recovery: .state
        case .managerOpened, .managerClosed, .appMoved, .liveActivity, .appLaunched, .eventsLost: .managers
        case .requested, .asked, .delivered: .messages
        case .linkMade, .linkEnded, .secured, .parametersUpdated: .links
        case .noticed: .notices
        case .misused: .misuse
        case .trouble: .trouble
        case .practiced: .practices
        case .below(let event): Observation.Kinds(type(of: event).module)
        }
    }
}

/// An event in a simulated world, for tools that tell its story.
package enum WorldEvent: Sendable {
    /// An event in the system of a device.
    case observed(Observation)
    /// A call that changed a device or its surroundings, in words.
    case changed(String)
    /// A call without effect, and why.
    case ignored(String)
}

/// A value that an app is notified of. It is by far the most frequent event.
package struct ValueArrival: Sendable {
    package let app: AppIdentity
    package let manager: ManagerID
    package let peer: UUID
    package let handle: AttributeHandle
    package let octets: Int
    /// The time on the system's loop.
    package let time: Instant

    package init(
        app: AppIdentity,
        manager: ManagerID,
        peer: UUID,
        handle: AttributeHandle,
        octets: Int,
        time: Instant
    ) {
        (self.app, self.manager, self.peer) = (app, manager, peer)
        (self.handle, self.octets, self.time) = (handle, octets, time)
    }
}

/// A sign of a broken good practice that is no event by itself.
package enum Practice: Sendable {
    case noted(AppNote)
    /// A peer requested parameters of the connection that Apple's rules forbid (behaviour 3.27): the parameters, the
    /// bounds that they break, and what would be accepted, as a clause.
    case parametersRefused(explanation: String)
    /// A peer's attribute table breaks a rule, and discovery works around it: what is wrong (AB-A08).
    case flawedTable(String)
    /// The link to a bonded peer ended, and its table has no Service Changed characteristic.
    case noServiceChanged
}

extension Observation.Kinds {
    package init(_ module: StackModule) {
        switch module {
        case .host: self = .host
        case .privacy: self = .privacy
        case .security: self = .security
        case .access: self = .access
        }
    }
}
