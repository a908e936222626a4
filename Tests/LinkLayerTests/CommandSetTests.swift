import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

private let advertising = LESetAdvertisingParameters.sending(.nonConnectable)
private let scanning = LESetScanParameters {
    $0.kind = .passive
    $0.scanInterval = 0x10
    $0.scanWindow = 0x10
    $0.ownAddressKind = .publicDevice
    $0.filterPolicy = .unfiltered
}
private let windows = PHYScanParameters(kind: .passive, scanInterval: 0x10, scanWindow: 0x10)

private let legacy: [HCIPacket] = [
    HCIPacket(advertising), HCIPacket(LEReadAdvertisingPhysicalChannelTxPower()),
    HCIPacket(LESetAdvertisingData(data: [1])), HCIPacket(LESetScanResponseData(data: [1])),
    HCIPacket(LESetAdvertisingEnable(isEnabled: false)), HCIPacket(scanning),
    HCIPacket(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled)),
    HCIPacket(LECreateConnection()),
]

private let extended: [HCIPacket] = [
    HCIPacket(LESetAdvertisingSetRandomAddress(set: 0)), HCIPacket(LESetExtendedAdvertisingParameters.standard()),
    HCIPacket(LESetExtendedAdvertisingData(set: 0, operation: .complete, fragmentPreference: 0, data: [])),
    HCIPacket(LESetExtendedScanResponseData(set: 0, operation: .complete, fragmentPreference: 0, data: [])),
    HCIPacket(LESetExtendedAdvertisingEnable(isEnabled: false, sets: [])), HCIPacket(LERemoveAdvertisingSet(set: 0)),
    HCIPacket(LEClearAdvertisingSets()),
    HCIPacket(
        LESetExtendedScanParameters {
            $0.ownAddressKind = .publicDevice
            $0.filterPolicy = .unfiltered
            $0.le1M = windows
        }
    ),
    HCIPacket(LESetExtendedScanEnable(isEnabled: false, filterDuplicates: .disabled, duration: 0, period: 0)),
    HCIPacket(LEExtendedCreateConnection()),
]

private let neither: [HCIPacket] = [
    HCIPacket(LEReadMaximumAdvertisingDataLength()), HCIPacket(LEReadNumberOfSupportedAdvertisingSets()),
    HCIPacket(LESetRandomAddress(address: BluetoothAddress(1, kind: .randomDevice))), HCIPacket(LERand()),
    HCIPacket(LEClearFilterAcceptList()),
]

/// Core Vol 4 Part E 3.1.1: legacy and extended commands are not mixed.
@Suite struct CommandSetTests {
    @Test(arguments: legacy, [0, 3, 7, 9])
    func legacyCommandsAfterExtendedOnes(packet: HCIPacket, first: Int) {
        let host = LinkLayerWorld().host()
        host.send(extended[first])
        #expect(host.send(packet) == .commandDisallowed)
        host.send(Reset())
        #expect(host.send(packet) != .commandDisallowed)
    }

    @Test(arguments: extended, [0, 1, 6, 7])
    func extendedCommandsAfterLegacyOnes(packet: HCIPacket, first: Int) {
        let host = LinkLayerWorld().host()
        host.send(legacy[first])
        #expect(host.send(packet) == .commandDisallowed)
        host.send(Reset())
        #expect(host.send(packet) != .commandDisallowed)
    }

    @Test("a strict controller refuses every command of one set after any command of the other (quirk 19)")
    func aStrictControllerRefusesEveryPair() {
        let host = LinkLayerWorld().host { $0.quirks = [.strictCommandSets] }
        func packet(_ opcode: Opcode) -> HCIPacket {
            HCIPacket(.command, [UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8), 0])
        }
        var pairs = 0
        for legacy in QuirkCommandSets.legacy {
            for extended in QuirkCommandSets.extended {
                for (first, second) in [(legacy, extended), (extended, legacy)] {
                    host.send(Reset())
                    let taken = host.send(packet(first))
                    // There is nothing to cancel.
                    #expect(taken != .commandDisallowed || first == LEPeriodicAdvertisingCreateSyncCancel.opcode)
                    #expect(host.send(packet(second)) == .commandDisallowed, "\(second) after \(first)")
                    pairs += 1
                }
            }
        }
        #expect(pairs == 2 * 8 * 25)
    }

    @Test(arguments: neither)
    func commandsOfNeitherKind(packet: HCIPacket) {
        let host = LinkLayerWorld().host()
        #expect(host.send(packet) == .success)
        #expect(host.send(legacy[0]) == .success)
        #expect(host.send(packet) == .success)
        host.send(Reset())
        host.send(packet)
        #expect(host.send(extended[1]) == .success)
        #expect(host.send(packet) == .success)
    }

    @Test(arguments: extended + neither.prefix(2))
    func anOlderControllerDoesNotKnowThem(packet: HCIPacket) {
        let host = LinkLayerWorld().host { $0.features.remove(.extendedAdvertising) }
        #expect(host.send(packet) == .unknownCommand)
        #expect(host.send(legacy[0]) == .success)
    }

    @Test func supportedCommandsFollowTheFeature() throws {
        let (new, old) = (LinkLayerWorld().host(), LinkLayerWorld().host { $0.features.remove(.extendedAdvertising) })
        let known = try new.read(ReadLocalSupportedCommands()).commands
        let lesser = try old.read(ReadLocalSupportedCommands()).commands
        let bits: [SupportedCommands.Bit?] = [
            LESetAdvertisingSetRandomAddress.supportBit, LESetExtendedAdvertisingParameters.supportBit,
            LESetExtendedAdvertisingData.supportBit, LESetExtendedScanResponseData.supportBit,
            LESetExtendedAdvertisingEnable.supportBit, LEReadMaximumAdvertisingDataLength.supportBit,
            LEReadNumberOfSupportedAdvertisingSets.supportBit, LERemoveAdvertisingSet.supportBit,
            LEClearAdvertisingSets.supportBit, LESetExtendedScanParameters.supportBit,
            LESetExtendedScanEnable.supportBit, LEExtendedCreateConnection.supportBit,
        ]
        for bit in bits {
            let bit = try #require(bit)
            #expect(known.contains(bit))
            #expect(!lesser.contains(bit))
        }
        #expect(try new.read(LEReadLocalSupportedFeatures()).features.contains(.extendedAdvertising))
    }

    // Without support for periodic advertising: LE Set Periodic Advertising Parameters, Data, Enable, Create Sync, ...
    @Test(
        arguments: [
            0x3E, 0x3F, 0x40, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4A, 0x59, 0x5A, 0x5C, 0x82, 0x83, 0x84, 0x85, 0x86,
        ] as [UInt8]
    )
    func periodicAdvertisingIsUnknown(command: UInt8) {
        let host = LinkLayerWorld().host {
            $0.features.subtract([
                .periodicAdvertising, .periodicSyncTransferSender, .periodicSyncTransferRecipient,
                .periodicResponsesAdvertiser, .periodicResponsesScanner,
            ])
        }
        #expect(host.send(HCIPacket(.command, [command, 0x20, 0])) == .unknownCommand)
    }

    @Test func theBoundsAreTold() throws {
        let host = LinkLayerWorld().host()
        #expect(try host.read(LEReadMaximumAdvertisingDataLength()).value == 1_650)
        #expect(try host.read(LEReadNumberOfSupportedAdvertisingSets()).value == 16)
    }
}
