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
    CommandCase("random address", .success, LESetAdvertisingSetRandomAddress(set: 0, address: peer)) { $0.prepare() },
    CommandCase(
        "random address while connectable advertising is enabled",
        .commandDisallowed,
        LESetAdvertisingSetRandomAddress(set: 0, address: peer)
    ) { $0.advertiseExtended(.connectable) },
    CommandCase(
        "random address while non-connectable advertising is enabled",
        .success,
        LESetAdvertisingSetRandomAddress(set: 0, address: peer)
    ) { $0.advertiseExtended() },
    CommandCase(
        "all-zero random address",
        .invalidParameters,
        LESetAdvertisingSetRandomAddress(set: 0, address: BluetoothAddress(0, kind: .randomDevice))
    ) { $0.prepare() },
]

private let parameterCases: [CommandCase] = [
    CommandCase("parameters", .success, Parameters.standard()),
    CommandCase("set 0xEF", .success, Parameters.standard(0xEF)),
    CommandCase("set 0xF0", .invalidParameters, Parameters.standard(0xF0)),
    CommandCase("16 sets", .success, Parameters.standard(15)) { host in
        for set in 0..<15 as Range<UInt8> { host.prepare(set: set) }
    },
    CommandCase("17 sets", .memoryCapacityExceeded, Parameters.standard(16)) { host in
        for set in 0..<16 as Range<UInt8> { host.prepare(set: set) }
    },
    CommandCase("parameters of 16 sets again", .success, Parameters.standard(7)) { host in
        for set in 0..<16 as Range<UInt8> { host.prepare(set: set) }
    },
    CommandCase("parameters while enabled", .commandDisallowed, Parameters.standard()) { $0.advertiseExtended() },
    CommandCase("parameters while another set is enabled", .success, Parameters.standard(1)) {
        $0.advertiseExtended()
    },
    CommandCase(
        "both connectable and scannable",
        .invalidParameters,
        Parameters.standard(0, [.connectable, .scannable])
    ),
    CommandCase(
        "high duty cycle with extended PDUs",
        .invalidParameters,
        Parameters.standard(0, [.connectable, .directed, .highDutyCycle])
    ),
    CommandCase("high duty cycle alone", .invalidParameters, Parameters.standard(0, .highDutyCycle)),
    CommandCase("anonymous", .success, Parameters.standard(0, .anonymous)),
    CommandCase("anonymous and connectable", .invalidParameters, Parameters.standard(0, [.anonymous, .connectable])),
    CommandCase("anonymous and scannable", .invalidParameters, Parameters.standard(0, [.anonymous, .scannable])),
    CommandCase("directed", .success, Parameters.standard(0, .directed)),
    CommandCase("directed and connectable", .success, Parameters.standard(0, [.directed, .connectable])),
    CommandCase("directed and scannable", .success, Parameters.standard(0, [.directed, .scannable])),
    CommandCase(
        "directed to an address of an unknown kind",
        .invalidParameters,
        Parameters.standard(0, .directed) { $0.peerAddress = BluetoothAddress(1, kind: .init(rawValue: 2)) }
    ),
    CommandCase("interval below 20 ms", .unsupportedFeatureOrParameter, Parameters.standard { $0.intervalMin = 0x1F }),
    CommandCase(
        "intervals below 20 ms",
        .unsupportedFeatureOrParameter,
        Parameters.standard { ($0.intervalMin, $0.intervalMax) = (0x1F, 0x1F) }
    ),
    CommandCase(
        "interval of 10,485 s",
        .success,
        Parameters.standard { ($0.intervalMin, $0.intervalMax) = (0xFF_FFFF, 0xFF_FFFF) }
    ),
    CommandCase(
        "reversed intervals",
        .invalidParameters,
        Parameters.standard { ($0.intervalMin, $0.intervalMax) = (0x41, 0x40) }
    ),
    CommandCase("no channel", .invalidParameters, Parameters.standard { $0.channels = [] }),
    CommandCase(
        "only a reserved channel",
        .invalidParameters,
        Parameters.standard { $0.channels = .init(rawValue: 8) }
    ),
    CommandCase("a reserved channel too", .success, Parameters.standard { $0.channels = .init(rawValue: 0x0F) }),
    CommandCase("own address 4", .invalidParameters, Parameters.standard { $0.ownAddressKind = .init(rawValue: 4) }),
    CommandCase("filter policy 4", .invalidParameters, Parameters.standard { $0.filterPolicy = .init(rawValue: 4) }),
    CommandCase("power of 21 dBm", .invalidParameters, Parameters.standard { $0.txPower = 21 }),
    CommandCase("power of -128 dBm", .invalidParameters, Parameters.standard { $0.txPower = -128 }),
    CommandCase("power of -127 dBm", .success, Parameters.standard { $0.txPower = -127 }),
    CommandCase("primary 2M", .invalidParameters, Parameters.standard { $0.primaryPHY = .le2M }),
    CommandCase("primary 0", .invalidParameters, Parameters.standard { $0.primaryPHY = .none }),
    CommandCase("secondary 0", .invalidParameters, Parameters.standard { $0.secondaryPHY = .none }),
    CommandCase("secondary 4", .invalidParameters, Parameters.standard { $0.secondaryPHY = .init(rawValue: 4) }),
    CommandCase("secondary Coded", .success, Parameters.standard { $0.secondaryPHY = .coded }),
    CommandCase("SID 16", .invalidParameters, Parameters.standard { $0.sid = 16 }),
    CommandCase(
        "notification 2",
        .invalidParameters,
        Parameters.opcode,
        PacketBuffer(Parameters.standard().encoded().dropLast() + [2]).bytes
    ),
]

