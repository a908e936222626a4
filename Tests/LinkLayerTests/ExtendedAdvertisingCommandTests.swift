import BluetoothTypes
import HCI
import Testing

private let peer = BluetoothAddress(0x11_2233_4455, kind: .publicDevice)
private typealias Parameters = LESetExtendedAdvertisingParameters

/// Core Vol 4 Part E 7.8.52 to 7.8.60, rule by rule.
private let addressCases: [CommandCase] = [
    CommandCase(
        "random address of an unknown set",
        .unknownAdvertisingIdentifier,
        LESetAdvertisingSetRandomAddress(set: 0, address: peer)
    ),
    .accepted("random address", LESetAdvertisingSetRandomAddress(set: 0, address: peer)) { $0.prepare() },
    .disallowed(
        "random address while connectable advertising is enabled",
        LESetAdvertisingSetRandomAddress(set: 0, address: peer)
    ) { $0.advertiseExtended(.connectable) },
    .accepted(
        "random address while non-connectable advertising is enabled",
        LESetAdvertisingSetRandomAddress(set: 0, address: peer)
    ) { $0.advertiseExtended() },
    .invalid(
        "all-zero random address",
        LESetAdvertisingSetRandomAddress(set: 0, address: BluetoothAddress(0, kind: .randomDevice))
    ) { $0.prepare() },
]

private let parameterCases: [CommandCase] = [
    .accepted("parameters", Parameters.standard()),
    .accepted("set 0xEF", Parameters.standard(0xEF)),
    .invalid("set 0xF0", Parameters.standard(0xF0)),
    .accepted("16 sets", Parameters.standard(15)) { host in
        for set in 0..<15 as Range<UInt8> { host.prepare(set: set) }
    },
    CommandCase("17 sets", .memoryCapacityExceeded, Parameters.standard(16)) { host in
        for set in 0..<16 as Range<UInt8> { host.prepare(set: set) }
    },
    .accepted("parameters of 16 sets again", Parameters.standard(7)) { host in
        for set in 0..<16 as Range<UInt8> { host.prepare(set: set) }
    },
    .disallowed("parameters while enabled", Parameters.standard()) { $0.advertiseExtended() },
    .accepted("parameters while another set is enabled", Parameters.standard(1)) {
        $0.advertiseExtended()
    },
    .invalid("both connectable and scannable", Parameters.standard(0, [.connectable, .scannable])),
    .invalid("high duty cycle with extended PDUs", Parameters.standard(0, [.connectable, .directed, .highDutyCycle])),
    .invalid("high duty cycle alone", Parameters.standard(0, .highDutyCycle)),
    .accepted("anonymous", Parameters.standard(0, .anonymous)),
    .invalid("anonymous and connectable", Parameters.standard(0, [.anonymous, .connectable])),
    .invalid("anonymous and scannable", Parameters.standard(0, [.anonymous, .scannable])),
    .accepted("directed", Parameters.standard(0, .directed)),
    .accepted("directed and connectable", Parameters.standard(0, [.directed, .connectable])),
    .accepted("directed and scannable", Parameters.standard(0, [.directed, .scannable])),
    .invalid(
        "directed to an address of an unknown kind",
        Parameters.standard(0, .directed) { $0.peerAddress = BluetoothAddress(1, kind: .init(rawValue: 2)) }
    ),
    CommandCase("interval below 20 ms", .unsupportedFeatureOrParameter, Parameters.standard { $0.intervalMin = 0x1F }),
    CommandCase(
        "intervals below 20 ms",
        .unsupportedFeatureOrParameter,
        Parameters.standard { ($0.intervalMin, $0.intervalMax) = (0x1F, 0x1F) }
    ),
    .accepted(
        "interval of 10,485 s",
        Parameters.standard { ($0.intervalMin, $0.intervalMax) = (0xFF_FFFF, 0xFF_FFFF) }
    ),
    .invalid("reversed intervals", Parameters.standard { ($0.intervalMin, $0.intervalMax) = (0x41, 0x40) }),
    .invalid("no channel", Parameters.standard { $0.channels = [] }),
    .invalid("only a reserved channel", Parameters.standard { $0.channels = .init(rawValue: 8) }),
    .accepted("a reserved channel too", Parameters.standard { $0.channels = .init(rawValue: 0x0F) }),
    .invalid("own address 4", Parameters.standard { $0.ownAddressKind = .init(rawValue: 4) }),
    .invalid("filter policy 4", Parameters.standard { $0.filterPolicy = .init(rawValue: 4) }),
    .invalid("power of 21 dBm", Parameters.standard { $0.txPower = 21 }),
    .invalid("power of -128 dBm", Parameters.standard { $0.txPower = -128 }),
    .accepted("power of -127 dBm", Parameters.standard { $0.txPower = -127 }),
    .invalid("primary 2M", Parameters.standard { $0.primaryPHY = .le2M }),
    .invalid("primary 0", Parameters.standard { $0.primaryPHY = .none }),
    .invalid("secondary 0", Parameters.standard { $0.secondaryPHY = .none }),
    .invalid("secondary 4", Parameters.standard { $0.secondaryPHY = .init(rawValue: 4) }),
    .accepted("secondary Coded", Parameters.standard { $0.secondaryPHY = .coded }),
    .invalid("SID 16", Parameters.standard { $0.sid = 16 }),
    CommandCase(
        "notification 2",
        .invalidParameters,
        Parameters.opcode,
        PacketBuffer(Parameters.standard().encoded().dropLast() + [2]).bytes
    ),
]

