import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Privacy

/// Drives a controller otherwise that does not do what it says: it is tried, and where it refuses or hears nothing something else
/// is done, which is remembered (`Documentation/Quirks.md`).
final class AccessFallbacks {
    private unowned let access: GenericAccess
    private var turns = RadioTurns()
    private var turnTimer: ScheduledTask?
    /// What is to be changed when there is no link that would be lost.
    private var wanted: ControllerFallback?
    private var isTrial = false
    /// Runs while a trial has led to something that may have been chance.
    private var doubt: ScheduledTask?

    init(_ access: GenericAccess) { self.access = access }

    func begin() {
        access.advertiser.onTrouble = { [weak self] in self?.handle($0, of: .advertiser) ?? false }
        access.scanner.onTrouble = { [weak self] in self?.handle($0, of: .scanner) ?? false }
        access.connector.onTrouble = { [weak self] in self?.handle($0, of: .connector) ?? false }
        access.privacy.renew = { [weak self] in self?.renew($0) }
        access.scanner.onFirstHeard = { [weak self] in self?.heard() }
    }

    func reset() {
        wanted = nil
        endDoubt()
        perform(turns.handle(.reset))
    }

    /// Whether what is refused will be tried again, when something else has been done.
    private func handle(_ trouble: ControllerTrouble, of role: RadioTurns.Role) -> Bool {
        guard let controller = access.controllerInformation else { return false }
        switch trouble {
        case .refused(.refused(let opcode, let status), let phys):
            if let fallback = status.leavesOut(of: phys), !controller.fallbacks.contains(fallback) {
                change(fallback, of: controller)
                return true
            }
            if status == .commandDisallowed, turns.isHeld(by: role) || isBusy(besides: role) {
                return takeTurns(role, controller)
            }
            let isExtended = ControllerInformation.extendedCommands.contains { $0.opcode == opcode }
            guard isExtended, status.isLie, controller.supportsExtendedAdvertising, isUndecided(controller) else {
                return false
            }
            want(.legacyCommands, isTrial: false)
            return true
        case .refused: return false
        case .silent:
            listenOtherwise(controller)
            return false
        case .needsTurn(let role):
            guard isBusy(besides: role) else { return false }
            perform(turns.handle(.refused(role)))
            return true
        }
    }

    /// Drives the controller otherwise from now on. That needs no reset.
    private func change(_ fallback: ControllerFallback, of controller: ControllerInformation) {
        tell(fallback, isTrial: false)
        access.host.memory.note(fallback, of: controller)
        var controller = controller
        controller.take(controller.fallbacks.union([fallback]))
        access.renewed(controller)
    }

    // MARK: The other commands

    /// Whether the one generation of commands has not yet turned out to be of no use: there is no way back to it, which would go
    /// on for ever with a controller that can be driven with neither.
    private func isUndecided(_ controller: ControllerInformation) -> Bool {
        access.host.memory.fallbacks(of: controller).isDisjoint(with: [.legacyCommands, .extendedCommands])
    }

    /// The controller is reset in the quiet. Where it would cost links it waits for their end.
    private func want(_ fallback: ControllerFallback, isTrial: Bool) {
        guard wanted == nil else { return }
        (wanted, self.isTrial) = (fallback, isTrial)
        tell(fallback, isTrial: isTrial)
        if access.links.isEmpty { access.privacy.handle(.need(.renewal)) }
    }

    func linkEnded() {
        guard access.links.isEmpty else { return }
        if wanted != nil { access.privacy.handle(.need(.renewal)) } else { access.scanner.watchForSilence() }
    }

    private func renew(_ done: @escaping (ControllerInformation?) -> Void) {
        guard let fallback = wanted, let controller = access.controllerInformation else { return done(nil) }
        if isTrial {
            // Back to what it claims is no fall-back.
            let isClaimed = fallback == .extendedCommands && controller.claimsExtendedAdvertising
            access.host.trial = isClaimed ? nil : fallback
        } else {
            access.host.trial = nil
            access.host.memory.note(fallback, of: controller)
        }
        let shown = access.advertiser.resolvableAddress
        let isBegun = access.host.renew { [weak self] controller in
            self?.renewed(controller, showing: shown)
            done(controller)
        }
        if !isBegun { done(nil) }
    }

    /// What was advertised goes on with the address that it had: whoever has just found this device connects to that.
    private func renewed(_ controller: ControllerInformation, showing address: BluetoothAddress?) {
        wanted = nil
        access.scanner.listensAnew()
        access.renewed(controller)
        guard let address else { return }
        switch CommandGeneration(controller) {
        case .legacy: access.privacy.keep(address)
        case .extended: access.advertiser.keep(address)
        }
    }

