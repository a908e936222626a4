import BluetoothTypes
import HCI
import HCIHost

/// Synchronizes to periodic advertising of other devices: the Periodic Advertising Synchronization Establishment
/// procedures, by scanning or over a link, and the Periodic Advertising Synchronization Transfer procedure (Core Vol 3
/// Part C 9.5.3, 9.5.4).
package final class PeriodicObserver {
    /// The maximum number of trains. A controller supports fewer.
    static let maximumTrains = 64
    /// The maximum octets of data of a train (Core Vol 6 Part B 4.4.2.12).
    static let maximumData = 1_650

    /// A periodic advertising train.
    package struct Train: Hashable, Sendable {
        /// The controller's sync handle.
        package var handle: UInt16
        /// The address of the advertiser.
        package var advertiser: BluetoothAddress
        /// The SID of the advertising set.
        package var sid: UInt8
        /// The interval in units of 1.25 ms.
        package var interval: UInt16
        package var phy: LEPHY
        /// The division of events into subevents; all zeros for a train without responses.
        package var timing = LESubeventTiming()

        /// Whether the train has subevents, to which devices may respond.
        package var hasSubevents: Bool { timing.subevents > 0 }
    }

    /// The position of received data in a train with responses.
    package struct Place: Hashable, Sendable {
        /// The event counter, paEventCounter.
        package var event: UInt16
        package var subevent: UInt8
    }

    /// The options for following a train.
    package struct Rules: Hashable, Sendable {
        /// The number of events that may be skipped after a received one.
        package var skip: UInt16 = 0
        /// The time without reception after which a train is lost, in units of 10 ms.
        package var timeout: UInt16 = 500
        /// Whether received data is reported.
        package var reports = true

        /// Creates the default options: no skipped events, reports, and a time-out of 5 s.
        package init() {}
    }

    /// The trains to search for.
    package enum Wanted: Hashable, Sendable {
        /// The train of one set.
        case one(BluetoothAddress, sid: UInt8)
        /// Any train on the controller's periodic advertiser list.
        case listed
    }

    /// Called with the data of a train. `isWhole` is false if the end of the data was lost.
    package var onData: ((Train, PacketBuffer, _ isWhole: Bool) -> Void)?
    /// Called with the data of a selected subevent. `isWhole` is false if the end of the data was lost.
    package var onSubevent: ((Train, Place, PacketBuffer, _ isWhole: Bool) -> Void)?
    /// Called when the synchronization with a train is lost.
    package var onLost: ((Train) -> Void)?
    /// Called when a peer has transferred a train: with the train if this device follows it now, otherwise with an
    /// error.
    package var onTold: ((Result<Train, GAPError>, AccessLink?, _ serviceData: UInt16) -> Void)?
    /// The synchronized trains, keyed by sync handle.
    package private(set) var followed: [UInt16: Train] = [:]

    private unowned let device: any PeriodicDevice
    private var parts: [UInt16: PacketBuffer] = [:]
    private var waiting: ((Result<Train, GAPError>) -> Void)?

    init(_ device: any PeriodicDevice) {
        self.device = device
        let host = device.host
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

    // MARK: Synchronization by scanning

    /// Scans until a train is found and follows it. Only one search at a time.
    ///
    /// - Parameter completion: Called once, with the train after its first packet, or with an error.
    package func synchronize(
        to wanted: Wanted,
        _ rules: Rules = Rules(),
        completion: @escaping (Result<Train, GAPError>) -> Void
    ) {
        guard waiting == nil else { return completion(.failure(.busy)) }
        // A controller refuses commands for trains after a legacy scan, and the other way round (Core Vol 4 Part E
        // 3.1.1).
        if let controller = device.controllerInformation, CommandGeneration(controller) == .legacy {
            return completion(.failure(.needsExtendedAdvertising))
        }
        waiting = completion
        do throws(GAPError) {
            try device.scan(ScanSettings(isActive: false), for: self, onSighting: { _ in }) { [weak self] error in
                if let error { self?.finish(.failure(error)) }
            }
        } catch {
            return finish(.failure(error))
        }
        device.host.send(command(wanted, rules)) { [weak self] result in
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

    /// Replaces the controller's periodic advertiser list.
    package func list(
        _ sets: [(advertiser: BluetoothAddress, sid: UInt8)],
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        let entries = sets.map { LEAddDeviceToPeriodicAdvertiserList(address: $0.advertiser, sid: $0.sid) }
        device.host.send(inOrder: [LEClearPeriodicAdvertiserList()] + entries) {
            completion($0.mapError { GAPError($0) })
        }
    }

    /// Cancels the search, whose completion is called with ``GAPError/cancelled``.
    package func cancel() {
        guard waiting != nil else { return }
        device.host.send(LEPeriodicAdvertisingCreateSyncCancel())
    }

    /// Stops following a train.
    package func leave(_ train: Train) {
        forget(train.handle)
        device.host.send(LEPeriodicAdvertisingTerminateSync(sync: train.handle))
    }

    /// Enables or disables the reports of a train.
    package func report(_ train: Train, _ reports: Bool) {
        let enable: LEPeriodicReceiving = reports ? .reports : []
        device.host.send(LESetPeriodicAdvertisingReceiveEnable(sync: train.handle, enable: enable))
    }

    // MARK: Synchronization over a link

    /// Follows the trains that a peer transfers from now on, as ``onTold`` reports. Pass nil to ignore them.
    package func listen(
        to link: AccessLink,
        _ rules: Rules?,
        completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }
    ) {
        let mode: LESyncTransferMode = rules.map { $0.reports ? .reports : .withoutReports } ?? .ignore
        device.host.send(
            LESetPeriodicAdvertisingSyncTransferParameters(
                handle: link.connection.handle,
                mode: mode,
                skip: rules?.skip ?? 0,
                timeout: rules?.timeout ?? 0x000A,
                toneKinds: 0
            )
        ) { completion($0.map { _ in }.mapError { GAPError($0) }) }
    }

    /// Transfers the synchronization with a train to a peer.
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

    /// Sends a transfer command once the peer's features are known, which the controller requires.
    func tell<C: HCICommand>(
        _ link: AccessLink,
        _ command: C,
        _ completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        guard link.isOpen else { return completion(.failure(.linkLost(.unknownConnection))) }
        device.peerFeatures.read(of: link.connection) { [weak self] result in
            if case .failure(let error) = result { return completion(.failure(error)) }
            self?.device.host.send(command) { completion($0.map { _ in }.mapError { GAPError($0) }) }
        }
    }

    // MARK: Controller events

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
            finish(remember(train))
        case .operationCancelledByHost: finish(.failure(.cancelled))
        default: finish(.failure(.rejected(event.status)))
        }
    }

    private func told(
        _ event: LEPeriodicAdvertisingSyncTransferReceived,
        _ timing: LESubeventTiming = LESubeventTiming()
    ) {
        let link = device.link(event.handle)
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
        let result = remember(train)
        onTold?(result, link, event.serviceData)
    }

    /// Handles data of a train or a part of it, with its position in a train with responses.
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

    /// Stores a train. If there are too many, stops following it, and returns an error.
    private func remember(_ train: Train) -> Result<Train, GAPError> {
        guard followed.count < Self.maximumTrains || followed[train.handle] != nil else {
            leave(train)
            return .failure(.impossible("at most \(Self.maximumTrains) trains can be followed; leave one first"))
        }
        (followed[train.handle], parts[train.handle]) = (train, nil)
        return .success(train)
    }

    private func forget(_ handle: UInt16) {
        (followed[handle], parts[handle]) = (nil, nil)
    }

    private func finish(_ result: Result<Train, GAPError>) {
        device.endScan(for: self)
        let completion = waiting
        waiting = nil
        completion?(result)
    }

    /// Called when the controller is gone, and all trains with it.
    func reset() {
        (followed, parts) = ([:], [:])
        if waiting != nil { finish(.failure(.notReady)) }
    }
}

