import CoreBluetooth
import ServiceMessages
import Synchronization

extension CBPeripheral {
    /// Reads the parameters of the link and its signal strength (behaviour 15.4).
    ///
    /// - Parameter deadline: The time limit, by the clock of the service. Nil for none.
    /// - Returns: The present parameters.
    /// - Throws: `CBError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func linkInformation(deadline: Duration? = nil) async throws -> LinkInformation {
        let event = try await answer(to: .readLinkInformation, within: deadline)
        guard case .linkInformation(let facts) = event else { throw event.isNoAnswer }
        return LinkInformation(facts)
    }

    /// A new stream of the link's parameters: the present ones, and each change (behaviour 15.4).
    ///
    /// The stream outlasts a disconnection, and starts anew with the next connection. The service reports changes only
    /// while there is such a stream. ``LinkInformation/rssi`` is nil in it.
    public var linkChanges: EventStream<LinkInformation> {
        // The parameters that the stream has reported last. Where another stream has started, the service repeats them
        // to all streams, which is no change.
        let last = Mutex<LinkInformation?>(nil)
        let (stream, source) = EventStream<LinkInformation>.make()
        let registration = updates.add { [weak self] update in
            switch update {
            case .event(.linkInformation(let facts)):
                var new = LinkInformation(facts)
                new.rssi = nil
                let isNew = last.withLock { last in
                    defer { last = new }
                    return last != new
                }
                if isNew { source.send(new) }
            case .connected:
                last.withLock { $0 = nil }
                self?.sendCommand(.watchLink(true))
            case .disconnected, .connectionFailed, .servicesModified, .event: break
            }
        }
        asynchronous.linkWatchers.withLock { $0 += 1 }
        source.onEnd { [self] in
            updates.remove(registration)
            let left = asynchronous.linkWatchers.withLock { count in
                count -= 1
                return count
            }
            if left == 0 { sendCommand(.watchLink(false)) }
        }
        sendCommand(.watchLink(true))
        return stream
    }

    /// Requests parameters for the link, as a hint.
    ///
    /// The two devices decide, and there is no response: ``linkChanges`` shows the outcome. Without a connection the
    /// call has no effect.
    ///
    /// - Parameter request: The desired parameters.
    public func prefer(_ request: LinkWish) { sendCommand(.preferLink(LinkPreference(request))) }
}

extension CBPeripheral {
    /// Opens an L2CAP channel to a PSM of the device.
    ///
    /// The channel belongs to the caller, and the delegate is not called (behaviour 15.23). Keep it: without a
    /// reference it closes (behaviour 8.7).
    ///
    /// - Parameters:
    ///   - psm: The number that the device accepts channels on.
    ///   - deadline: The time limit, by the clock of the service. Nil for none; then the call ends at the latest with
    ///     the connection (behaviour 8.12).
    /// - Returns: The channel.
    /// - Throws: `CBError`, ``ExtrasError/deadlinePassed`` or `CancellationError`.
    public func openChannel(_ psm: CBL2CAPPSM, deadline: Duration? = nil) async throws -> CBL2CAPChannel {
        let wait = Wait<CBL2CAPChannel>()
        return try await wait.value {
            limit(wait, to: deadline)
            ask(.openChannel(psm: psm)) { [self] outcome in
                switch outcome {
                case .failure(let error): wait.end(.failure(error))
                case .success(.channelOpened(_, .failure(let error))): wait.end(.failure(error.apiError))
                case .success(.channelOpened(_, .success(let channel))):
                    if wait.isOver { return refuse(channel) }
                    wait.end(.success(takeOver(channel, psm: psm)))
                case .success(let event): wait.end(.failure(event.isNoAnswer))
                }
            }
        }
    }
}

/// Streams of a peripheral's own changes. They retain the peripheral and outlast a disconnection.
extension CBPeripheral {
    /// A new stream of services that were removed or changed. Discover them again (behaviour 4.13).
    public var serviceChanges: EventStream<[CBService]> {
        updates.stream(keeping: self) {
            if case .servicesModified(let services) = $0 { $1.send(services) }
        }
    }

    /// A new stream of the device's GAP names, one for each change (behaviour 2.24).
    public var nameChanges: EventStream<String?> {
        updates.stream(keeping: self) {
            if case .event(.nameChanged(let name)) = $0 { $1.send(name) }
        }
    }

    /// A new stream of the longest value of a write without response, in octets, each time that it grows. The length
    /// read right after connecting is not final (behaviour 15.25).
    public var maximumWriteLengthChanges: EventStream<Int> {
        updates.stream(keeping: self) {
            if case .event(.maximumWriteLengthChanged(let length)) = $0 { $1.send(length) }
        }
    }

    /// A new stream of decisions on whether the device may read this system's notifications (behaviour 3.19).
    public var notificationAuthorizations: EventStream<Bool> {
        updates.stream(keeping: self) {
            if case .event(.notificationsAuthorized(let isAuthorized)) = $0 { $1.send(isAuthorized) }
        }
    }
}