private let legacyCases: [CommandCase] =
    [0x13, 0x15, 0x1D, 0x12, 0x10].map { properties in
        CommandCase(
            "legacy PDUs 0x\(String(properties, radix: 16))",
            .success,
            Parameters.standard(0, .init(rawValue: properties))
        )
    }
    + [0x11, 0x14, 0x16, 0x17, 0x18, 0x19, 0x1F, 0x30, 0x33, 0x50, 0x53].map { properties in
        CommandCase(
            "no such legacy PDUs: 0x\(String(properties, radix: 16))",
            .invalidParameters,
            Parameters.standard(0, .init(rawValue: properties))
        )
    }
    + [
        CommandCase(
            "legacy PDUs on Coded",
            .invalidParameters,
            Parameters.standard(0, .legacy) { $0.primaryPHY = .coded }
        ),
        CommandCase(
            "legacy PDUs with a secondary PHY of 0",
            .success,
            Parameters.standard(0, .legacy) { $0.secondaryPHY = .none }
        ),
        CommandCase(
            "high duty cycle has its own interval",
            .success,
            Parameters.standard(0, [.legacy, .connectable, .directed, .highDutyCycle]) {
                ($0.intervalMin, $0.intervalMax) = (0, 0)
            }
        ),
        CommandCase("legacy PDUs for 32 octets", .invalidParameters, Parameters.standard(0, .legacy)) {
            $0.prepare(data: sampleData(32))
        },
        CommandCase("legacy PDUs for 31 octets", .success, Parameters.standard(0, .legacy)) {
            $0.prepare(data: sampleData(31))
        },
    ]

