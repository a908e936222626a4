import BluetoothTypes
import EventLoops
import Foundation
import GAP
import HCI
import HCIHost

/// Something that happened in a Bluetooth system, and what it is about.
package struct Observation: Sendable {
    /// Counts what a system's observers were told of; it grows.
    package let number: UInt64
    /// When, on the system's loop.
    package let time: Instant
    /// The observation that this one came of, within the same task of the loop: an app's request, of which an event came at once.
    package let cause: UInt64?
    /// Whose it is.
    package let subject: Subject
    /// What happened.
    package let happening: Happening

    /// Who and what an observation is about, as far as there is one.
    package struct Subject: Hashable, Sendable {
        package var app: AppIdentity?
        /// The manager's number in its app.
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

    /// Kinds of observations, for who does not want all of them.
    package struct Kinds: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The state of the radio, and why there is none.
        package static let state = Kinds(rawValue: 1 << 0)
        /// Managers that come and go.
        package static let managers = Kinds(rawValue: 1 << 1)
        /// What apps ask for, and what they are told.
        package static let messages = Kinds(rawValue: 1 << 2)
        /// Links, and how well they are protected.
        package static let links = Kinds(rawValue: 1 << 3)
        /// What the person is told.
        package static let notices = Kinds(rawValue: 1 << 4)
        /// Mistakes of apps.
        package static let misuse = Kinds(rawValue: 1 << 5)
        /// What the controller or a peer did that has no effect for apps.
        package static let trouble = Kinds(rawValue: 1 << 6)
        /// The controller and its line, below.
        package static let host = Kinds(rawValue: 1 << 7)
        /// The addresses of the device, below.
        package static let privacy = Kinds(rawValue: 1 << 8)
        /// Pairing, bonds and the protection of links, below.
        package static let security = Kinds(rawValue: 1 << 9)
        /// Advertising, scanning and connecting, below.
        package static let access = Kinds(rawValue: 1 << 10)
        /// All of them.
        package static let all = Kinds(rawValue: .max)
    }

    /// What can happen.
    package enum Happening: Sendable {
        /// The state of the radio, as managers see it.
        case stateChanged(ManagerState)
        /// There is no controller that works.
        case controllerFailed(HCIHostError)
        /// What is done about one that fails.
        case recovery(RecoveryReport)
        case managerOpened(ManagerRole)
        case managerClosed
        /// An app is somewhere else in its life.
        case appMoved(AppPhase)
        /// An app that does not run has to hear of something.
        case appLaunched(RestoreIdentifiers)
        /// An app was away for too long: so many events are lost for it.
        case eventsLost(Int)
        /// An app asked for something.
        case requested(Request)
        /// An app asked, and waits.
        case asked(Query)
        /// An app is told.
        case told(Event)
        case linkMade
        case linkEnded(AccessLink.End)
        /// The link is protected in another way.
        case secured(LinkSecurity)
        case noticed(SystemNotice)
        /// What the app did that has no effect, and why (behaviour 1.26); `isToldToApp` when the app's own log has it.
        case misused(String, isToldToApp: Bool)
        /// In words, how much it matters.
        case trouble(String, HappeningWeight)
        /// In a room of the host stack.
        case below(any StackHappening)
    }
}

extension Observation.Happening {
    /// Which kind it is of.
    package var kind: Observation.Kinds {
        switch self {
        case .stateChanged, .controllerFailed, .recovery: .state
        case .managerOpened, .managerClosed, .appMoved, .appLaunched, .eventsLost: .managers
        case .requested, .asked, .told: .messages
        case .linkMade, .linkEnded, .secured: .links
        case .noticed: .notices
        case .misused: .misuse
        case .trouble: .trouble
        case .below(let happening): Observation.Kinds(type(of: happening).room)
        }
    }
}

extension Observation.Kinds {
    /// What happens in a room of the host stack.
    package init(_ room: StackRoom) {
        switch room {
        case .host: self = .host
        case .privacy: self = .privacy
        case .security: self = .security
        case .access: self = .access
        }
    }
}
