import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

private let peer = BluetoothAddress(0x11_2233_4455, kind: .publicDevice)
private let windows = PHYScanParameters(kind: .active, scanInterval: 0x10, scanWindow: 0x10)

private func scanning(_ change: (inout LESetExtendedScanParameters) -> Void = { _ in }) -> LESetExtendedScanParameters {
    var command = LESetExtendedScanParameters {
        $0.ownAddressKind = .publicDevice
        $0.filterPolicy = .unfiltered
        $0.le1M = windows
    }
    change(&command)
    return command
}

private func window(_ interval: UInt16, _ window: UInt16, _ kind: LEScanKind = .passive) -> PHYScanParameters {
    PHYScanParameters(kind: kind, scanInterval: interval, scanWindow: window)
}

/// Core Vol 4 Part E 7.8.64 and 7.8.65, rule by rule.
private let parameterCases: [CommandCase] = [
    .accepted("1M", scanning()),
    .accepted("Coded", scanning { ($0.le1M, $0.coded) = (nil, windows) }),
    .accepted("both PHYs", scanning { $0.coded = windows }),
    CommandCase("no PHY", .invalidParameters, LESetExtendedScanParameters.opcode, [0, 0, 0]),
    CommandCase(
        "2M is not for scanning",
        .unsupportedFeatureOrParameter,
        LESetExtendedScanParameters.opcode,
        [0, 0, 2, 0, 0x10, 0, 0x10, 0]
    ),
    CommandCase(
        "an unsupported PHY",
        .unsupportedFeatureOrParameter,
        LESetExtendedScanParameters.opcode,
        [0, 0, 0x11, 0, 0x10, 0, 0x10, 0, 0, 0x10, 0, 0x10, 0]
    ),
    CommandCase("a PHY without parameters", .invalidParameters, LESetExtendedScanParameters.opcode, [0, 0, 1]),
    CommandCase(
        "parameters for one PHY too many",
        .invalidParameters,
        LESetExtendedScanParameters.opcode,
        [0, 0, 1, 0, 0x10, 0, 0x10, 0, 0, 0x10, 0, 0x10, 0]
    ),
    .invalid("interval of 3", scanning { $0.le1M = window(3, 3) }),
    .invalid("window of 3", scanning { $0.le1M = window(4, 3) }),
    .accepted("window of 2.5 ms", scanning { $0.le1M = window(4, 4) }),
    .accepted("window of 40.96 s", scanning { $0.le1M = window(0xFFFF, 0xFFFF) }),
    .invalid("window above interval", scanning { $0.le1M = window(0x10, 0x11) }),
    .invalid("window above interval on Coded", scanning { $0.coded = window(0x10, 0x11) }),
    .invalid("scan of no kind", scanning { $0.le1M = window(16, 16, .init(rawValue: 2)) }),
    .invalid("own address 4", scanning { $0.ownAddressKind = .init(rawValue: 4) }),
    .invalid("filter policy 4", scanning { $0.filterPolicy = .init(rawValue: 4) }),
    .disallowed("parameters while scanning", scanning()) { $0.scanExtended() },
    .disallowed("parameters between two periods", scanning()) {
        $0.scanExtended(duration: 1, period: 8)
    },
    .accepted("parameters after scanning", scanning()) {
        $0.scanExtended()
        $0.send(enabling(isEnabled: false))
    },
]

private func enabling(
    _ filter: UInt8 = 0,
    _ duration: UInt16 = 0,
    _ period: UInt16 = 0,
    isEnabled: Bool = true
) -> LESetExtendedScanEnable {
    .init(isEnabled: isEnabled, filterDuplicates: .init(rawValue: filter), duration: duration, period: period)
}

