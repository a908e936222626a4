import BluetoothTypes
import EventLoops
import HCI
import Logging

/// Listens for advertisements with the legacy commands of the controller, and asks for scan responses (behaviour 2.14).
///
/// The controller is told to report every packet: what is a duplicate is decided for each scan of each app.
public final class Scanner {
    /// How often the controller listens and for how long, in units of 625 µs: half of the time.
    public static let interval: UInt16 = 96
    /// See ``interval``.
    public static let window: UInt16 = 48

    /// Takes what is heard.
    public var onSighting: ((Sighting) -> Void)?

    /// How long to wait before a controller that could not scan is asked again.
    private static let retryDelay = Duration.seconds(1)

    private let host: HCIHost
    private let loop: any EventLoop
    private let logger: Logger
    private var machine = ScannerMachine()
    private var devices = DeviceTable()
    private var ownAddress: OwnAddress?
    private var isWanted = false

    /// A scanner that is off. It takes the advertising reports of `host`.
    public init(host: HCIHost, loop: any EventLoop, logger: Logger) {
        self.host = host
        self.loop = loop
        self.logger = logger
        host.onEvent(LEAdvertisingReport.self) { [weak self] in self?.receive($0) }
    }

    /// The controller is ready.
    public func begin(_ address: OwnAddress) {
        ownAddress = address
    }

    /// The controller is gone; nobody listens any more.
    public func reset() {
        ownAddress = nil
        isWanted = false
        devices.removeAll()
        perform(machine.handle(.reset))
    }

    /// Whether somebody wants to hear advertisements. Before ``begin(_:)`` nothing happens.
    public func want(_ isWanted: Bool) {
        guard ownAddress != nil, isWanted != self.isWanted else { return }
        self.isWanted = isWanted
        if !isWanted { devices.removeAll() }
        perform(machine.handle(.want(isWanted)))
    }

    private func perform(_ actions: [ScannerMachine.Action]) {
        for action in actions {
            switch action {
            case .start: start()
            case .stop:
                host.send(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled)) { [weak self] _ in
                    guard let self else { return }
                    perform(machine.handle(.stopped))
                }
            }
        }
    }

    private func start() {
        guard let ownAddress else { return }
        host.send(
            LESetScanParameters(
                kind: .active,
                scanInterval: Self.interval,
                scanWindow: Self.window,
                ownAddressKind: ownAddress.kind,
                filterPolicy: .everybody
            )
        ) { [logger] result in
            if case .failure(let error) = result { logger.warning("cannot set up scanning: \(error)") }
        }
        host.send(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled)) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success:
                perform(machine.handle(.started(success: true)))
            case .failure(let error):
                logger.warning("cannot scan: \(error)")
                perform(machine.handle(.started(success: false)))
                tryLater()
            }
        }
    }

    /// Some controllers cannot scan while they connect.
    private func tryLater() {
        guard isWanted else { return }
        loop.schedule(after: Self.retryDelay) { [weak self] in
            guard let self, isWanted, ownAddress != nil else { return }
            perform(machine.handle(.want(true)))
        }
    }

    private func receive(_ event: LEAdvertisingReport) {
        guard isWanted else { return }
        for report in event.reports {
            guard let kind = AdvertisingKind(report.kind),
                let sighting = devices.receive(kind, from: report.address, data: report.data, rssi: Int(report.rssi))
            else { continue }
            onSighting?(sighting)
        }
    }
}

extension AdvertisingKind {
    /// The kind of a report; nil for a number that is none.
    fileprivate init?(_ kind: LEAdvertisingReportKind) {
        switch kind {
        case .connectableScannable: self = .connectable
        case .directed: self = .directed
        case .scannable: self = .scannable
        case .nonConnectable: self = .nonConnectable
        case .scanResponse: self = .scanResponse
        default: return nil
        }
    }
}
