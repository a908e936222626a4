import BluetoothTypes
import HCI
import HCIHost
import Security

/// Broadcasts data at fixed times to synchronized devices: Periodic Advertising Synchronizability mode and Periodic
/// Advertising mode (Core Vol 3 Part C 9.5.1, 9.5.2).
package final class PeriodicBroadcaster {
    private enum State {
        case off
        /// The extended advertising that announces the train is starting; the train follows.
        case starting(Plan)
        /// The train is running.
        case running
    }

    /// The content of a train.
    private enum Content {
        /// The same data in each event.
        case data(AdvertisingData)
        /// Separate data for each subevent, with response slots.
        case subevents(LESubeventTiming, slots: UInt8)
    }

    private struct Plan {
        var content: Content
        var interval: ClosedRange<UInt16>
        var completion: (Result<Void, GAPError>) -> Void
    }

    private let device: any PeriodicDevice
    let advertising: HostAdvertisingSet
    private var state = State.off

    // For trains with responses only.
    /// Called when the controller has room for subevent data. Answer with ``send(_:completion:)``. A subevent without
    /// data is not sent.
    package var onDataWanted: ((_ subevents: [UInt8]) -> Void)?
    /// Called with each response, its subevent and its slot.
    package var onResponse: ((_ subevent: UInt8, _ slot: UInt8, PacketBuffer) -> Void)?
    /// The number of subevents; 0 for a train without responses.
    private var subeventCount: UInt8 = 0
    /// The first parts of a response that is still incomplete.
    private var part: (subevent: UInt8, slot: UInt8, data: PacketBuffer)?
    private var connecting: ((Result<AccessLink, GAPError>) -> Void)?

    /// Creates a broadcaster, which is off, with its own advertising set.
    init(on device: any PeriodicDevice) {
        self.device = device
        advertising = device.advertiser.addSet()
        advertising.onStarted = { [weak self] in self?.announced() }
        advertising.onFailed = { [weak self] in self?.failed($0) }
    }

    /// Starts periodic advertising, announced by extended advertising.
    ///
    /// - Parameters:
    ///   - advertisement: An extended advertisement with an address, neither connectable nor scannable.
    ///   - data: The data of the train.
    ///   - interval: In units of 1.25 ms, at least 6.
    ///   - completion: Called once, when the train is running or with an error.
    package func start(
        _ advertisement: AdvertisingConfiguration,
        data: AdvertisingData,
        interval: ClosedRange<UInt16>,
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        start(advertisement, .data(data), interval, completion)
    }

    /// Starts a train with responses: each event is divided into subevents with data of their own and with slots in
    /// which other devices respond. ``onDataWanted`` requests the data.
    ///
    /// - Parameters:
    ///   - timing: The division of events. It must fit into the shorter interval.
    ///   - slots: The number of response slots per subevent.
    package func start(
        _ advertisement: AdvertisingConfiguration,
        subevents timing: LESubeventTiming,
        slots: UInt8,
        interval: ClosedRange<UInt16>,
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        start(advertisement, .subevents(timing, slots: slots), interval, completion)
    }

    private func start(
        _ advertisement: AdvertisingConfiguration,
        _ content: Content,
        _ interval: ClosedRange<UInt16>,
        _ completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        guard case .off = state else { return completion(.failure(.busy)) }
        guard case .extended(let options) = advertisement.packets, advertisement.kind == .nonConnectable,
            !options.isAnonymous, interval.lowerBound >= 6
        else {
            let rule = """
                a train requires an extended advertisement with an address, neither connectable nor scannable, and an \
                interval of at least 7.5 ms
                """
            return completion(.failure(.impossible(rule)))
        }
        state = .starting(Plan(content: content, interval: interval, completion: completion))
        advertising.want(advertisement)
    }

    private func announced() {
        guard case .starting(let plan) = state else { return }
        let parameters = LESetPeriodicAdvertisingParameters(
            set: advertising.number,
            intervalMin: plan.interval.lowerBound,
            intervalMax: plan.interval.upperBound,
            properties: []
        )
        let enable = LESetPeriodicAdvertisingEnable(enable: .enable, set: advertising.number)
        device.host.send(inOrder: contentCommands(plan.content, parameters) + [enable]) { [weak self] result in
            switch result {
            case .success:
                self?.state = .running
                plan.completion(.success(()))
            case .failure(let error): self?.failed(GAPError(error))
            }
        }
    }

    private func contentCommands(
        _ content: Content,
        _ parameters: LESetPeriodicAdvertisingParameters
    ) -> [any HCICommand] {
        switch content {
        case .data(let data): return [parameters] + dataCommands(data)
        case .subevents(let timing, let slots):
            subeventCount = timing.subevents
            device.subevents.add(self, set: advertising.number)
            return [LESetPeriodicAdvertisingParametersV2(v1: parameters, timing: timing, responseSlots: slots)]
        }
    }

    /// Whether the train is running.
    private var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    private func dataCommands(_ data: AdvertisingData) -> [any HCICommand] {
        AdvertisingCommands.fragments(data.encoded).map {
            LESetPeriodicAdvertisingData(set: advertising.number, operation: $0, data: $1)
        }
    }

    private func failed(_ error: GAPError) {
        guard case .starting(let plan) = state else { return }
        state = .off
        endSubevents()
        advertising.want(nil)
        plan.completion(.failure(error))
    }

    /// Replaces the data of a running train. The data must fit into one command; longer data requires a new train.
    package func change(_ data: AdvertisingData, completion: @escaping (Result<Void, GAPError>) -> Void) {
        guard case .running = state, subeventCount == 0 else { return completion(.failure(.notReady)) }
        guard data.encoded.count <= AdvertisingCommands.maximumFragment else {
            let rule =
                "\(data.encoded.count) octets of data do not fit into a running train; stop it and start another one"
            return completion(.failure(.impossible(rule)))
        }
        device.host.send(inOrder: dataCommands(data)) { completion($0.mapError { GAPError($0) }) }
    }

    /// Stops announcing the train. Synchronized devices continue to receive it.
    package func hide() {
        advertising.want(nil)
    }

    /// Transfers the synchronization information of the train to a peer (9.5.4).
    package func tell(
        _ link: AccessLink,
        serviceData: UInt16 = 0,
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        guard case .running = state else { return completion(.failure(.notReady)) }
        let command = LEPeriodicAdvertisingSetInfoTransfer(
            handle: link.connection.handle,
            serviceData: serviceData,
            set: advertising.number
        )
        device.trains.tell(link, command, completion)
    }

    /// Stops the train and its announcement.
    package func stop() {
        guard case .running = state else { return }
        state = .off
        endSubevents()
        let disable = LESetPeriodicAdvertisingEnable(enable: [], set: advertising.number)
        device.host.send(disable) { [advertising] _ in advertising.want(nil) }
    }
}

