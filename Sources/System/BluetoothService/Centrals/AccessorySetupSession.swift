import BluetoothTypes
import EventLoops
import Foundation
import GAP
import Security
import ServiceMessages

/// One session of AccessorySetupKit of an app: its picker, and the accessories that it sets up (behaviours 16.1 to
/// 16.10).
final class AccessorySetupSession: LinkUser {
    /// The picker of a request.
    private struct Picker {
        /// The number of the request.
        let number: UInt32
        let items: [PickerItem]
        /// What was found, with the item that it matched.
        var found: [(offer: AccessoryQuestion.Offer, item: PickerItem)] = []
    }

    /// What is on the screen for the app.
    private enum Stage {
        case idle
        case picking(Picker)
        /// The chosen accessory is being paired. The link is there once the session uses it.
        case pairing(Picker, SetUpAccessory, PickerItem, link: (PeerLink, Attachment)?)
        /// The app has to finish the authorization (behaviour 16.6).
        case awaitingApp(Picker, SetUpAccessory, PickerItem)
        /// The user is asked for a name, as a part of the setup.
        case naming(Picker, SetUpAccessory)
        /// A view of its own: another name or another descriptor for an accessory.
        case asking(number: UInt32, (PersonAnswer) -> SetUpAccessory?)
    }

    /// How long the chosen accessory has to connect and pair.
    static let pairingTimeout = Duration.seconds(30)
    /// How long the link of a pairing stays up, for the last keys on their way to the accessory, and for the app, which
    /// is about to connect. Apple's systems keep a link for about five seconds (behaviour 3.11).
    static let linger = Duration.seconds(5)

    private let key: ManagerKey
    let manager: AppManager
    private let accessories: SetUpAccessories
    private unowned let links: SharedLinks
    private unowned let sharedScan: SharedScan
    private let loop: any EventLoop
    private var stage = Stage.idle
    private var timer: ScheduledTask?

    init(
        _ key: ManagerKey,
        of manager: AppManager,
        _ accessories: SetUpAccessories,
        _ links: SharedLinks,
        _ sharedScan: SharedScan
    ) {
        self.key = key
        self.manager = manager
        self.accessories = accessories
        self.links = links
        self.sharedScan = sharedScan
        loop = links.loop
    }

    private var app: AppIdentity { manager.subject.app ?? AppIdentity(name: "") }

    // MARK: Events

    func emit(_ kind: SetupEvent.Kind, _ accessory: SetUpAccessory? = nil, _ error: SetupError? = nil) {
        manager.deliver(.setup(.happened(kind, accessory, error)), on: loop)
    }

    private func answer(_ number: UInt32, _ error: SetupError? = nil) {
        manager.deliver(.setup(.answered(number: number, error)), on: loop)
    }

    /// Reports that the session is active, or that the version has no AccessorySetupKit (behaviour 16.1).
    func activate() {
        guard accessories.isAvailable else {
            return emit(.invalidated, nil, SetupError(.activationFailed, reason: "AccessorySetupKit needs iOS 18"))
        }
        manager.deliver(.setup(.activated(accessories.accessories(of: app))), on: loop)
    }

    // MARK: Requests

    func handle(_ request: Request) {
        guard case .setup(let number, let request) = request else {
            return manager.misuse("a session of AccessorySetupKit does not support \(request.name)")
        }
        do throws(SetupError) {
            if try !perform(request, number) { return }
            answer(number)
        } catch {
            answer(number, error)
        }
    }

    /// Returns whether the request is done already.
    private func perform(_ request: SetupRequest, _ number: UInt32) throws(SetupError) -> Bool {
        switch request {
        case .showPicker(let items, let timeout):
            try present(Picker(number: number, items: items), timeout)
            return false
        case .rename(let peer):
            try rename(peer, number)
            return false
        case .updateAuthorization(let peer, let descriptor):
            try update(peer, descriptor, number)
            return false
        case .remove(let peer):
            guard accessories.remove(peer, of: app) else { throw .unknownAccessory }
        case .finishAuthorization(let peer): try finish(peer)
        case .failAuthorization(let peer):
            guard accessories.accessory(peer, of: app)?.state == .awaitingAuthorization else { throw .notAwaiting }
            _ = accessories.remove(peer, of: app)
            if case .awaitingApp(let picker, let accessory, _) = stage, accessory.identifier == peer {
                end(picker, failedWith: SetupError(.connectionFailed, reason: "the app failed the authorization"))
            }
        }
        return true
    }

    func answer(_ query: Query) -> Result<Reply, ServiceError> {
        .failure(ServiceError(.invalidParameters, reason: "a session of AccessorySetupKit has no queries"))
    }

    // MARK: A session like any other manager

