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
    CommandCase("1M", .success, scanning()),
    CommandCase("Coded", .success, scanning { ($0.le1M, $0.coded) = (nil, windows) }),
    CommandCase("both PHYs", .success, scanning { $0.coded = windows }),
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
    CommandCase("interval of 3", .invalidParameters, scanning { $0.le1M = window(3, 3) }),
    CommandCase("window of 3", .invalidParameters, scanning { $0.le1M = window(4, 3) }),
    CommandCase("window of 2.5 ms", .success, scanning { $0.le1M = window(4, 4) }),
    CommandCase("window of 40.96 s", .success, scanning { $0.le1M = window(0xFFFF, 0xFFFF) }),
    CommandCase("window above interval", .invalidParameters, scanning { $0.le1M = window(0x10, 0x11) }),
    CommandCase("window above interval on Coded", .invalidParameters, scanning { $0.coded = window(0x10, 0x11) }),
    CommandCase("scan of no kind", .invalidParameters, scanning { $0.le1M = window(16, 16, .init(rawValue: 2)) }),
    CommandCase("own address 4", .invalidParameters, scanning { $0.ownAddressKind = .init(rawValue: 4) }),
    CommandCase("filter policy 4", .invalidParameters, scanning { $0.filterPolicy = .init(rawValue: 4) }),
    CommandCase("parameters while scanning", .commandDisallowed, scanning()) { $0.scanExtended() },
    CommandCase("parameters between two periods", .commandDisallowed, scanning()) {
        $0.scanExtended(duration: 1, period: 8)
    },
    CommandCase("parameters after scanning", .success, scanning()) {
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
    CommandCase("scanning", .success, enabling()),
    CommandCase("scanning again", .success, enabling()) { $0.scanExtended() },
    CommandCase("not scanning", .success, enabling(isEnabled: false)),
    CommandCase("enable 2", .invalidParameters, LESetExtendedScanEnable.opcode, [2, 0, 0, 0, 0, 0]),
    CommandCase("filter 3", .invalidParameters, enabling(3)),
    CommandCase("filter per period", .success, enabling(2, 1, 1)),
    CommandCase("filter per period without a period", .invalidParameters, enabling(2, 1, 0)),
    CommandCase("filter per period without a duration", .invalidParameters, enabling(2, 0, 1)),
    CommandCase("duration equal to the period", .invalidParameters, enabling(0, 128, 1)),
    CommandCase("duration above the period", .invalidParameters, enabling(0, 129, 1)),
    CommandCase("duration below the period", .success, enabling(0, 127, 1)),
    CommandCase("a period alone does not count", .success, enabling(0, 0, 1)),
    CommandCase("random without an address", .invalidParameters, enabling()) {
        $0.send(scanning { $0.ownAddressKind = .randomDevice })
    },
    CommandCase("random with an address", .success, enabling()) {
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
    CommandCase("connecting", .success, connecting()),
    CommandCase("connecting on all PHYs", .success, connecting { ($0.le2M, $0.coded) = (.standard, .standard) }),
    CommandCase("no PHY", .invalidParameters, connecting { $0.le1M = nil }),
    CommandCase("2M alone", .invalidParameters, connecting { ($0.le1M, $0.le2M) = (nil, .standard) }),
    CommandCase("Coded alone", .success, connecting { ($0.le1M, $0.coded) = (nil, .standard) }),
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
    CommandCase("connecting twice", .commandDisallowed, connecting()) { $0.connectExtended(to: peer) },
    CommandCase("policy 2", .invalidParameters, connecting { $0.filterPolicy = .init(rawValue: 2) }),
    CommandCase("own address 4", .invalidParameters, connecting { $0.ownAddressKind = .init(rawValue: 4) }),
    CommandCase("random without an address", .invalidParameters, connecting { $0.ownAddressKind = .randomDevice }),
    CommandCase("random with an address", .success, connecting { $0.ownAddressKind = .randomDevice }) {
        $0.send(LESetRandomAddress(address: peer))
    },
    CommandCase(
        "a peer of an unknown kind",
        .invalidParameters,
        connecting { $0.peerAddress = BluetoothAddress(1, kind: .init(rawValue: 4)) }
    ),
    CommandCase("window of 3", .invalidParameters, connecting(by: { $0.scanWindow = 3 })),
    CommandCase("window above interval", .invalidParameters, connecting(by: { $0.scanWindow = 0x11 })),
    CommandCase(
        "the window of 2M does not count",
        .success,
        {
            var phy = PHYConnectionParameters.standard
            (phy.scanInterval, phy.scanWindow) = (0, 0)
            return connecting { $0.le2M = phy }
        }()
    ),
    CommandCase("interval of 5", .invalidParameters, connecting(by: { $0.intervalMin = 5 })),
    CommandCase("interval above 4 s", .invalidParameters, connecting(by: { $0.intervalMax = 3_201 })),
    CommandCase("intervals backwards", .invalidParameters, connecting(by: { $0.intervalMin = 25 })),
    CommandCase(
        "latency of 500",
        .invalidParameters,
        connecting(by: { ($0.maxLatency, $0.supervisionTimeout) = (500, 3_200) })
    ),
    CommandCase("timeout of 90 ms", .invalidParameters, connecting(by: { $0.supervisionTimeout = 9 })),
    CommandCase("timeout above 32 s", .invalidParameters, connecting(by: { $0.supervisionTimeout = 3_201 })),
    CommandCase(
        "timeout within two events",
        .invalidParameters,
        connecting(by: { ($0.maxLatency, $0.supervisionTimeout) = (10, 66) })
    ),
    CommandCase(
        "timeout beyond two events",
        .success,
        connecting(by: { ($0.maxLatency, $0.supervisionTimeout) = (10, 67) })
    ),
    CommandCase("event lengths backwards", .invalidParameters, connecting(by: { $0.minCELength = 1 })),
    CommandCase("nothing to cancel", .commandDisallowed, LECreateConnectionCancel()),
    CommandCase("cancelling", .success, LECreateConnectionCancel()) { $0.connectExtended(to: peer) },
]

/// The legacy commands that are not in the table of all commands.
private let legacyCases: [CommandCase] = [
    CommandCase("advertising enable 2", .invalidParameters, LESetAdvertisingEnable.opcode, [2]),
    CommandCase("scan enable 2", .invalidParameters, LESetScanEnable.opcode, [2, 0]),
    CommandCase("legacy filter 2", .invalidParameters, LESetScanEnable.opcode, [1, 2]),
    CommandCase("disabling what is not enabled", .success, LESetAdvertisingEnable(isEnabled: false)),
    CommandCase("random address of zeros", .invalidParameters, LESetRandomAddress(address: .none)),
    CommandCase("random address while advertising", .commandDisallowed, LESetRandomAddress(address: peer)) {
        $0.advertise()
    },
    CommandCase("random address while scanning", .commandDisallowed, LESetRandomAddress(address: peer)) { $0.scan() },
    CommandCase("random address while initiating", .commandDisallowed, LESetRandomAddress(address: peer)) {
        $0.connect(to: peer)
    },
    // Sets have addresses of their own (7.8.4).
    CommandCase("random address beside extended advertising", .success, LESetRandomAddress(address: peer)) {
        $0.advertiseExtended(.connectable)
    },
    CommandCase("random address beside extended scanning", .commandDisallowed, LESetRandomAddress(address: peer)) {
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
