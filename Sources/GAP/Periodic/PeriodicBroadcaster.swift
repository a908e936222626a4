import BluetoothTypes
import HCI
import HCIHost

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

    let device: any PeriodicDevice
    let advertising: HostAdvertisingSet
    private var state = State.off

    // For trains with responses only.
    /// Called when the controller has room for subevent data. Answer with ``send(_:completion:)``. A subevent without
    /// data is not sent.
    package var onDataWanted: ((_ subevents: [UInt8]) -> Void)?
    /// Called with each response, its subevent and its slot.
    package var onResponse: ((_ subevent: UInt8, _ slot: UInt8, PacketBuffer) -> Void)?
    /// The number of subevents; 0 for a train without responses.
    var subeventCount: UInt8 = 0
    /// The first parts of a response that is still incomplete.
    var part: (subevent: UInt8, slot: UInt8, data: PacketBuffer)?
    var connecting: ((Result<AccessLink, GAPError>) -> Void)?

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
    var isRunning: Bool {
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