    // MARK: Silence

    /// A controller that hears nobody is tried with the other commands.
    private func listenOtherwise(_ controller: ControllerInformation) {
        guard disturbsNobody, isUndecided(controller) else { return }
        if controller.supportsExtendedAdvertising {
            want(.legacyCommands, isTrial: true)
        } else if controller.leFeatures.contains(.extendedAdvertising) {
            want(.extendedCommands, isTrial: true)
        }
    }

    /// Whether nothing is lost by a reset, and by the commands of version 4.0: there are no links, and no trains, and nobody
    /// advertises what these commands cannot say.
    private var disturbsNobody: Bool {
        access.links.isEmpty && access.trains.followed.isEmpty && !access.advertiser.needsExtendedCommands
    }

    /// Somebody has been heard, for the first time since the controller was reset.
    private func heard() {
        guard let controller = access.controllerInformation else { return }
        guard let trial = access.host.trial, controller.fallbacks.contains(trial) else {
            return access.host.memory.forgetTrials(of: controller)
        }
        // Silent with what it claims, and not with this. Once may be chance: somebody may have come just now.
        guard access.host.memory.noteTrial(of: controller) else { return startDoubt() }
        access.host.trial = nil
        access.host.memory.note(trial, of: controller)
        tell(trial, isTrial: false)
    }

    /// After a while it is driven as it claims again, while somebody is there to be heard.
    private func startDoubt() {
        endDoubt()
        doubt = access.loop.schedule(after: ScanWatch.firstPause) { [weak self] in
            guard let self, let trial = access.host.trial, let opposite = trial.opposite else { return }
            doubt = nil
            guard disturbsNobody, access.scanner.hearsNow else { return startDoubt() }
            want(opposite, isTrial: true)
        }
    }

    private func endDoubt() {
        if let doubt { access.loop.cancel(doubt) }
        doubt = nil
    }

    // MARK: Turns

    private func isBusy(besides role: RadioTurns.Role) -> Bool {
        RadioTurns.Role.allCases.contains { $0 != role && isBusy($0) }
    }

    private func isBusy(_ role: RadioTurns.Role) -> Bool {
        switch role {
        case .advertiser: access.advertiser.isBusy
        case .scanner: access.scanner.isBusy
        case .connector: access.connector.isBusy
        }
    }

    private func takeTurns(_ role: RadioTurns.Role, _ controller: ControllerInformation) -> Bool {
        if !controller.fallbacks.contains(.takesTurns) { change(.takesTurns, of: controller) }
        perform(turns.handle(.refused(role)))
        return true
    }

    /// A link has begun: the connector, or the advertiser, has what it wanted.
    func linkBegan() {
        // No link is worth a trial. When it has ended there may be another one.
        if isTrial { wanted = nil }
        perform(turns.handle(.done(.connector)))
    }

    private func perform(_ actions: [RadioTurns.Action]) {
        for action in actions {
            switch action {
            case .pause(.advertiser): access.advertiser.pause(.turns)
            case .pause(.scanner): access.scanner.pause(.turns)
            case .pause(.connector): access.connector.pause(.turns)
            case .resume(.advertiser): access.advertiser.resume(.turns)
            case .resume(.scanner): access.scanner.resume(.turns)
            case .resume(.connector): access.connector.resume(.turns)
            case .startTimer:
                turnTimer = access.loop.schedule(after: RadioTurns.turn) { [weak self] in
                    guard let self else { return }
                    turnTimer = nil
                    perform(turns.handle(.turnOver))
                }
            case .endTimer:
                if let turnTimer { access.loop.cancel(turnTimer) }
                turnTimer = nil
            }
        }
    }

    private func tell(_ fallback: ControllerFallback, isTrial: Bool) {
        access.happenings.tell(AccessHappening.fallsBack(fallback, isTrial: isTrial))
    }
}

extension HCIStatus {
    /// Whether a controller that refuses so a command that it lists does not know it after all. That is not said of values
    /// that it does not like.
    fileprivate var isLie: Bool {
        self == .unknownCommand || self == .unsupportedFeatureOrParameter || self == .unspecifiedError
            || self == .hardwareFailure
    }

    /// The parameter to leave out of a command that names these PHYs and is refused with this status; nil where neither PHY can be
    /// the reason. A controller may list 2M and refuse it for connection requests with 0x11 or 0x12.
    fileprivate func leavesOut(of phys: LEPHYs) -> ControllerFallback? {
        let isParameter = self == .unsupportedFeatureOrParameter || self == .invalidParameters
        if phys.contains(.le2M), isParameter { return .no2MInitiating }
        return phys.contains(.coded) && !isPassing ? .noCodedPHY : nil
    }
}