private let legacyCases: [CommandCase] =
    [0x13, 0x15, 0x1D, 0x12, 0x10].map { properties in
        .accepted("legacy PDUs 0x\(String(properties, radix: 16))", Parameters.standard(0, .init(rawValue: properties)))
    }
    + [0x11, 0x14, 0x16, 0x17, 0x18, 0x19, 0x1F, 0x30, 0x33, 0x50, 0x53].map { properties in
        .invalid(
            "no such legacy PDUs: 0x\(String(properties, radix: 16))",
            Parameters.standard(0, .init(rawValue: properties))
        )
    }
    + [
        .invalid("legacy PDUs on Coded", Parameters.standard(0, .legacy) { $0.primaryPHY = .coded }),
        .accepted("legacy PDUs with a secondary PHY of 0", Parameters.standard(0, .legacy) { $0.secondaryPHY = .none }),
        .accepted(
            "high duty cycle has its own interval",
            Parameters.standard(0, [.legacy, .connectable, .directed, .highDutyCycle]) {
                ($0.intervalMin, $0.intervalMax) = (0, 0)
            }
        ),
        .invalid("legacy PDUs for 32 octets", Parameters.standard(0, .legacy)) {
            $0.prepare(data: sampleData(32))
        },
        .accepted("legacy PDUs for 31 octets", Parameters.standard(0, .legacy)) {
            $0.prepare(data: sampleData(31))
        },
    ]

private let changeCases: [CommandCase] = [
    .invalid("scannable with advertising data", Parameters.standard(0, .scannable)) {
        $0.prepare(data: [1])
    },
    .invalid(
        "directed legacy PDUs with advertising data",
        Parameters.standard(0, [.legacy, .connectable, .directed])
    ) { $0.prepare(data: [1]) },
    .invalid("connectable with scan response data", Parameters.standard(0, .connectable)) {
        $0.prepare(.scannable, scanResponse: [1])
    },
    .invalid("connectable with too many data", Parameters.standard(0, .connectable)) {
        $0.prepare(data: sampleData(246))
    },
    .accepted("connectable with as many data as fit", Parameters.standard(0, .connectable)) {
        $0.prepare(data: sampleData(245))
    },
    CommandCase(
        "more data than the interval has time for",
        .packetTooLong,
        Parameters.standard { ($0.intervalMax, $0.secondaryPHY) = (0x20, .coded) }
    ) { $0.prepare(data: sampleData(1_650)) },
    .accepted(
        "the same amount of data on 1M",
        Parameters.standard { $0.intervalMax = 0x20 }
    ) { $0.prepare(data: sampleData(1_200)) },
    .accepted(
        "more data than an older controller has PHYs",
        Parameters.standard { $0.secondaryPHY = .le2M }
    ) { $0.prepare(data: sampleData(1_650)) },
]

private func data(_ operation: UInt8, _ octets: Int, set: UInt8 = 0) -> LESetExtendedAdvertisingData {
    .init(set: set, operation: .init(rawValue: operation), fragmentPreference: 0, data: sampleData(octets))
}

private func response(_ operation: UInt8, _ octets: Int, set: UInt8 = 0) -> LESetExtendedScanResponseData {
    .init(set: set, operation: .init(rawValue: operation), fragmentPreference: 0, data: sampleData(octets))
}

