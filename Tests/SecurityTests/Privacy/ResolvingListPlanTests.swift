import BluetoothTypes
import Cryptography
import HCI
import HCIHost
import Testing

@testable import Security

/// The commands that maintain the controller's list.
@Suite struct ResolvingListPlanTests {
    private func information(_ size: Int) -> ControllerInformation {
        var information = ControllerInformation()
        information.apply(LEReadLocalSupportedFeatures.Response(features: [.privacy]))
        information.apply(ReadLocalSupportedCommands.Response(commands: SupportedCommands(HCICommandRegistry.all)))
        information.apply(LEReadResolvingListSize.Response(UInt8(size)))
        return information
    }

    private func peer(_ number: UInt64, hasKey: Bool = true, lastUse: UInt64 = 0, showsIdentity: Bool = false)
        -> PrivatePeer
    {
        PrivatePeer(
            identity: BluetoothAddress(0b11 << 46 | number, kind: .randomDevice),
            key: hasKey ? Key128(Block128(high: number, low: 1)) : nil,
            showsIdentity: showsIdentity,
            lastUse: lastUse
        )
    }

    private func settle(_ list: inout ResolvingListPlan) -> [ResolvingListPlan.Step] {
        let steps = list.steps
        for step in steps { list.finished(step, isDone: true) }
        #expect(!list.isBehind)
        #expect(list.steps.isEmpty)
        return steps
    }

    @Test func thoseUsedLastAreOnTheListAndTheLeastRecentlyUsedGoes() {
        var list = ResolvingListPlan()
        list.begin(information(2))
        #expect(list.capacity == 2)
        #expect(!list.isBehind)
        let (a, b, c) = (peer(1, lastUse: 1), peer(2, lastUse: 2), peer(3, lastUse: 3))
        list.choose(from: [a, b])
        #expect(settle(&list) == [.setTimeout, .add(b), .add(a), .enable])
        #expect(list.isInUse)
        list.choose(from: [a, b, c])
        #expect(settle(&list) == [.remove(a.identity), .add(c)])
        // A peer that was used again, in any order.
        list.choose(from: [peer(1, lastUse: 9), b, c])
        #expect(settle(&list) == [.remove(b.identity), .add(peer(1, lastUse: 9))])
        list.choose(from: [])
        #expect(settle(&list).count == 2)
        #expect(!list.isInUse)
    }

    @Test func aPeerWithoutAKeyOrThatMayShowItselfIsInDeviceMode() {
        var list = ResolvingListPlan()
        list.begin(information(3))
        let (keyless, open, plain) = (peer(1, hasKey: false, lastUse: 9), peer(2, showsIdentity: true), peer(3))
        list.choose(from: [keyless, open, plain])
        #expect(
            settle(&list) == [
                .setTimeout, .add(plain), .add(open), .showIdentity(open.identity), .add(keyless),
                .showIdentity(keyless.identity), .enable,
            ]
        )
        // Peers with keys come first, and one without an identity address is left out.
        list.choose(from: [keyless, open, plain, peer(4)])
        #expect(settle(&list) == [.remove(keyless.identity), .add(peer(4))])
        var homeless = peer(5)
        homeless.identity = BluetoothAddress(0b01 << 46 | 5, kind: .randomDevice)
        list.choose(from: [homeless])
        #expect(settle(&list).allSatisfy { if case .remove = $0 { true } else { false } })
    }

    @Test func refusedEntriesAreLeftToTheHost() {
        var list = ResolvingListPlan()
        list.begin(information(3))
        list.choose(from: [peer(1), peer(2)])
        for step in list.steps { list.finished(step, isDone: step != .add(peer(1))) }
        #expect(!list.isBehind)
        #expect(list.isInUse)
        #expect(list.entries.count == 1)
        list.begin(information(3))
        list.choose(from: [peer(1)])
        for step in list.steps { list.finished(step, isDone: step != .enable) }
        #expect(!list.isInUse)
        #expect(list.capacity == 0)
        #expect(!list.isBehind)
        var old = information(3)
        old.apply(LEReadLocalSupportedFeatures.Response(features: []))
        list.begin(old)
        list.choose(from: [peer(1)])
        #expect(list.steps.isEmpty)
    }

    /// No change causes no command, a changed peer is replaced, and the list is in use once it is complete.
    @Test func stepsOfEachChange() {
        var list = ResolvingListPlan()
        list.begin(information(2))
        #expect(list.steps.isEmpty)
        #expect(!list.isInUse)
        list.choose(from: [peer(1)])
        #expect(list.isBehind)
        #expect(list.steps == [.setTimeout, .add(peer(1)), .enable])
        list.finished(.setTimeout, isDone: false)
        list.finished(.add(peer(1)), isDone: true)
        #expect(!list.isInUse)
        #expect(!list.isBehind)
        #expect(list.steps.isEmpty)
        list.finished(.enable, isDone: true)
        #expect(list.isInUse)
        var other = peer(1)
        other.key = Key128(Block128(high: 99, low: 1))
        list.choose(from: [other])
        #expect(list.isBehind)
        #expect(settle(&list) == [.remove(other.identity), .add(other)])
        other.showsIdentity = true
        list.choose(from: [other])
        #expect(list.isBehind)
        #expect(settle(&list) == [.remove(other.identity), .add(other), .showIdentity(other.identity)])
        // Use alone changes nothing about it.
        other.lastUse = 5
        list.choose(from: [other])
        #expect(!list.isBehind)
        #expect(list.steps.isEmpty)
        list.choose(from: [peer(2)])
        #expect(list.isBehind)
        #expect(settle(&list) == [.remove(other.identity), .add(peer(2))])
        list.begin(information(0))
        list.choose(from: [peer(1)])
        #expect(list.capacity == 0)
        #expect(!list.isBehind)
        #expect(list.steps.isEmpty)
        #expect(!list.isInUse)
        // Nothing from before remains, and a timeout that cannot be set is not sent.
        var simple = information(1)
        let commands = HCICommandRegistry.all.filter {
            $0 != LESetResolvablePrivateAddressTimeout.self && $0 != LESetPrivacyMode.self
                && $0 != LESetResolvablePrivateAddressTimeoutV2.self
        }
        simple.apply(ReadLocalSupportedCommands.Response(commands: SupportedCommands(commands)))
        list.begin(simple)
        list.choose(from: [peer(1, hasKey: false), peer(2, hasKey: false, lastUse: 1)])
        #expect(settle(&list) == [.add(peer(2, hasKey: false, lastUse: 1)), .enable])
    }
}
