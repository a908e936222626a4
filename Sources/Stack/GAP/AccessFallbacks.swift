import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Security

/// Finds and applies fall-backs for a controller that does not work as it claims.
///
/// If the controller refuses a command or receives nothing while scanning, another way is tried. The result is
/// remembered (`Documentation/Quirks.md`).
final class AccessFallbacks {
    private unowned let access: GenericAccess
    private var turns = RadioTurns()
    private var turnTimer: ScheduledTask?
    /// The fall-back to apply once no link would be lost.
    private var wanted: ControllerFallback?
    private var isTrial = false
    /// Runs while a trial has had a result that may be a coincidence.
    private var doubt: ScheduledTask?

    init(_ access: GenericAccess) { self.access = access }

    func begin() {
        for role in QuietMachine.User.allCases {
            user(role).onTrouble = { [weak self] in self?.handle($0, of: role) ?? false }
        }
        access.privacy.renew = { [weak self] in self?.renew($0) }
        access.scanner.onFirstReport = { [weak self] in self?.packetReceived() }
    }

    func reset() {
        wanted = nil
        if let doubt = doubt.take() { access.loop.cancel(doubt) }
        perform(turns.handle(.reset))
    }

    /// Handles trouble of a user of the radio. Returns whether the refused command will be retried with a fall-back.
    private func handle(_ trouble: ControllerTrouble, of role: QuietMachine.User) -> Bool {
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
            guard isExtended, status.meansMissingCommand, controller.supportsExtendedAdvertising,
                isUndecided(controller)
            else {
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

    /// Applies a fall-back that needs no reset.
    private func change(_ fallback: ControllerFallback, of controller: ControllerInformation) {
        report(fallback, isTrial: false)
        access.host.memory.note(fallback, of: controller)
        var controller = controller
        controller.apply(controller.fallbacks.union([fallback]))
        access.renewed(controller)
    }

    // MARK: Command generations

    /// Whether neither generation of commands has proved useless yet. There is no way back to such a generation;
    /// otherwise a controller that works with neither would be switched forever.
    private func isUndecided(_ controller: ControllerInformation) -> Bool {
        access.host.memory.fallbacks(of: controller).isDisjoint(with: [.legacyCommands, .extendedCommands])
    }

    /// Requests a fall-back that needs a reset of the controller while the radio is idle. If there are links, it waits
    /// for them to end.
    private func want(_ fallback: ControllerFallback, isTrial: Bool) {
        guard wanted == nil else { return }
        (wanted, self.isTrial) = (fallback, isTrial)
        report(fallback, isTrial: isTrial)
        if access.links.isEmpty { access.privacy.handle(.need(.renewal)) }
    }

    func linkEnded() {
        guard access.links.isEmpty else { return }
        if wanted != nil { access.privacy.handle(.need(.renewal)) } else { access.scanner.watchForSilence() }
    }

    private func renew(_ done: @escaping (ControllerInformation?) -> Void) {
        guard let fallback = wanted, let controller = access.controllerInformation else { return done(nil) }
        if isTrial {
            // Returning to what the controller claims is not a fall-back.
            let isClaimed = fallback == .extendedCommands && controller.claimsExtendedAdvertising
            access.host.tryOut(isClaimed ? nil : fallback)
        } else {
            access.host.adopt(fallback, of: controller)
        }
        let shown = access.advertiser.resolvableAddress
        let isBegun = access.host.renew { [weak self] controller in
            self?.renewed(controller, showing: shown)
            done(controller)
        }
        if !isBegun { done(nil) }
    }

    /// Called after the reset. Advertising continues with the previous address, to which a peer that has just found
    /// this device will connect.
    private func renewed(_ controller: ControllerInformation, showing address: BluetoothAddress?) {
        wanted = nil
        access.scanner.restartListening()
        access.renewed(controller)
        guard let address else { return }
        switch CommandGeneration(controller) {
        case .legacy: access.privacy.keep(address)
        case .extended: access.advertiser.keep(address)
        }
    }

    // MARK: Silent controllers

    /// Tries the other generation of commands on a controller that receives no advertisements.
    private func listenOtherwise(_ controller: ControllerInformation) {
        guard isResetHarmless, isUndecided(controller) else { return }
        if controller.supportsExtendedAdvertising {
            want(.legacyCommands, isTrial: true)
        } else if controller.leFeatures.contains(.extendedAdvertising) {
            want(.extendedCommands, isTrial: true)
        }
    }

    /// Whether a reset and legacy commands would lose nothing: there are no links, and no wanted advertisement requires
    /// extended commands.
    private var isResetHarmless: Bool {
        access.links.isEmpty && !access.advertiser.needsExtendedCommands
    }

    /// Called when the first packet since the reset is received.
    private func packetReceived() {
        guard let controller = access.controllerInformation else { return }
        guard let trial = access.host.trial, controller.fallbacks.contains(trial) else {
            return access.host.memory.forgetTrials(of: controller)
        }
        // The controller was silent with the commands it claims to support, but not with these. A single success may be
        // a coincidence: a device may just have come into range.
        guard access.host.memory.noteTrial(of: controller) else { return startDoubt() }
        access.host.adopt(trial, of: controller)
        report(trial, isTrial: false)
    }

    /// Switches back to the claimed commands after a while, when other devices are known to be in range.
    private func startDoubt() {
        if let doubt = doubt.take() { access.loop.cancel(doubt) }
        doubt = access.loop.schedule(after: ScanWatch.firstPause) { [weak self] in
            guard let self, let trial = access.host.trial, let opposite = trial.opposite else { return }
            doubt = nil
            guard isResetHarmless, access.scanner.isReceiving else { return startDoubt() }
            want(opposite, isTrial: true)
        }
    }

    // MARK: Radio turns

    private func isBusy(besides role: QuietMachine.User) -> Bool {
        QuietMachine.User.allCases.contains { $0 != role && user($0).isBusy }
    }

    private func user(_ role: QuietMachine.User) -> any HeldRadioUser {
        switch role {
        case .advertiser: access.advertiser
        case .scanner: access.scanner
        case .connector: access.connector
        }
    }

    private func takeTurns(_ role: QuietMachine.User, _ controller: ControllerInformation) -> Bool {
        if !controller.fallbacks.contains(.takesTurns) { change(.takesTurns, of: controller) }
        perform(turns.handle(.refused(role)))
        return true
    }

    /// Called when a link has begun, so that the connector or the advertiser has what it wanted.
    func linkBegan() {
        // A trial is not worth a link. Another one may follow after the link has ended.
        if isTrial { wanted = nil }
        perform(turns.handle(.done(.connector)))
    }

    private func perform(_ actions: [RadioTurns.Action]) {
        for action in actions {
            switch action {
            case .pause(let role): user(role).pause(.turns)
            case .resume(let role): user(role).resume(.turns)
            case .startTimer:
                turnTimer = access.loop.schedule(after: RadioTurns.turn) { [weak self] in
                    guard let self else { return }
                    turnTimer = nil
                    perform(turns.handle(.turnOver))
                }
            case .endTimer: if let turnTimer = turnTimer.take() { access.loop.cancel(turnTimer) }
            }
        }
    }

    private func report(_ fallback: ControllerFallback, isTrial: Bool) {
        access.stackEvents.report(AccessEvent.fallsBack(fallback, isTrial: isTrial))
    }
}

extension HCIStatus {
    /// Whether this status means that the controller lacks a command it claims to support. Statuses for unacceptable
    /// values are not included.
    fileprivate var meansMissingCommand: Bool {
        self == .unknownCommand || self == .unsupportedFeatureOrParameter || self == .unspecifiedError
            || self == .hardwareFailure
    }

    /// The parameter to omit from a command that names these PHYs and fails with this status; nil if neither PHY can be
    /// the reason. A controller may claim 2M and refuse it for connection requests with 0x11 or 0x12.
    fileprivate func leavesOut(of phys: LEPHYs) -> ControllerFallback? {
        let isParameter = self == .unsupportedFeatureOrParameter || self == .invalidParameters
        if phys.contains(.le2M), isParameter { return .no2MInitiating }
        return phys.contains(.coded) && !isPassing ? .noCodedPHY : nil
    }
}