private let enableCases: [CommandCase] = [
    .accepted("scanning", enabling()),
    .accepted("scanning again", enabling()) { $0.scanExtended() },
    .accepted("not scanning", enabling(isEnabled: false)),
    CommandCase("enable 2", .invalidParameters, LESetExtendedScanEnable.opcode, [2, 0, 0, 0, 0, 0]),
    .invalid("filter 3", enabling(3)),
    .accepted("filter per period", enabling(2, 1, 1)),
    .invalid("filter per period without a period", enabling(2, 1, 0)),
    .invalid("filter per period without a duration", enabling(2, 0, 1)),
    .invalid("duration equal to the period", enabling(0, 128, 1)),
    .invalid("duration above the period", enabling(0, 129, 1)),
    .accepted("duration below the period", enabling(0, 127, 1)),
    .accepted("a period alone does not count", enabling(0, 0, 1)),
    .invalid("random without an address", enabling()) {
        $0.send(scanning { $0.ownAddressKind = .randomDevice })
    },
    .accepted("random with an address", enabling()) {
        $0.send(scanning { $0.ownAddressKind = .randomDevice })
        $0.send(LESetRandomAddress(address: peer))
    },
]

private func connecting(
    _ change: (inout LEExtendedCreateConnection) -> Void = { _ in }
) -> LEExtendedCreateConnection {
    var command = LEExtendedCreateConnection {
        $0.filterPolicy = .peerAddress
        $0.ownAddressKind = .publicDevice
        $0.peerAddress = peer
        $0.le1M = .standard
    }
    change(&command)
    return command
}

private func connecting(by change: (inout PHYConnectionParameters) -> Void) -> LEExtendedCreateConnection {
    var phy = PHYConnectionParameters.standard
    change(&phy)
    return connecting { $0.le1M = phy }
}

/// 7.8.66, rule by rule.
private let connectCases: [CommandCase] = [
    .accepted("connecting", connecting()),
    .accepted("connecting on all PHYs", connecting { ($0.le2M, $0.coded) = (.standard, .standard) }),
    .invalid("no PHY", connecting { $0.le1M = nil }),
    .invalid("2M alone", connecting { ($0.le1M, $0.le2M) = (nil, .standard) }),
    .accepted("Coded alone", connecting { ($0.le1M, $0.coded) = (nil, .standard) }),
    CommandCase(
        "an unsupported PHY",
        .unsupportedFeatureOrParameter,
        LEExtendedCreateConnection.opcode,
        [0, 0, 0, 1, 2, 3, 4, 5, 6, 8] + Array(PHYConnectionParameters.standard.encoded())
    ),
    CommandCase(
        "a PHY without parameters",
        .invalidParameters,
        LEExtendedCreateConnection.opcode,
        [0, 0, 0, 1, 2, 3, 4, 5, 6, 3] + Array(PHYConnectionParameters.standard.encoded())
    ),
    .disallowed("connecting twice", connecting()) { $0.connectExtended(to: peer) },
    .invalid("policy 2", connecting { $0.filterPolicy = .init(rawValue: 2) }),
    .invalid("own address 4", connecting { $0.ownAddressKind = .init(rawValue: 4) }),
    .invalid("random without an address", connecting { $0.ownAddressKind = .randomDevice }),
    .accepted("random with an address", connecting { $0.ownAddressKind = .randomDevice }) {
        $0.send(LESetRandomAddress(address: peer))
    },
    .invalid(
        "a peer of an unknown kind",
        connecting { $0.peerAddress = BluetoothAddress(1, kind: .init(rawValue: 4)) }
    ),
    .invalid("window of 3", connecting(by: { $0.scanWindow = 3 })),
    .invalid("window above interval", connecting(by: { $0.scanWindow = 0x11 })),
    .accepted(
        "the window of 2M does not count",
        {
            var phy = PHYConnectionParameters.standard
            (phy.scanInterval, phy.scanWindow) = (0, 0)
            return connecting { $0.le2M = phy }
        }()
    ),
    .invalid("interval of 5", connecting(by: { $0.intervalMin = 5 })),
    .invalid("interval above 4 s", connecting(by: { $0.intervalMax = 3_201 })),
    .invalid("intervals backwards", connecting(by: { $0.intervalMin = 25 })),
    .invalid("latency of 500", connecting(by: { ($0.maxLatency, $0.supervisionTimeout) = (500, 3_200) })),
    .invalid("timeout of 90 ms", connecting(by: { $0.supervisionTimeout = 9 })),
    .invalid("timeout above 32 s", connecting(by: { $0.supervisionTimeout = 3_201 })),
    .invalid("timeout within two events", connecting(by: { ($0.maxLatency, $0.supervisionTimeout) = (10, 66) })),
    .accepted("timeout beyond two events", connecting(by: { ($0.maxLatency, $0.supervisionTimeout) = (10, 67) })),
    .invalid("event lengths backwards", connecting(by: { $0.minCELength = 1 })),
    .disallowed("nothing to cancel", LECreateConnectionCancel()),
    .accepted("cancelling", LECreateConnectionCancel()) { $0.connectExtended(to: peer) },
]

