import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

/// Quirks that this package's host does not trigger: tests that they exist nevertheless.
@Suite struct QuirkCommandTests {
    private func outcome(_ quirk: ControllerQuirk, _ packets: HCIPacket...) -> [String] {
        var commands = QuirkCommands([quirk])
        return packets.flatMap { commands.handle($0) }.map { action in
            switch action {
            case .pass: "pass"
            case .answer: "answer"
            case .inject: "inject"
            case .show: "show"
            case .wasReset: "reset"
            }
        }
    }

    private func data(_ boundary: ACLPacket.Boundary) -> HCIPacket {
        HCIPacket(ACLPacket(handle: ConnectionHandle(rawValue: 1), boundary: boundary, payload: [1]))
    }

    @Test func aStartMarkedAsTheControllersIsNotSent() {
        #expect(outcome(.startMarkIgnored, data(.start)) == ["show", "answer"])
        #expect(outcome(.startMarkIgnored, data(.startNonFlushable), data(.continuation)) == ["pass", "pass"])
    }

    @Test func theCodedPHYIsRefused() {
        let phy = PHYScanParameters(kind: .passive, scanInterval: 96, scanWindow: 48)
        func scan(_ coded: PHYScanParameters?) -> HCIPacket {
            HCIPacket(
                LESetExtendedScanParameters {
                    $0.ownAddressKind = .publicDevice
                    $0.filterPolicy = .unfiltered
                    $0.le1M = phy
                    $0.coded = coded
                }
            )
        }
        #expect(outcome(.codedRefused, scan(phy)) == ["show", "answer"])
        #expect(outcome(.codedRefused, scan(nil)) == ["pass"])
    }

    @Test func aCommandForBREDRHangsUntilTheNextReset() {
        let filter = HCIPacket(.command, [0x05, 0x0C, 0x01, 0x00])
        #expect(outcome(.shortReplies, filter, HCIPacket(ReadBDADDR())) == ["show"])
        #expect(
            outcome(.shortReplies, filter, HCIPacket(Reset()), HCIPacket(ReadBDADDR())) == [
                "show", "pass", "reset", "pass",
            ]
        )
    }

    @Test func theAcceptListIsForgottenWithAChangeOfTheResolvingList() {
        let peer = BluetoothAddress(1, kind: .publicDevice)
        let added = HCIPacket(LEAddDeviceToFilterAcceptList(address: peer))
        let changed = HCIPacket(LEClearResolvingList())
        #expect(outcome(.staleAddresses, changed) == ["pass"])
        #expect(outcome(.staleAddresses, added, changed, changed) == ["pass", "pass", "show", "inject", "pass"])
    }
}