// MARK: - Trains with responses (Core Vol 3 Part C 9.5.2) and connections from them (9.5.5)

extension PeriodicBroadcaster {
    /// The maximum length of a response, in octets (Core Vol 6 Part B 2.3.4.9).
    static let maximumResponse = 254
    /// The maximum octets of data per subevent, and the maximum numbers of subevents and of octets per command (Core
    /// Vol 4 Part E 5.4.1, 7.8.125).
    static let (maximumData, maximumSubevents, maximumCommand) = (249, 15, 253)
    /// The octets before the data of each subevent.
    private static let headerSize = 4

    /// Sets the data that subevents send the next time, up to 249 octets each.
    package func send(_ data: [LESubeventData], completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }) {
        guard data.allSatisfy({ $0.data.count <= Self.maximumData }) else {
            return completion(.failure(.impossible("a subevent holds at most \(Self.maximumData) octets")))
        }
        let commands = Self.batches(data).map {
            LESetPeriodicAdvertisingSubeventData(set: advertising.number, subevents: $0)
        }
        device.host.send(inOrder: commands) { completion($0.mapError { GAPError($0) }) }
    }

    /// Divides the data into batches that fit into one command.
    private static func batches(_ data: [LESubeventData]) -> [[LESubeventData]] {
        var batches: [[LESubeventData]] = []
        var room = 0
        for each in data {
            let size = headerSize + each.data.count
            if size > room || batches[batches.count - 1].count == maximumSubevents {
                batches.append([])
                room = maximumCommand
            }
            room -= size
            batches[batches.count - 1].append(each)
        }
        return batches
    }

    /// Connects as central to a peer that is synchronized to a subevent: the next subevent of that number contains a
    /// connection request.
    ///
    /// - Parameter completion: Called once. The request is sent once; if the peer does not answer, the error is
    ///   ``GAPError/rejected(_:)``.
    package func connect(
        to peer: BluetoothAddress,
        in subevent: UInt8,
        completion: @escaping (Result<AccessLink, GAPError>) -> Void
    ) {
        guard isRunning, subeventCount > 0 else { return completion(.failure(.notReady)) }
        guard connecting == nil, !device.connector.isBusy else { return completion(.failure(.busy)) }
        guard let own = device.sharedAddress, let controller = device.controllerInformation else {
            return completion(.failure(.notReady))
        }
        connecting = completion
        device.watchConnections(for: self) { [weak self, advertising] result, _ in
            guard case .success(let link) = result else { return }
            guard link.connection.origin == .ownTrain(set: advertising.number) else { return }
            self?.connectionEnded(.success(link))
        }
        let attempt = ConnectionAttempt(
            policy: .peerAddress,
            peer: peer,
            ownAddress: own,
            settings: device.connector.settings
        )
        var command = LEExtendedCreateConnectionV2()
        (command.set, command.periodicSubevent) = (advertising.number, subevent)
        command.v1 = attempt.extendedCommand(device.connector.settings.phys(for: controller))
        device.host.askForTrainsOfConnections()
        device.host.send(command) { [weak self] result in
            if case .failure(let error) = result { self?.connectionEnded(.failure(GAPError(error))) }
        }
    }

    func connectionEnded(_ result: Result<AccessLink, GAPError>) {
        device.unwatchConnections(for: self)
        let completion = connecting
        connecting = nil
        completion?(result)
    }

    /// Called when the train has ended.
    private func endSubevents() {
        guard subeventCount > 0 else { return }
        (subeventCount, part) = (0, nil)
        device.subevents.remove(set: advertising.number)
        connectionEnded(.failure(.cancelled))
    }

    // MARK: Controller events

    /// Called when the controller has room for subevent data. It may name subevents that do not exist.
    func wanted(_ event: LEPeriodicAdvertisingSubeventDataRequest) {
        guard subeventCount > 0, event.first < subeventCount else { return }
        let count = min(event.count, subeventCount)
        onDataWanted?((0..<UInt16(count)).map { UInt8((UInt16(event.first) + $0) % UInt16(subeventCount)) })
    }

    func reported(_ event: LEPeriodicAdvertisingResponseReport) {
        for response in event.responses { receive(response, event.periodicSubevent) }
    }

    private func receive(_ response: LEPeriodicResponse, _ subevent: UInt8) {
        var data: PacketBuffer = []
        if let part, part.subevent == subevent, part.slot == response.slot { data = part.data }
        part = nil
        guard response.dataStatus == .complete || response.dataStatus == .moreToCome,
            data.count + response.data.count <= Self.maximumResponse
        else { return }
        data.append(contentsOf: response.data)
        if response.dataStatus == .moreToCome {
            part = (subevent, response.slot, data)
        } else {
            onResponse?(subevent, response.slot, data)
        }
    }
}
