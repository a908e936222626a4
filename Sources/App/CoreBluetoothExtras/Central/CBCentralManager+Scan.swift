import CoreBluetooth
import ServiceMessages
import Synchronization

extension CBCentralManager {
    /// Scans as long as the stream is iterated. The delegate is called as well.
    ///
    /// As in Core Bluetooth, a manager has one scan. Another one, by this method or by
    /// `scanForPeripherals(withServices:options:)`, takes its place, and the stream ends with ``ExtrasError/replaced``.
    /// It ends without an error after `stopScan()`, and with ``ExtrasError/notPoweredOn(_:)`` if the manager is not
    /// powered on, or no longer.
    ///
    /// - Parameters:
    ///   - services: Report peripherals that advertise at least one of these services. Nil or an empty list reports all
    ///     (behaviour 2.4).
    ///   - options: The options of the scan.
    /// - Returns: A new stream, which retains the manager.
    public func scan(services: [CBUUID]? = nil, options: ScanOptions = ScanOptions()) -> EventStream<Discovery> {
        scan(ScanRequest(services, options)) { update in
            if case .discovered(let peripheral, let advertisement, let rssi) = update {
                Discovery(peripheral, advertisement, rssi: rssi)
            } else {
                nil
            }
        }
    }

    /// Scans for a stream of the elements that `element` makes of the manager's events.
    func scan<Element>(
        _ request: ScanRequest,
        _ element: @escaping @Sendable (CentralUpdate) -> Element?
    ) -> EventStream<Element> {
        let number = Mutex<UInt64?>(nil)
        let (stream, source) = EventStream<Element>.make()
        let registration = updates.add { update in
            if case .scanEnded(let ended, let end) = update {
                if ended == number.withLock({ $0 }) { source.finish(end.error) }
            } else if let element = element(update) {
                source.send(element)
            }
        }
        source.onEnd { [self] in
            updates.remove(registration)
            if let number = number.withLock({ $0 }) { endScan(number) }
        }
        guard let scan = beginScan(request) else {
            source.finish(ExtrasError.notPoweredOn(state))
            return stream
        }
        number.withLock { $0 = scan }
        // Another thread may have started or stopped a scan meanwhile.
        if presentScan != scan { source.finish(ExtrasError.replaced) }
        return stream
    }
}

extension ScanRequest {
    init(_ services: [CBUUID]?, _ options: ScanOptions) {
        self.init(
            services: services?.map(\.uuid),
            allowsDuplicates: options.allowsDuplicates,
            solicitedServices: options.solicitedServices.map(\.uuid)
        )
    }
}

extension ScanEnd {
    fileprivate var error: (any Error)? {
        switch self {
        case .stopped, .managerGone: nil
        case .replaced: ExtrasError.replaced
        case .lostPower(let state): ExtrasError.notPoweredOn(state)
        }
    }
}