    func stateChanged(to state: ManagerState) { _ = manager.report(state, on: loop) }
    func stateToRestore() -> Event { .setup(.activated([])) }
    func carryOutIntent() {}
    var holdings: Holdings { Holdings() }

    /// The views need the app in the foreground (behaviour 16.3).
    func rulesChanged() {
        guard manager.lifecycle.phase != .foreground else { return }
        switch stage {
        case .idle: break
        case .picking(let picker), .pairing(let picker, _, _, _), .awaitingApp(let picker, _, _),
            .naming(let picker, _):
            end(picker, .inBackground)
        case .asking(let number, _):
            leaveStage()
            answer(number, .inBackground)
        }
    }

    func close() { leaveStage() }
}

// MARK: - Views

extension AccessorySetupSession {
    private var showsView: Bool { if case .idle = stage { false } else { true } }

    /// Throws if no view can be shown (behaviour 16.3).
    private func checkScreen() throws(SetupError) -> any AccessoryPrompter {
        guard manager.lifecycle.phase == .foreground else { throw .inBackground }
        guard !links.managers.sessions(as: AccessorySetupSession.self).contains(where: \.showsView) else {
            throw SetupError(.pickerAlreadyActive)
        }
        guard let prompter = accessories.prompter else {
            throw SetupError(.pickerRestricted, reason: "nothing shows the picker; for a service, `harald agent` does")
        }
        return prompter
    }

    private func ask(_ kind: AccessoryQuestion.Kind, _ offers: [AccessoryQuestion.Offer]) {
        let declaration = manager.lifecycle.declaration
        let shown = AppQuestion(app, displayName: declaration.displayName, executable: manager.lifecycle.executable)
        accessories.prompter?.askAboutAccessories(
            AccessoryQuestion(kind, of: shown, offers),
            number: key.number
        ) { [weak self] in self?.answered($0) }
    }

    private func answered(_ answer: PersonAnswer) {
        switch stage {
        case .picking(let picker): picked(answer, picker)
        case .naming(let picker, var accessory):
            if case .name(let name) = answer { accessory = accessory.renamed(to: name) ?? accessory }
            complete(picker, accessory)
        case .asking(let number, let change):
            leaveStage()
            guard let changed = change(answer) else { return self.answer(number, SetupError(.userCancelled)) }
            _ = accessories.put(changed, of: app)
            self.answer(number)
        case .idle, .pairing, .awaitingApp: break
        }
    }

    /// Ends what is going on: the view, the search and the use of a link.
    private func leaveStage() {
        let left = stage
        stage = .idle
        endTimer()
        switch left {
        case .idle: return
        case .pairing(_, let accessory, _, let link):
            if let (link, user) = link {
                link.secureLink.hasConsent = false
                loop.schedule(after: Self.linger) { link.detach(user) }
            } else {
                links.connectionUnwanted(to: accessory.identifier)
            }
            links.peers.release(accessory.identifier)
        case .picking, .naming, .asking: accessories.prompter?.closeAccessoryQuestion(key.number)
        case .awaitingApp: break
        }
        sharedScan.changed()
    }

    private func endTimer() { if let timer = timer.take() { loop.cancel(timer) } }

    private func startTimer(_ time: Duration, _ body: @escaping (AccessorySetupSession) -> Void) {
        endTimer()
        timer = loop.schedule(after: time) { [weak self] in
            self?.timer = nil
            if let self { body(self) }
        }
    }

    private func rename(_ peer: UUID, _ number: UInt32) throws(SetupError) {
        guard let accessory = accessories.accessory(peer, of: app) else { throw .unknownAccessory }
        _ = try checkScreen()
        stage = .asking(number: number) { answer in
            if case .name(let name) = answer { accessory.renamed(to: name) } else { nil }
        }
        ask(.rename, [offer(accessory)])
    }

    private func update(_ peer: UUID, _ descriptor: AccessoryDescriptor, _ number: UInt32) throws(SetupError) {
        guard let accessory = accessories.accessory(peer, of: app) else { throw .unknownAccessory }
        try check([descriptor])
        _ = try checkScreen()
        stage = .asking(number: number) { answer in
            guard answer == .accept else { return nil }
            var updated = accessory
            updated.descriptor = descriptor
            return updated
        }
        ask(.update, [offer(accessory)])
    }

    private func offer(_ accessory: SetUpAccessory) -> AccessoryQuestion.Offer {
        .init(accessory.identifier, name: accessory.name, advertisedName: links.peers[accessory.identifier]?.name)
    }
}

// MARK: - The picker