/// The legacy commands that are not in the table of all commands.
private let legacyCases: [CommandCase] = [
    CommandCase("advertising enable 2", .invalidParameters, LESetAdvertisingEnable.opcode, [2]),
    CommandCase("scan enable 2", .invalidParameters, LESetScanEnable.opcode, [2, 0]),
    CommandCase("legacy filter 2", .invalidParameters, LESetScanEnable.opcode, [1, 2]),
    .accepted("disabling what is not enabled", LESetAdvertisingEnable(isEnabled: false)),
    .invalid("random address of zeros", LESetRandomAddress(address: .none)),
    .disallowed("random address while advertising", LESetRandomAddress(address: peer)) {
        $0.advertise()
    },
    .disallowed("random address while scanning", LESetRandomAddress(address: peer)) { $0.scan() },
    .disallowed("random address while initiating", LESetRandomAddress(address: peer)) {
        $0.connect(to: peer)
    },
    // Sets have addresses of their own (7.8.4).
    .accepted("random address beside extended advertising", LESetRandomAddress(address: peer)) {
        $0.advertiseExtended(.connectable)
    },
    .disallowed("random address beside extended scanning", LESetRandomAddress(address: peer)) {
        $0.scanExtended()
    },
    CommandCase(
        "intervals out of range come first",
        .unsupportedFeatureOrParameter,
        LESetAdvertisingParameters.opcode,
        [0x01, 0x40, 0x00, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0]
    ),
    CommandCase(
        "a reserved channel too",
        .success,
        LESetAdvertisingParameters.opcode,
        [0x20, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0F, 0]
    ),
]

@Suite struct ScanningCommandTests {
    @Test(arguments: parameterCases + enableCases)
    private func scanning(test: CommandCase) { test.check() }

    @Test(arguments: connectCases)
    private func initiating(test: CommandCase) { test.check() }

    @Test(arguments: legacyCases)
    private func legacy(test: CommandCase) { test.check() }

    // PHYs that the controller does not support.
    @Test func anUncodedController() {
        let host = LinkLayerWorld().host { $0.features.subtract([.phyCoded, .phy2M]) }
        #expect(host.send(scanning2()) == .unsupportedFeatureOrParameter)
        #expect(host.send(connecting { $0.coded = .standard }) == .unsupportedFeatureOrParameter)
        #expect(host.send(connecting { $0.le2M = .standard }) == .unsupportedFeatureOrParameter)
        #expect(host.prepare { $0.secondaryPHY = .coded } == .unsupportedFeatureOrParameter)
        #expect(host.prepare { $0.secondaryPHY = .le2M } == .unsupportedFeatureOrParameter)
        #expect(host.prepare { $0.primaryPHY = .coded } == .unsupportedFeatureOrParameter)
        #expect(host.prepare() == .success)
    }

    private func scanning2() -> LESetExtendedScanParameters {
        LESetExtendedScanParameters {
            $0.ownAddressKind = .publicDevice
            $0.filterPolicy = .unfiltered
            $0.coded = windows
        }
    }
}
