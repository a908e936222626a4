import BluetoothTypes
import HCI

/// The preparation of a link for Channel Sounding, and its procedures, as initiator (Core Vol 4 Part E 7.8.130 to
/// 7.8.141): capabilities, roles, security, a configuration, and then one procedure after the other.
struct SoundingMachine {
    enum State: Hashable {
        case idle
        case readingOwnCapabilities
        case settingRoles
        case readingCapabilities
        case startingSecurity
        case configuring
        case settingParameters
        case ready
        case starting
        case measuring
        case failed(SoundingError)
    }

    enum Event {
        case start
        case measure
        /// A command was answered; with an error, if the controller has refused it.
        case answered(SoundingError?)
        case ownCapabilities(LESoundingCapabilities)
        case capabilities(HCIStatus, LESoundingCapabilities)
        case secured(HCIStatus)
        case configured(HCIStatus)
        case enabled(HCIStatus, isEnabled: Bool)
        case procedureEnded
        case stop
    }

    enum Action: Hashable {
        case readOwnCapabilities
        case setRoles
        case readCapabilities
        case startSecurity
        case configure
        case setParameters(LESoundingAntennas)
        case enable(Bool)
        /// The link is ready to measure.
        case ready
        case fail(SoundingError)
    }

    private(set) var state = State.idle
    private var own = LESoundingCapabilities()
    /// Those of which both devices have the most.
    private var antennas = LESoundingAntennas.single

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.idle, .start), (.failed, .start): return move(to: .readingOwnCapabilities, .readOwnCapabilities)
        case (.ready, .start): return [.ready]
        case (_, .answered(let error?)): return fail(error)
        case (.readingOwnCapabilities, .ownCapabilities(let capabilities)):
            own = capabilities
            return move(to: .settingRoles, .setRoles)
        case (.settingRoles, .answered): return move(to: .readingCapabilities, .readCapabilities)
        case (.settingParameters, .answered): return move(to: .ready, .ready)
        case (.readingCapabilities, .capabilities(let status, let capabilities)):
            guard status == .success else { return fail(.refused(status)) }
            guard capabilities.roles.contains(.reflector) else { return fail(.refused(.unsupportedRemoteFeature)) }
            antennas = .most(own, capabilities)
            return move(to: .startingSecurity, .startSecurity)
        case (.startingSecurity, .secured(let status)): return next(status, .configuring, .configure)
        case (.configuring, .configured(let status)): return next(status, .settingParameters, .setParameters(antennas))
        case (.ready, .measure): return move(to: .starting, .enable(true))
        case (.starting, .enabled(let status, _)):
            guard status == .success else { return fail(.refused(status)) }
            state = .measuring
            return []
        case (.measuring, .procedureEnded), (.measuring, .enabled(_, isEnabled: false)): return move(to: .ready, .ready)
        case (.measuring, .stop), (.starting, .stop): return move(to: .ready, .enable(false))
        default: return []
        }
    }

    private mutating func next(_ status: HCIStatus, _ state: State, _ action: Action) -> [Action] {
        status == .success ? move(to: state, action) : fail(.refused(status))
    }

    private mutating func move(to state: State, _ action: Action) -> [Action] {
        self.state = state
        return [action]
    }

    private mutating func fail(_ error: SoundingError) -> [Action] {
        guard state != .idle else { return [] }
        return move(to: .failed(error), .fail(error))
    }
}