extension AccessorySetupSession {
    private func present(_ picker: Picker, _ timeout: Int?) throws(SetupError) {
        guard !picker.items.isEmpty else { throw SetupError(.invalidRequest, reason: "there are no display items") }
        try check(picker.items.map(\.descriptor))
        _ = try checkScreen()
        let migrates = picker.items.contains { $0.migrated != nil }
        // Behaviour 16.9.
        if migrates, links.managers.sessions(of: app).contains(where: { $0 is CentralSession }) {
            let reason = "accessories are migrated before the app creates a central manager"
            throw SetupError(.pickerRestricted, reason: reason)
        }
        stage = .picking(picker)
        emit(.pickerDidPresent)
        guard picker.items.contains(where: { $0.migrated == nil }) else {
            return ask(.migrate, migrating(picker).map { .init($0.identifier, name: $0.name) })
        }
        if let timeout {
            startTimer(.seconds(min(max(timeout, 1), Int(Int32.max)))) { session in
                session.end(picker, SetupError(.discoveryTimeout))
            }
        }
        sharedScan.changed()
        ask(.pick, [])
    }

    /// Throws if a descriptor is not valid. An app with one that it has not declared crashes (behaviour 16.2).
    private func check(_ descriptors: [AccessoryDescriptor]) throws(SetupError) {
        let setup = manager.lifecycle.declaration.setup
        for descriptor in descriptors {
            if let fault = descriptor.fault { throw SetupError(.invalidRequest, reason: fault) }
            let missing = setup.map { descriptor.undeclared(in: $0) } ?? "Bluetooth in NSAccessorySetupKitSupports"
            guard let missing else { continue }
            let reason = "the app's Info.plist lacks \(missing)"
            manager.misuse(manager.lifecycle.declaration.isManaged ? "the app crashed because \(reason)" : reason)
            if manager.lifecycle.declaration.isManaged { manager.lifecycle.crash() }
            throw SetupError(.invalidRequest, reason: reason)
        }
    }

    /// Whether the session takes part in the shared scan.
    var scans: Bool {
        guard case .picking(let picker) = stage else { return false }
        return picker.items.contains { $0.migrated == nil }
    }

    /// Offers an accessory that the app does not have yet (behaviour 16.5).
    func receive(_ heard: ReceivedAdvertisement, from peer: Peer) {
        guard scans, case .picking(var picker) = stage, picker.found.count < ServiceLimits.pickerOffers else { return }
        let identifier = peer.identifier
        guard !picker.found.contains(where: { $0.offer.identifier == identifier }) else { return }
        guard accessories.accessory(identifier, of: app) == nil else { return }
        guard let item = picker.items.first(where: { $0.migrated == nil && $0.descriptor.matches(heard) }) else {
            return
        }
        let offer = AccessoryQuestion.Offer(
            identifier,
            name: item.name,
            image: item.image,
            advertisedName: heard.sighting.data.localName?.text ?? peer.name,
            isShared: !accessories.apps(with: identifier).isEmpty
        )
        picker.found.append((offer, item))
        endTimer()
        stage = .picking(picker)
        ask(.pick, picker.found.map(\.offer))
    }

    private func picked(_ answer: PersonAnswer, _ picker: Picker) {
        if answer == .accept, !scans {
            migrate(picker)
            return end(picker)
        }
        let chosen = picker.found.first { answer == .choose($0.offer.identifier) }
        guard let (offer, item) = chosen else { return end(picker, SetupError(.userCancelled)) }
        leaveStage()
        let accessory = SetUpAccessory(identifier: offer.identifier, name: item.name, descriptor: item.descriptor)
        setUp(accessory, item, picker)
    }

    /// Ends the picker, and answers its request.
    private func end(_ picker: Picker, _ error: SetupError? = nil) {
        leaveStage()
        emit(.pickerDidDismiss)
        answer(picker.number, error)
    }

    /// Ends the picker because the setup of the chosen accessory failed.
    private func end(_ picker: Picker, failedWith error: SetupError) {
        emit(.pickerSetupFailed, nil, error)
        end(picker, error)
    }
}

// MARK: - Setup

extension AccessorySetupSession {
    /// Sets up the accessory that the user has chosen. One that pairs does it now, unless that is left to the app
    /// (behaviours 16.5, 16.6).
    private func setUp(_ accessory: SetUpAccessory, _ item: PickerItem, _ picker: Picker) {
        guard item.descriptor.pairs, !item.options.contains(.confirmAuthorization) else {
            return paired(accessory, item, picker)
        }
        stage = .pairing(picker, accessory, item, link: nil)
        emit(.pickerSetupPairing)
        links.peers.hold(accessory.identifier)
        startTimer(Self.pairingTimeout) { session in
            session.end(picker, failedWith: SetupError(.connectionFailed, reason: "the accessory did not pair in time"))
        }
        links.connectionWanted(to: accessory.identifier)
    }

