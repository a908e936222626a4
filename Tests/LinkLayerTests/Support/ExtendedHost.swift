import BluetoothTypes
import HCI

extension LESetExtendedAdvertisingParameters {
    /// A set with an interval of 20 ms, on 1M.
    static func standard(
        _ set: UInt8 = 0,
        _ properties: LEAdvertisingProperties = [],
        _ change: (inout LESetExtendedAdvertisingParameters) -> Void = { _ in }
    ) -> LESetExtendedAdvertisingParameters {
        var command = LESetExtendedAdvertisingParameters {
            $0.set = set
            $0.properties = properties
            $0.intervalMin = 0x20
            $0.intervalMax = 0x4000
            $0.channels = .all
            $0.ownAddressKind = .publicDevice
            $0.peerAddress = .none
            $0.filterPolicy = .unfiltered
            $0.txPower = 0x7F
            $0.primaryPHY = .le1M
            $0.secondaryMaxSkip = 0
            $0.secondaryPHY = .le1M
            $0.sid = 3
            $0.notifiesScanRequests = false
        }
        change(&command)
        return command
    }
}

extension PHYConnectionParameters {
    /// An interval of 30 ms and a timeout of one second.
    static let standard = PHYConnectionParameters {
        $0.scanInterval = 0x10
        $0.scanWindow = 0x10
        $0.intervalMin = 24
        $0.intervalMax = 24
        $0.maxLatency = 0
        $0.supervisionTimeout = 100
        $0.minCELength = 0
        $0.maxCELength = 0
    }
}

extension TestHost {
    /// Sets the parameters and the data of a set.
    @discardableResult
    func prepare(
        _ properties: LEAdvertisingProperties = [],
        set: UInt8 = 0,
        data: PacketBuffer = [],
        scanResponse: PacketBuffer = [],
        _ change: (inout LESetExtendedAdvertisingParameters) -> Void = { _ in }
    ) -> HCIStatus {
        let status = send(LESetExtendedAdvertisingParameters.standard(set, properties, change))
        give(data, to: set)
        give(scanResponse, to: set, isScanResponse: true)
        return status
    }

    /// Advertises with a set.
    @discardableResult
    func advertiseExtended(
        _ properties: LEAdvertisingProperties = [],
        set: UInt8 = 0,
        data: PacketBuffer = [],
        scanResponse: PacketBuffer = [],
        duration: UInt16 = 0,
        maxEvents: UInt8 = 0,
        _ change: (inout LESetExtendedAdvertisingParameters) -> Void = { _ in }
    ) -> HCIStatus {
        let status = prepare(properties, set: set, data: data, scanResponse: scanResponse, change)
        return status == .success ? enable([(set, duration, maxEvents)]) : status
    }

    /// Sets the data of a set in as many fragments as needed.
    func give(_ data: PacketBuffer, to set: UInt8, isScanResponse: Bool = false) {
        var rest = data
        while !rest.isEmpty {
            let isFirst = rest.count == data.count
            let isLast = rest.count <= 251
            let operation: LEDataOperation =
                isFirst ? (isLast ? .complete : .first) : (isLast ? .last : .intermediate)
            let piece = rest.prefix(upTo: 251)
            if isScanResponse {
                send(
                    LESetExtendedScanResponseData(set: set, operation: operation, fragmentPreference: 0, data: piece)
                )
            } else {
                send(LESetExtendedAdvertisingData(set: set, operation: operation, fragmentPreference: 0, data: piece))
            }
            rest = rest.suffix(after: 251)
        }
    }

    @discardableResult
    func enable(_ sets: [(set: UInt8, duration: UInt16, maxEvents: UInt8)], _ isEnabled: Bool = true) -> HCIStatus {
        let entries = sets.map { AdvertisingSetEnable(set: $0.set, duration: $0.duration, maxEvents: $0.maxEvents) }
        return send(LESetExtendedAdvertisingEnable(isEnabled: isEnabled, sets: entries))
    }

    /// Scans continuously, on 1M by default.
    @discardableResult
    func scanExtended(
        _ kind: LEScanKind = .passive,
        phys: LEPHYs = .le1M,
        interval: UInt16 = 0x10,
        window: UInt16 = 0x10,
        policy: LEScanFilterPolicy = .unfiltered,
        filter: LEDuplicateFilter = .disabled,
        duration: UInt16 = 0,
        period: UInt16 = 0
    ) -> HCIStatus {
        let phy = PHYScanParameters(kind: kind, scanInterval: interval, scanWindow: window)
        send(
            LESetExtendedScanParameters {
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = policy
                $0.le1M = phys.contains(.le1M) ? phy : nil
                $0.coded = phys.contains(.coded) ? phy : nil
            }
        )
        return send(
            LESetExtendedScanEnable(isEnabled: true, filterDuplicates: filter, duration: duration, period: period)
        )
    }

    /// Initiates on the primary PHYs, for links on any PHY.
    @discardableResult
    func connectExtended(
        to peer: BluetoothAddress?,
        phys: LEPHYs = .le1M,
        _ change: (inout PHYConnectionParameters) -> Void = { _ in }
    ) -> HCIStatus {
        var phy = PHYConnectionParameters.standard
        change(&phy)
        return send(
            LEExtendedCreateConnection {
                $0.filterPolicy = peer == nil ? .acceptList : .peerAddress
                $0.ownAddressKind = .publicDevice
                $0.peerAddress = peer ?? .none
                $0.le1M = phys.contains(.le1M) ? phy : nil
                $0.le2M = phys.contains(.le2M) ? phy : nil
                $0.coded = phys.contains(.coded) ? phy : nil
            }
        )
    }

    /// The extended reports so far.
    var reports: [ExtendedAdvertisingReport] { events(LEExtendedAdvertisingReport.self).flatMap(\.reports) }

    /// The extended reports so far with their data reassembled.
    var wholeReports: [ExtendedAdvertisingReport] {
        var whole: [ExtendedAdvertisingReport] = []
        var partial: PacketBuffer = []
        for report in reports {
            partial.append(contentsOf: report.data)
            guard report.kind.dataStatus != .moreToCome else { continue }
            var report = report
            report.data = partial
            partial = []
            whole.append(report)
        }
        return whole
    }

    /// The connections reported to this host.
    var connections: [LEEnhancedConnectionComplete] { events() }
}

/// Varying octets, so that misplaced ones show.
func sampleData(_ count: Int) -> PacketBuffer {
    PacketBuffer((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
}