private let dataCases: [CommandCase] = [
    CommandCase("data of an unknown set", .unknownAdvertisingIdentifier, data(3, 1)),
    .accepted("data", data(3, 251)) { $0.prepare() },
    .accepted("no data", data(3, 0)) { $0.prepare() },
    .invalid("data of an operation 5", data(5, 1)) { $0.prepare() },
    .invalid("data of a scannable set", data(3, 1)) { $0.prepare(.scannable) },
    .invalid("data of a directed legacy set", data(3, 1)) {
        $0.prepare([.legacy, .connectable, .directed])
    },
    .invalid("a piece for legacy PDUs", data(1, 1)) { $0.prepare(.legacy) },
    .invalid("32 octets for legacy PDUs", data(3, 32)) { $0.prepare(.legacy) },
    .accepted("31 octets for legacy PDUs", data(3, 31)) { $0.prepare(.legacy) },
    .invalid("an empty first piece", data(1, 0)) { $0.prepare() },
    .invalid("an empty piece in between", data(0, 0)) { $0.prepare() },
    .invalid("an empty last piece", data(2, 0)) { $0.prepare() },
    .disallowed("a piece while enabled", data(1, 1)) { $0.advertiseExtended() },
    .disallowed("a last piece while enabled", data(2, 1)) { $0.advertiseExtended() },
    .accepted("all data while enabled", data(3, 1)) { $0.advertiseExtended() },
    .accepted("unchanged while enabled", data(4, 0)) { $0.advertiseExtended(data: [1]) },
    .invalid("unchanged while disabled", data(4, 0)) { $0.prepare(data: [1]) },
    .invalid("unchanged without data", data(4, 0)) { $0.advertiseExtended() },
    .invalid("unchanged with data", data(4, 1)) { $0.advertiseExtended(data: [1]) },
    .invalid("unchanged in legacy PDUs", data(4, 0)) {
        $0.advertiseExtended(.legacy, data: [1])
    },
    CommandCase("1,651 octets", .memoryCapacityExceeded, data(2, 145)) { host in
        host.prepare()
        host.send(data(1, 251))
        for _ in 0..<5 { host.send(data(0, 251)) }
    },
    .accepted("1,650 octets", data(2, 144)) { host in
        host.prepare()
        host.send(data(1, 251))
        for _ in 0..<5 { host.send(data(0, 251)) }
    },
    .invalid("too many data while connectable and enabled", data(3, 246)) {
        $0.advertiseExtended(.connectable)
    },
    CommandCase("a length that is not true", .invalidParameters, LESetExtendedAdvertisingData.opcode, [0, 3, 0, 2, 1]) {
        $0.prepare()
    },
]

private let responseCases: [CommandCase] = [
    CommandCase("response of an unknown set", .unknownAdvertisingIdentifier, response(3, 1)),
    .accepted("response", response(3, 1)) { $0.prepare(.scannable) },
    .invalid("response of a set that is not scannable", response(3, 1)) { $0.prepare() },
    .accepted("no response of a set that is not scannable", response(3, 0)) { $0.prepare() },
    .invalid("response unchanged", response(4, 0)) { $0.prepare(.scannable) },
    .invalid("a piece of a legacy response", response(1, 1)) {
        $0.prepare([.legacy, .scannable])
    },
    .invalid("a legacy response of 32 octets", response(3, 32)) {
        $0.prepare([.legacy, .scannable])
    },
    .invalid("an empty piece of a response", response(1, 0)) { $0.prepare(.scannable) },
    .disallowed("a piece of a response while enabled", response(1, 1)) {
        $0.advertiseExtended(.scannable, scanResponse: [1])
    },
    .accepted("all of a response while enabled", response(3, 1)) {
        $0.advertiseExtended(.scannable, scanResponse: [1])
    },
    .disallowed("an empty response while enabled", response(3, 0)) {
        $0.advertiseExtended(.scannable, scanResponse: [1])
    },
    .accepted("an empty legacy response while enabled", response(3, 0)) {
        $0.advertiseExtended([.legacy, .scannable], scanResponse: [1])
    },
    CommandCase("a response of 1,651 octets", .memoryCapacityExceeded, response(2, 145)) { host in
        host.prepare(.scannable)
        host.send(response(1, 251))
        for _ in 0..<5 { host.send(response(0, 251)) }
    },
    CommandCase("a response that takes longer than the interval", .packetTooLong, response(2, 200)) { host in
        host.prepare(.scannable) { ($0.intervalMax, $0.secondaryPHY) = (0x30, .coded) }
        host.send(response(1, 251))
    },
]