    private func paired(_ accessory: SetUpAccessory, _ item: PickerItem, _ picker: Picker) {
        if item.options.contains(.confirmAuthorization) {
            var accessory = accessory
            accessory.state = .awaitingAuthorization
            stage = .awaitingApp(picker, accessory, item)
            if let refusal = accessories.put(accessory, of: app) {
                end(picker, failedWith: SetupError(.unknown, reason: refusal.reason))
            }
        } else {
            name(accessory, item, picker)
        }
    }

    /// Asks the user for a name, if the app wants that.
    private func name(_ accessory: SetUpAccessory, _ item: PickerItem, _ picker: Picker) {
        guard item.options.contains(.rename) else { return complete(picker, accessory) }
        stage = .naming(picker, accessory)
        emit(.pickerSetupRename)
        ask(.rename, [offer(accessory)])
    }

    private func complete(_ picker: Picker, _ accessory: SetUpAccessory) {
        if let refusal = accessories.put(accessory, of: app) {
            return end(picker, failedWith: SetupError(.unknown, reason: refusal.reason))
        }
        migrate(picker)
        end(picker)
    }

    private func finish(_ peer: UUID) throws(SetupError) {
        guard var accessory = accessories.accessory(peer, of: app), accessory.state == .awaitingAuthorization else {
            throw .notAwaiting
        }
        accessory.state = .authorized
        guard case .awaitingApp(let picker, let chosen, let item) = stage, chosen.identifier == peer else {
            _ = accessories.put(accessory, of: app)
            return
        }
        name(accessory, item, picker)
    }

    /// The peripherals of migration items that this device knows and the app does not have yet.
    private func migrating(_ picker: Picker) -> [SetUpAccessory] {
        picker.items.compactMap { item in
            guard let peer = item.migrated, links.peers.recall(peer) != nil else { return nil }
            guard accessories.accessory(peer, of: app) == nil else { return nil }
            return SetUpAccessory(identifier: peer, name: item.name, descriptor: item.descriptor)
        }
    }

    /// Adopts the peripherals of migration items (behaviour 16.9).
    private func migrate(_ picker: Picker) {
        for accessory in migrating(picker) { _ = accessories.put(accessory, of: app, by: .migrationComplete) }
    }
}

// MARK: - The link of a pairing

extension AccessorySetupSession {
    func wants(_ peer: UUID) -> Bool {
        if case .pairing(_, let accessory, _, nil) = stage { accessory.identifier == peer } else { false }
    }

    func wants(_ alert: AppAlert, of peer: UUID) -> Bool { false }

    func use(of link: PeerLink) -> Attachment? {
        guard case .pairing(let picker, let accessory, let item, nil) = stage, accessory.identifier == link.peer else {
            return nil
        }
        let user = Attachment(key, manager, of: link.peer, loop: loop, requiresNotifications: false)
        // The app is not connected by this.
        user.end()
        stage = .pairing(picker, accessory, item, link: (link, user))
        loop.execute { [weak self] in self?.pair(user) }
        return user
    }

    /// Pairs without a question whether to: the user has chosen the accessory (behaviour 16.5).
    private func pair(_ user: Attachment) {
        guard case .pairing(let picker, let accessory, let item, let (link, current)?) = stage, current === user else {
            return
        }
        link.secureLink.hasConsent = true
        link.secureLink.secure(.encrypted) { [weak self] result in
            guard let self, case .pairing(_, _, _, let (_, current)?) = stage, current === user else { return }
            switch result {
            case .success:
                leaveStage()
                paired(accessory, item, picker)
            case .failure(let error): end(picker, failedWith: SetupError(.connectionFailed, reason: "\(error)"))
            }
        }
    }

    func connectionFailed(to peer: UUID, _ error: ServiceError) {
        guard case .pairing(let picker, _, _, nil) = stage, wants(peer) else { return }
        end(picker, failedWith: SetupError(.connectionFailed, reason: error.reason))
    }

    func linkChanged(of link: PeerLink, _ change: ConnectionChange) {}

    func linkEnds(_ link: PeerLink, _ user: Attachment) {}

    func linkClosed(_ link: PeerLink, _ user: Attachment, _ error: ServiceError) {
        guard case .pairing(let picker, _, _, let (_, current)?) = stage, current === user else { return }
        end(picker, failedWith: SetupError(.connectionFailed, reason: error.reason))
    }
}

extension SetupError {
    fileprivate static let inBackground = SetupError(.pickerRestricted, reason: "the app is not in the foreground")
    fileprivate static let unknownAccessory = SetupError(.invalidRequest, reason: "the app has no such accessory")
    fileprivate static let notAwaiting = SetupError(.invalidRequest, reason: "the accessory awaits no authorization")
}