private let changeCases: [CommandCase] = [
    CommandCase("scannable with advertising data", .invalidParameters, Parameters.standard(0, .scannable)) {
        $0.prepare(data: [1])
    },
    CommandCase(
        "directed legacy PDUs with advertising data",
        .invalidParameters,
        Parameters.standard(0, [.legacy, .connectable, .directed])
    ) { $0.prepare(data: [1]) },
    CommandCase("connectable with scan response data", .invalidParameters, Parameters.standard(0, .connectable)) {
        $0.prepare(.scannable, scanResponse: [1])
    },
    CommandCase("connectable with too many data", .invalidParameters, Parameters.standard(0, .connectable)) {
        $0.prepare(data: sampleData(246))
    },
    CommandCase("connectable with as many data as fit", .success, Parameters.standard(0, .connectable)) {
        $0.prepare(data: sampleData(245))
    },
    CommandCase(
        "more data than the interval has time for",
        .packetTooLong,
        Parameters.standard { ($0.intervalMax, $0.secondaryPHY) = (0x20, .coded) }
    ) { $0.prepare(data: sampleData(1_650)) },
    CommandCase(
        "the same amount of data on 1M",
        .success,
        Parameters.standard { $0.intervalMax = 0x20 }
    ) { $0.prepare(data: sampleData(1_200)) },
    CommandCase(
        "more data than an older controller has PHYs",
        .success,
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
    CommandCase("data", .success, data(3, 251)) { $0.prepare() },
    CommandCase("no data", .success, data(3, 0)) { $0.prepare() },
    CommandCase("data of an operation 5", .invalidParameters, data(5, 1)) { $0.prepare() },
    CommandCase("data of a scannable set", .invalidParameters, data(3, 1)) { $0.prepare(.scannable) },
    CommandCase("data of a directed legacy set", .invalidParameters, data(3, 1)) {
        $0.prepare([.legacy, .connectable, .directed])
    },
    CommandCase("a piece for legacy PDUs", .invalidParameters, data(1, 1)) { $0.prepare(.legacy) },
    CommandCase("32 octets for legacy PDUs", .invalidParameters, data(3, 32)) { $0.prepare(.legacy) },
    CommandCase("31 octets for legacy PDUs", .success, data(3, 31)) { $0.prepare(.legacy) },
    CommandCase("an empty first piece", .invalidParameters, data(1, 0)) { $0.prepare() },
    CommandCase("an empty piece in between", .invalidParameters, data(0, 0)) { $0.prepare() },
    CommandCase("an empty last piece", .invalidParameters, data(2, 0)) { $0.prepare() },
    CommandCase("a piece while enabled", .commandDisallowed, data(1, 1)) { $0.advertiseExtended() },
    CommandCase("a last piece while enabled", .commandDisallowed, data(2, 1)) { $0.advertiseExtended() },
    CommandCase("all data while enabled", .success, data(3, 1)) { $0.advertiseExtended() },
    CommandCase("unchanged while enabled", .success, data(4, 0)) { $0.advertiseExtended(data: [1]) },
    CommandCase("unchanged while disabled", .invalidParameters, data(4, 0)) { $0.prepare(data: [1]) },
    CommandCase("unchanged without data", .invalidParameters, data(4, 0)) { $0.advertiseExtended() },
    CommandCase("unchanged with data", .invalidParameters, data(4, 1)) { $0.advertiseExtended(data: [1]) },
    CommandCase("unchanged in legacy PDUs", .invalidParameters, data(4, 0)) {
        $0.advertiseExtended(.legacy, data: [1])
    },
    CommandCase("1,651 octets", .memoryCapacityExceeded, data(2, 145)) { host in
        host.prepare()
        host.send(data(1, 251))
        for _ in 0..<5 { host.send(data(0, 251)) }
    },
    CommandCase("1,650 octets", .success, data(2, 144)) { host in
        host.prepare()
        host.send(data(1, 251))
        for _ in 0..<5 { host.send(data(0, 251)) }
    },
    CommandCase("too many data while connectable and enabled", .invalidParameters, data(3, 246)) {
        $0.advertiseExtended(.connectable)
    },
    CommandCase("a length that is not true", .invalidParameters, LESetExtendedAdvertisingData.opcode, [0, 3, 0, 2, 1]) {
        $0.prepare()
    },
]

private let responseCases: [CommandCase] = [
    CommandCase("response of an unknown set", .unknownAdvertisingIdentifier, response(3, 1)),
    CommandCase("response", .success, response(3, 1)) { $0.prepare(.scannable) },
    CommandCase("response of a set that is not scannable", .invalidParameters, response(3, 1)) { $0.prepare() },
    CommandCase("no response of a set that is not scannable", .success, response(3, 0)) { $0.prepare() },
    CommandCase("response unchanged", .invalidParameters, response(4, 0)) { $0.prepare(.scannable) },
    CommandCase("a piece of a legacy response", .invalidParameters, response(1, 1)) {
        $0.prepare([.legacy, .scannable])
    },
    CommandCase("a legacy response of 32 octets", .invalidParameters, response(3, 32)) {
        $0.prepare([.legacy, .scannable])
    },
    CommandCase("an empty piece of a response", .invalidParameters, response(1, 0)) { $0.prepare(.scannable) },
    CommandCase("a piece of a response while enabled", .commandDisallowed, response(1, 1)) {
        $0.advertiseExtended(.scannable, scanResponse: [1])
    },
    CommandCase("all of a response while enabled", .success, response(3, 1)) {
        $0.advertiseExtended(.scannable, scanResponse: [1])
    },
    CommandCase("an empty response while enabled", .commandDisallowed, response(3, 0)) {
        $0.advertiseExtended(.scannable, scanResponse: [1])
    },
    CommandCase("an empty legacy response while enabled", .success, response(3, 0)) {
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
    CommandCase("enabling nothing", .invalidParameters, enabling([])),
    CommandCase("disabling all", .success, enabling([], false)),
    CommandCase("enabling no set", .unknownAdvertisingIdentifier, enabling([(0, 0)])),
    CommandCase("disabling no set", .unknownAdvertisingIdentifier, enabling([(0, 0)], false)),
    CommandCase("enabling one set twice", .invalidParameters, enabling([(0, 0), (0, 0)])) { $0.prepare() },
    CommandCase("enabling two sets", .success, enabling([(0, 0), (1, 0)])) {
        $0.prepare()
        $0.prepare(set: 1)
    },
    CommandCase(
        "enabling two sets, one of which does not exist",
        .unknownAdvertisingIdentifier,
        enabling([(0, 0), (1, 0)])
    ) { $0.prepare() },
    CommandCase("enabling again", .success, enabling([(0, 0)])) { $0.advertiseExtended() },
    CommandCase("enable 2", .invalidParameters, LESetExtendedAdvertisingEnable.opcode, [2, 1, 0, 0, 0, 0]) {
        $0.prepare()
    },
    CommandCase("high duty cycle for ever", .invalidParameters, enabling([(0, 0)])) { $0.prepare(highDuty) },
    CommandCase("high duty cycle for 1.29 s", .invalidParameters, enabling([(0, 129)])) { $0.prepare(highDuty) },
    CommandCase("high duty cycle for 1.28 s", .success, enabling([(0, 128)])) { $0.prepare(highDuty) },
    CommandCase("enabling with half of the data", .commandDisallowed, enabling([(0, 0)])) {
        $0.prepare()
        $0.send(data(1, 1))
    },
    CommandCase("enabling with half of the response", .commandDisallowed, enabling([(0, 0)])) {
        $0.prepare(.scannable)
        $0.send(response(1, 1))
    },
    CommandCase("enabling scannable without a response", .commandDisallowed, enabling([(0, 0)])) {
        $0.prepare(.scannable)
    },
    CommandCase("enabling scannable legacy PDUs without a response", .success, enabling([(0, 0)])) {
        $0.prepare([.legacy, .scannable])
    },
    CommandCase("connectable with 246 octets", .invalidParameters, enabling([(0, 0)])) {
        $0.prepare(.connectable, data: sampleData(246))
    },
    CommandCase("enabling more data than there is time", .packetTooLong, enabling([(0, 0)])) {
        $0.prepare(data: sampleData(1_650)) { ($0.intervalMax, $0.secondaryPHY) = (0x20, .coded) }
    },
    CommandCase("random without an address", .invalidParameters, enabling([(0, 0)])) {
        $0.prepare { $0.ownAddressKind = .randomDevice }
    },
    CommandCase("random with the address of the device only", .invalidParameters, enabling([(0, 0)])) {
        $0.prepare { $0.ownAddressKind = .randomDevice }
        $0.send(LESetRandomAddress(address: peer))
    },
    CommandCase("random with an address of its own", .success, enabling([(0, 0)])) {
        $0.prepare { $0.ownAddressKind = .randomDevice }
        $0.send(LESetAdvertisingSetRandomAddress(set: 0, address: peer))
    },
]

private let removeCases: [CommandCase] = [
    CommandCase("removing an unknown set", .unknownAdvertisingIdentifier, LERemoveAdvertisingSet(set: 0)),
    CommandCase("removing", .success, LERemoveAdvertisingSet(set: 0)) { $0.prepare() },
    CommandCase("removing while enabled", .commandDisallowed, LERemoveAdvertisingSet(set: 0)) {
        $0.advertiseExtended()
    },
    CommandCase("clearing nothing", .success, LEClearAdvertisingSets()),
    CommandCase("clearing while one is enabled", .commandDisallowed, LEClearAdvertisingSets()) {
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