private func enabling(_ sets: [(UInt8, UInt16)], _ isEnabled: Bool = true) -> LESetExtendedAdvertisingEnable {
    .init(isEnabled: isEnabled, sets: sets.map { .init(set: $0.0, duration: $0.1, maxEvents: 0) })
}

private let highDuty: LEAdvertisingProperties = [.legacy, .connectable, .directed, .highDutyCycle]

private let enableCases: [CommandCase] = [
    .invalid("enabling nothing", enabling([])),
    .accepted("disabling all", enabling([], false)),
    CommandCase("enabling no set", .unknownAdvertisingIdentifier, enabling([(0, 0)])),
    CommandCase("disabling no set", .unknownAdvertisingIdentifier, enabling([(0, 0)], false)),
    .invalid("enabling one set twice", enabling([(0, 0), (0, 0)])) { $0.prepare() },
    .accepted("enabling two sets", enabling([(0, 0), (1, 0)])) {
        $0.prepare()
        $0.prepare(set: 1)
    },
    CommandCase(
        "enabling two sets, one of which does not exist",
        .unknownAdvertisingIdentifier,
        enabling([(0, 0), (1, 0)])
    ) { $0.prepare() },
    .accepted("enabling again", enabling([(0, 0)])) { $0.advertiseExtended() },
    CommandCase("enable 2", .invalidParameters, LESetExtendedAdvertisingEnable.opcode, [2, 1, 0, 0, 0, 0]) {
        $0.prepare()
    },
    .invalid("high duty cycle for ever", enabling([(0, 0)])) { $0.prepare(highDuty) },
    .invalid("high duty cycle for 1.29 s", enabling([(0, 129)])) { $0.prepare(highDuty) },
    .accepted("high duty cycle for 1.28 s", enabling([(0, 128)])) { $0.prepare(highDuty) },
    .disallowed("enabling with half of the data", enabling([(0, 0)])) {
        $0.prepare()
        $0.send(data(1, 1))
    },
    .disallowed("enabling with half of the response", enabling([(0, 0)])) {
        $0.prepare(.scannable)
        $0.send(response(1, 1))
    },
    .disallowed("enabling scannable without a response", enabling([(0, 0)])) {
        $0.prepare(.scannable)
    },
    .accepted("enabling scannable legacy PDUs without a response", enabling([(0, 0)])) {
        $0.prepare([.legacy, .scannable])
    },
    .invalid("connectable with 246 octets", enabling([(0, 0)])) {
        $0.prepare(.connectable, data: sampleData(246))
    },
    CommandCase("enabling more data than there is time", .packetTooLong, enabling([(0, 0)])) {
        $0.prepare(data: sampleData(1_650)) { ($0.intervalMax, $0.secondaryPHY) = (0x20, .coded) }
    },
    .invalid("random without an address", enabling([(0, 0)])) {
        $0.prepare { $0.ownAddressKind = .randomDevice }
    },
    .invalid("random with the address of the device only", enabling([(0, 0)])) {
        $0.prepare { $0.ownAddressKind = .randomDevice }
        $0.send(LESetRandomAddress(address: peer))
    },
    .accepted("random with an address of its own", enabling([(0, 0)])) {
        $0.prepare { $0.ownAddressKind = .randomDevice }
        $0.send(LESetAdvertisingSetRandomAddress(set: 0, address: peer))
    },
]

private let removeCases: [CommandCase] = [
    CommandCase("removing an unknown set", .unknownAdvertisingIdentifier, LERemoveAdvertisingSet(set: 0)),
    .accepted("removing", LERemoveAdvertisingSet(set: 0)) { $0.prepare() },
    .disallowed("removing while enabled", LERemoveAdvertisingSet(set: 0)) {
        $0.advertiseExtended()
    },
    .accepted("clearing nothing", LEClearAdvertisingSets()),
    .disallowed("clearing while one is enabled", LEClearAdvertisingSets()) {
        $0.advertiseExtended()
        $0.prepare(set: 1)
    },
    CommandCase("enabling a set that has been cleared", .unknownAdvertisingIdentifier, enabling([(0, 0)])) {
        $0.prepare()
        $0.send(LEClearAdvertisingSets())
    },
]

@Suite struct ExtendedAdvertisingCommandTests {
    @Test(arguments: addressCases + parameterCases + legacyCases + changeCases)
    private func parameters(test: CommandCase) { test.check() }

    @Test(arguments: dataCases + responseCases)
    private func data(test: CommandCase) { test.check() }

    @Test(arguments: enableCases + removeCases)
    private func enabling(test: CommandCase) { test.check() }
}
