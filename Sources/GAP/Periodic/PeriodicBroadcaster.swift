import BluetoothTypes
import HCI
import HCIHost

/// Sends data at fixed times, to those who know when: Periodic Advertising Synchronizability mode and Periodic Advertising mode
/// (Core Vol 3 Part C 9.5.1, 9.5.2).
package final class PeriodicBroadcaster {
    /// How far it is.
    private enum State {
        case off
        /// The advertising that tells of the train is about to begin, and the train after it.
        case starting(Plan)
        /// The train is on the air.
        case running
    }

    /// What a train says.
    private enum Content {
        /// The same in each event.
        case data(AdvertisingData)
        /// Something else in each subevent, and others respond.
        case subevents(LESubeventTiming, slots: UInt8)
    }

    private struct Plan {
        var content: Content
        var interval: ClosedRange<UInt16>
        var completion: (Result<Void, GAPError>) -> Void
    }

    let access: GenericAccess
    let advertising: AdvertisingSet
    private var state = State.off

    // A train with responses.
    /// Called when the controller has room for the data of subevents: answer with ``send(_:completion:)``. What a subevent has
    /// no data for is not sent.
    package var onDataWanted: ((_ subevents: [UInt8]) -> Void)?
    /// Called with each response, and the subevent and the slot that it came in.
    package var onResponse: ((_ subevent: UInt8, _ slot: UInt8, PacketBuffer) -> Void)?
    /// How many subevents there are, while there are any.
    var subeventCount: UInt8 = 0
    /// A response of which more is to come.
    var part: (subevent: UInt8, slot: UInt8, data: PacketBuffer)?
    var connecting: ((Result<AccessLink, GAPError>) -> Void)?

    /// A broadcaster that is silent, with an advertising set of its own.
    package init(_ access: GenericAccess) {
        self.access = access
        advertising = access.advertiser.addSet()
        advertising.onStarted = { [weak self] in self?.announced() }
        advertising.onFailed = { [weak self] in self?.failed($0) }
    }

    /// Begins: an advertisement tells of the train, which is sent every so often.
    ///
    /// - Parameters:
    ///   - advertisement: Extended, for everybody, with an address, and nobody can connect to it or ask.
    ///   - data: What the train holds.
    ///   - interval: In units of 1.25 ms, 6 at least.
    ///   - completion: Called once, when the train is on the air, or with why it is not.
    package func start(
        _ advertisement: Advertisement,
        data: AdvertisingData,
        interval: ClosedRange<UInt16>,
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        start(advertisement, .data(data), interval, completion)
    }

    /// The same with responses: each event of the train has subevents, each with data of its own and slots in which others
    /// respond. ``onDataWanted`` asks for the data.
    ///
    /// - Parameters:
    ///   - timing: How events are divided, within the shorter interval.
    ///   - slots: Response slots of each subevent.
    package func start(
        _ advertisement: Advertisement,
        subevents timing: LESubeventTiming,
        slots: UInt8,
        interval: ClosedRange<UInt16>,
        completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        start(advertisement, .subevents(timing, slots: slots), interval, completion)
    }

    private func start(
        _ advertisement: Advertisement,
        _ content: Content,
        _ interval: ClosedRange<UInt16>,
        _ completion: @escaping (Result<Void, GAPError>) -> Void
    ) {
        guard case .off = state else { return completion(.failure(.busy)) }
        guard case .extended(let options) = advertisement.packets, advertisement.kind == .nonConnectable,
            !options.isAnonymous, interval.lowerBound >= 6
        else {
            let rule = "a train is told of by an extended advertisement with an address that nobody connects to or asks"
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
        access.host.send(inOrder: contentCommands(plan.content, parameters) + [enable]) { [weak self] result in
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
            access.subevents.add(self, set: advertising.number)
            return [LESetPeriodicAdvertisingParametersV2(v1: parameters, timing: timing, responseSlots: slots)]
        }
    }

    /// Whether the train is on the air.
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

    /// Changes what the train holds. What does not fit one command is for a train that has not begun.
    package func change(_ data: AdvertisingData, completion: @escaping (Result<Void, GAPError>) -> Void) {
        guard case .running = state, subeventCount == 0 else { return completion(.failure(.notReady)) }
        guard data.encoded.count <= AdvertisingCommands.maximumFragment else {
            let rule =
                "data of \(data.encoded.count) octets do not fit a running train; stop it, and begin anew with them"
            return completion(.failure(.impossible(rule)))
        }
        access.host.send(inOrder: dataCommands(data)) { completion($0.mapError { GAPError($0) }) }
    }

    /// Tells nobody any more where the train is; those who follow it still hear it.
    package func hide() {
        advertising.want(nil)
    }

    /// Tells a peer where the train is (9.5.4).
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
        access.trains.tell(link, command, completion)
    }

    /// Ends the train and its advertising.
    package func stop() {
        guard case .running = state else { return }
        state = .off
        endSubevents()
        let disable = LESetPeriodicAdvertisingEnable(enable: [], set: advertising.number)
        access.host.send(disable) { [advertising] _ in advertising.want(nil) }
    }
}