// MARK: - Trains with responses (Core Vol 3 Part C 9.5.3)

extension PeriodicObserver {
    /// The maximum length of a response, in octets, which is limited by the command (Core Vol 4 Part E 5.4.1, 7.8.126).
    static let maximumResponse = 247

    /// Selects the subevents of a train to listen to. Before this call none is received. ``onSubevent`` reports the
    /// data.
    package func choose(
        _ subevents: [UInt8],
        of train: Train,
        completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }
    ) {
        // A device that listens to subevents can be connected to.
        device.host.askForTrainsOfConnections()
        device.host.send(LESetPeriodicSyncSubevent(sync: train.handle, subevents: PacketBuffer(subevents))) {
            completion($0.map { _ in }.mapError { GAPError($0) })
        }
    }

    /// Responds to a received subevent in a slot of `subevent`, by default the same one.
    package func respond(
        to place: Place,
        of train: Train,
        in subevent: UInt8? = nil,
        slot: UInt8,
        _ data: PacketBuffer,
        completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }
    ) {
        guard data.count <= Self.maximumResponse else {
            return completion(.failure(.impossible("a response holds at most \(Self.maximumResponse) octets")))
        }
        let command = LESetPeriodicAdvertisingResponseData(
            sync: train.handle,
            requestEvent: place.event,
            requestSubevent: place.subevent,
            responseSubevent: subevent ?? place.subevent,
            slot: slot,
            data: data
        )
        device.host.send(command) { completion($0.map { _ in }.mapError { GAPError($0) }) }
    }
}
