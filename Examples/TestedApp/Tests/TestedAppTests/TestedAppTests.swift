#if canImport(BluetoothTesting)
    import Accessories
    import BluetoothTesting
    import CoreBluetooth
    import Foundation
    import Synchronization
    import TestedApp
    import Testing

    @Suite(.world) struct BeltMonitorTests {
        let reports = Notes<BeltMonitor.Report>()
        let belt = world.addAccessory(.heartRate)
        let phone = world.addDevice(named: "Phone", at: Position(x: 1))

        init() {
            phone.launch("belts") { [reports] _ in
                BeltMonitor(queue: DispatchQueue(label: "belts"), report: reports.note)
            }
        }

        @Test func followsTheRate() async {
            await world.until("the location and a rate are reported") { [reports] in
                reports.has(.location(1)) && reports.has(.rate(73))
            }
            #expect(reports.all.prefix(3) == [.searching, .connecting, .connected])
            await world.run(for: .seconds(70))
            // The accessory goes on advertising.
            world.expectNoAdvice(except: [.stopAdvertising])
        }

        @Test func goesOnWhenTheBeltIsBack() async {
            await world.until("a rate is reported") { [reports] in reports.has(.rate(73)) }
            belt.device.leaveRange()
            await world.until("the disconnection is reported") { [reports] in reports.has(.disconnected) }
            reports.clear()
            belt.device.returnToRange()
            await world.until("rates come again") { [reports] in reports.has(.rate(73)) }
            world.expectNoAdvice()
        }

        @Test func givesUpAfterTenSeconds() async {
            await world.until("the app has found the belt") { [reports] in reports.has(.connecting) }
            belt.device.leaveRange()
            await world.until(within: .seconds(60), "the time-out is reported") { [reports] in
                reports.has(.timedOut)
            }
            world.expectNoAdvice()
        }

        @Test func searchesAgainWhenBluetoothIsBackOn() async {
            await world.until("the app has found the belt") { [reports] in reports.has(.connecting) }
            belt.device.leaveRange()
            phone.setPower(false)
            await world.run(for: .seconds(20))
            belt.device.returnToRange()
            phone.setPower(true)
            await world.until("a rate is reported") { [reports] in reports.has(.rate(73)) }
            #expect(!reports.has(.timedOut))
        }

        @Test func reportsARefusedValue() async {
            belt.device.answerFault = .error(0x0E)
            await world.until("the error is reported") { [reports] in
                reports.all.contains { if case .failed = $0 { true } else { false } }
            }
            world.expectNoAdvice()
        }
    }

    @Test(.world) func sendsALongText() async {
        let answer = Notes<Data>()
        let text = Data((0..<4_000).map { UInt8($0 % 251) })
        world.addAccessory(.uart)
        world.addDevice(named: "Phone", at: Position(x: 1)).launch("terminal") { _ in
            Terminal(sending: text, queue: DispatchQueue(label: "terminal"), report: answer.note)
        }
        await world.expect(answer.all.reduce(0) { $0 + $1.count }, equals: text.count, "the number of octets sent back")
        #expect(answer.all.reduce(Data(), +) == text)
        world.expectNoAdvice()
    }

    /// The reports of an app, from whichever queue.
    final class Notes<Note: Equatable & Sendable>: Sendable {
        private let notes = Mutex<[Note]>([])

        var all: [Note] { notes.withLock { $0 } }

        func note(_ note: Note) { notes.withLock { $0.append(note) } }
        func has(_ note: Note) -> Bool { all.contains(note) }
        func clear() { notes.withLock { $0 = [] } }
    }
#endif
