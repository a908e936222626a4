import BluetoothTypes
import HCI
import HCIHost

/// Follows the trains of others: the Periodic Advertising Synchronization Establishment procedures, by scanning or over a link,
/// and the Periodic Advertising Synchronization Transfer procedure (Core Vol 3 Part C 9.5.3, 9.5.4).
package final class PeriodicObserver {
    /// Trains that are known at most; a controller holds fewer.
    static let maximumTrains = 64
    /// Octets of data of one train at most (Core Vol 6 Part B 4.4.2.12).
    static let maximumData = 1_650

    /// One train.
    package struct Train: Hashable, Sendable {
        /// Its number at the controller.
        package var handle: UInt16
        /// Who advertises.
        package var advertiser: BluetoothAddress
        /// Which of the advertiser's sets.
        package var sid: UInt8
        /// The interval in units of 1.25 ms.
        package var interval: UInt16
        /// The PHY.
        package var phy: LEPHY
        /// How its events are divided; all zeros for a train without responses.
        package var timing = LESubeventTiming()

        /// Whether it has subevents, and others may respond.
        package var hasSubevents: Bool { timing.subevents > 0 }
    }

    /// Where in a train with responses something was heard.
    package struct Place: Hashable, Sendable {
        /// paEventCounter.
        package var event: UInt16
        /// The subevent.
        package var subevent: UInt8
    }

    /// How a train is followed.
    package struct Rules: Hashable, Sendable {
        /// Events that may be left out behind one that was heard.
        package var skip: UInt16 = 0
        /// After how long without it a train is lost, in units of 10 ms.
        package var timeout: UInt16 = 500
        /// Whether what it says is reported.
        package var reports = true

        /// Every event counts, what it says is reported, and 5 s without it is the end.
        package init() {}
    }

    /// Which trains are looked for.
    package enum Wanted: Hashable, Sendable {
        /// The train of one set.
        case one(BluetoothAddress, sid: UInt8)
        /// One of the controller's list.
        case listed
    }

    /// Called with what a train says; `false` when its end was not heard.
    package var onData: ((Train, PacketBuffer, _ isWhole: Bool) -> Void)?
    /// Called with what a subevent says that was chosen; `false` when its end was not heard.
    package var onSubevent: ((Train, Place, PacketBuffer, _ isWhole: Bool) -> Void)?
    /// Called when a train has not been heard for too long.
    package var onLost: ((Train) -> Void)?
    /// Called when a peer has told of a train and it is followed, or could not be.
    package var onTold: ((Result<Train, GAPError>, AccessLink?, _ serviceData: UInt16) -> Void)?
    /// The trains that are followed.
    package private(set) var followed: [UInt16: Train] = [:]

    unowned let access: GenericAccess
    private var parts: [UInt16: PacketBuffer] = [:]
    private var waiting: ((Result<Train, GAPError>) -> Void)?

    init(_ access: GenericAccess) {
        self.access = access
        let host = access.host
        host.onEvent(LEPeriodicAdvertisingSyncEstablished.self) { [weak self] in self?.established($0) }
        host.onEvent(LEPeriodicAdvertisingSyncEstablishedV2.self) { [weak self] in self?.established($0.v1, $0.timing) }
        host.onEvent(LEPeriodicAdvertisingReport.self) { [weak self] in
            self?.reported($0.sync, $0.dataStatus, $0.data, nil)
        }
        host.onEvent(LEPeriodicAdvertisingReportV2.self) { [weak self] in
            let isOfSubevent = $0.periodicSubevent != LEPeriodicAdvertisingReportV2.noSubevent
            let place = Place(event: $0.event, subevent: $0.periodicSubevent)
            self?.reported($0.sync, $0.dataStatus, $0.data, isOfSubevent ? place : nil)
        }
        host.onEvent(LEPeriodicAdvertisingSyncLost.self) { [weak self] in self?.lost($0.sync) }
        host.onEvent(LEPeriodicAdvertisingSyncTransferReceived.self) { [weak self] in self?.told($0) }
        host.onEvent(LEPeriodicAdvertisingSyncTransferReceivedV2.self) { [weak self] in self?.told($0.v1, $0.timing) }
    }

    // MARK: By scanning

    /// Scans until a train is found, and follows it. One search at a time. `completion` is called once, when the first
    /// packet of the train has come, or with why none will.
    package func synchronize(
        to wanted: Wanted,
        _ rules: Rules = Rules(),
        completion: @escaping (Result<Train, GAPError>) -> Void
    ) {
        guard waiting == nil else { return completion(.failure(.busy)) }
        // After a legacy scan a controller takes no command of trains, and after one of those no legacy scan (Core Vol 4 Part E 3.1.1).
        if let controller = access.controllerInformation, CommandGeneration(controller) == .legacy {
            return completion(.failure(.needsExtendedAdvertising))
        }
        waiting = completion
        do throws(GAPError) {
            try access.scan(ScanSettings(isActive: false), for: self, onSighting: { _ in }) { [weak self] error in
                if let error { self?.finish(.failure(error)) }
            }
        } catch {
            return finish(.failure(error))
        }
        access.host.send(command(wanted, rules)) { [weak self] result in
            if case .failure(let error) = result { self?.finish(.failure(GAPError(error))) }
        }
    }

    private func command(_ wanted: Wanted, _ rules: Rules) -> LEPeriodicAdvertisingCreateSync {
        var command = LEPeriodicAdvertisingCreateSync()
        (command.skip, command.timeout) = (rules.skip, rules.timeout)
        if !rules.reports { command.options.insert(.withoutReports) }
        switch wanted {
        case .one(let address, let sid): (command.address, command.sid) = (address, sid)
        case .listed: command.options.insert(.usesList)
        }
        return command
    }

    /// Replaces the controller's list of sets.
    package func list(
        _ sets: [(advertiser: BluetoothAddress, sid: UInt8)],
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        let entries = sets.map { LEAddDeviceToPeriodicAdvertiserList(address: $0.advertiser, sid: $0.sid) }
        access.host.send(inOrder: [LEClearPeriodicAdvertiserList()] + entries) {
            completion($0.mapError { GAPError($0) })
        }
    }

    /// Searches no longer. Whoever waits hears ``GAPError/cancelled``.
    package func cancel() {
        guard waiting != nil else { return }
        access.host.send(LEPeriodicAdvertisingCreateSyncCancel())
    }

    /// Follows a train no longer.
    package func leave(_ train: Train) {
        forget(train.handle)
        access.host.send(LEPeriodicAdvertisingTerminateSync(sync: train.handle))
    }

    /// Begins or ends the reports of a train.
    package func report(_ train: Train, _ reports: Bool) {
        let enable: LEPeriodicReceiving = reports ? .reports : []
        access.host.send(LESetPeriodicAdvertisingReceiveEnable(sync: train.handle, enable: enable))
    }

    // MARK: Over a link

    /// Follows the trains that a peer tells of from now on; nil for none. ``onTold`` says which.
    package func listen(
        to link: AccessLink,
        _ rules: Rules?,
        completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }
    ) {
        let mode: LESyncTransferMode = rules.map { $0.reports ? .reports : .withoutReports } ?? .ignore
        access.host.send(
            LESetPeriodicAdvertisingSyncTransferParameters(
                handle: link.connection.handle,
                mode: mode,
                skip: rules?.skip ?? 0,
                timeout: rules?.timeout ?? 0x000A,
                toneKinds: 0
            )
        ) { completion($0.map { _ in }.mapError { GAPError($0) }) }
    }

    /// Tells a peer of a train that this device follows.
    package func tell(
        _ link: AccessLink,
        of train: Train,
        serviceData: UInt16 = 0,
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        let command = LEPeriodicAdvertisingSyncTransfer(
            handle: link.connection.handle,
            serviceData: serviceData,
            sync: train.handle
        )
        tell(link, command, completion)
    }

    /// The controller tells only those who are known to understand.
    func tell<C: HCICommand>(
        _ link: AccessLink,
        _ command: C,
        _ completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        guard link.isOpen else { return completion(.failure(.linkLost(.unknownConnection))) }
        access.peerFeatures.read(of: link.connection) { [weak self] result in
            if case .failure(let error) = result { return completion(.failure(error)) }
            self?.access.host.send(command) { completion($0.map { _ in }.mapError { GAPError($0) }) }
        }
    }

    // MARK: From the controller

    private func established(
        _ event: LEPeriodicAdvertisingSyncEstablished,
        _ timing: LESubeventTiming = LESubeventTiming()
    ) {
        guard waiting != nil else { return }
        switch event.status {
        case .success:
            let train = Train(
                handle: event.sync,
                advertiser: event.address,
                sid: event.sid,
                interval: event.interval,
                phy: event.phy,
                timing: timing
            )
            remember(train)
            finish(.success(train))
        case .operationCancelledByHost: finish(.failure(.cancelled))
        default: finish(.failure(.rejected(event.status)))
        }
    }

    private func told(
        _ event: LEPeriodicAdvertisingSyncTransferReceived,
        _ timing: LESubeventTiming = LESubeventTiming()
    ) {
        let link = access.links.first { $0.connection.handle == event.handle }
        guard event.status == .success else {
            onTold?(.failure(.rejected(event.status)), link, event.serviceData)
            return
        }
        let train = Train(
            handle: event.sync,
            advertiser: event.address,
            sid: event.sid,
            interval: event.interval,
            phy: event.phy,
            timing: timing
        )
        remember(train)
        onTold?(.success(train), link, event.serviceData)
    }

    /// Data of a train, or a part of them, with where they were heard in one with responses.
    private func reported(_ sync: UInt16, _ status: LEPeriodicDataStatus, _ piece: PacketBuffer, _ place: Place?) {
        guard let train = followed[sync] else { return }
        var data = parts.removeValue(forKey: sync) ?? []
        guard data.count + piece.count <= Self.maximumData, status != .lost else { return }
        data.append(contentsOf: piece)
        guard status != .moreToCome else {
            parts[sync] = data
            return
        }
        if let place {
            onSubevent?(train, place, data, status == .complete)
        } else {
            onData?(train, data, status == .complete)
        }
    }

    private func lost(_ handle: UInt16) {
        guard let train = followed[handle] else { return }
        forget(handle)
        onLost?(train)
    }

    private func remember(_ train: Train) {
        guard followed.count < Self.maximumTrains || followed[train.handle] != nil else { return }
        (followed[train.handle], parts[train.handle]) = (train, nil)
    }

    private func forget(_ handle: UInt16) {
        (followed[handle], parts[handle]) = (nil, nil)
    }

    private func finish(_ result: Result<Train, GAPError>) {
        access.endScan(for: self)
        let completion = waiting
        waiting = nil
        completion?(result)
    }

    /// The controller is gone, and all trains with it.
    func reset() {
        (followed, parts) = ([:], [:])
        if waiting != nil { finish(.failure(.notReady)) }
    }
}
