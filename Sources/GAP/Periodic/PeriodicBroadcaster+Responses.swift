import BluetoothTypes
import HCI
import HCIHost
import Privacy

// Trains with responses (Core Vol 3 Part C 9.5.2) and connections from them (9.5.5).
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
    func endSubevents() {
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
        for response in event.responses { take(response, event.periodicSubevent) }
    }

    private func take(_ response: LEPeriodicResponse, _ subevent: UInt8) {
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
