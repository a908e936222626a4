import BluetoothService
import CoreBluetooth
import Synchronization

extension CBCentralManager {
    /// Scans as long as somebody goes through the stream, and the delegate is told as well.
    ///
    /// A manager has one scan, as on Apple's systems: another one, by this method or by `scanForPeripherals`, takes its place,
    /// and the stream ends with ``ExtrasError/replaced``. It ends without an error after `stopScan`, and with
    /// ``ExtrasError/notPoweredOn(_:)`` when the manager does not take commands, or not any more.
    ///
    /// - Parameter services: Report peripherals that advertise one of these; nil or none means all.
    public func scan(services: [CBUUID]? = nil, options: ScanOptions = ScanOptions()) -> EventStream<Discovery> {
        scan(ScanRequest(services, options)) { happening in
            if case .discovered(let peripheral, let advertisement, let rssi) = happening {
                Discovery(peripheral, advertisement, rssi: rssi)
            } else {
                nil
            }
        }
    }

    /// Scans, for a stream of what `element` makes of what comes.
    func scan<Element>(
        _ request: ScanRequest,
        _ element: @escaping @Sendable (CentralHappening) -> Element?
    ) -> EventStream<Element> {
        let number = Mutex<UInt64?>(nil)
        let (stream, source) = EventStream<Element>.make()
        let registration = happenings.add { happening in
            if case .scanEnded(let ended, let end) = happening {
                if ended == number.withLock({ $0 }) { source.finish(end.error) }
            } else if let element = element(happening) {
                source.send(element)
            }
        }
        source.onEnd { [self] in
            happenings.remove(registration)
            if let number = number.withLock({ $0 }) { endScan(number) }
        }
        guard let scan = beginScan(request) else {
            source.finish(ExtrasError.notPoweredOn(state))
            return stream
        }
        number.withLock { $0 = scan }
        // Another thread may have begun or ended one since.
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
    /// What a stream ends with.
    fileprivate var error: (any Error)? {
        switch self {
        case .stopped, .managerGone: nil
        case .replaced: ExtrasError.replaced
        case .lostPower(let state): ExtrasError.notPoweredOn(state)
        }
    }
}
