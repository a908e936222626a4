#if canImport(BluetoothTesting)
    import BluetoothTesting
    import CoreBluetooth
    import HostilePeer
    import Synchronization
    import TestedApp
    import Testing

    /// The reports of the app when its belt misbehaves.
    @Suite(.world) struct HostilePeerTests {
        let reports = Notes<BeltMonitor.Report>()
        let device = world.addDevice(named: "Belt", .accessory)
        let belt: HostileBelt

        init() {
            belt = device.launch("firmware") { _ in HostileBelt(queue: DispatchQueue(label: "firmware")) }
        }

        func openApp() {
            world.addDevice(named: "Phone", at: Position(x: 1)).launch("belts") { [reports] _ in
                BeltMonitor(queue: DispatchQueue(label: "belts"), report: reports.note)
            }
        }

        func openAppAndSubscribe() async {
            openApp()
            await world.until("the location is reported") { [reports] in reports.has(.location(1)) }
            await world.run(for: .seconds(1))
            reports.clear()
        }

        @Test func reportsAMeasurementThatIsTooShort() async {
            await openAppAndSubscribe()
            belt.send([0])
            belt.send([0, 61])
            await world.expect(reports.all, equals: [.failed("unreadable heart rate"), .rate(61)])
            world.expectNoAdvice()
        }

        @Test func reportsAnEmptyLocation() async {
            belt.answer(with: .nothing)
            openApp()
            await world.until { [reports] in reports.has(.failed("unreadable location")) }
            world.expectNoAdvice()
        }

        @Test func reportsARefusal() async {
            belt.answer(with: .refusal(.unlikelyError))
            openApp()
            await world.until { [reports] in
                reports.all.contains { if case .failed = $0 { true } else { false } }
            }
            world.expectNoAdvice()
        }

        @Test func connectsAgainWhenTheFirmwareHangs() async {
            belt.answer(with: .silence)
            openApp()
            // After 30 s the system ends the link.
            await world.until(within: .seconds(60)) { [reports] in reports.has(.disconnected) }
            reports.clear()
            belt.answer(with: .location(2))
            await world.until(within: .seconds(60)) { [reports] in reports.has(.location(2)) }
            // The firmware is to hang.
            world.expectNoAdvice(except: [.promptResponses])
        }

        @Test func receivesAFloodInOrder() async {
            await openAppAndSubscribe()
            let rates = (0..<1_000).map { UInt8($0 % 256) }
            for rate in rates { belt.send([0, rate]) }
            await world.expect(reports.all, equals: rates.map { .rate(Int($0)) }, "the reports")
            // The firmware sends on while there is no room.
            world.expectNoAdvice(except: [.flowControl])
        }

        @Test func followsTheBeltToAnotherTable() async {
            await openAppAndSubscribe()
            belt.changeTable()
            await world.until { [reports] in reports.has(.location(1)) }
            await world.run(for: .seconds(1))
            belt.send([0, 62])
            await world.until { [reports] in reports.has(.rate(62)) }
            world.expectNoAdvice()
        }

        @Test func connectsAgainAfterAMalformedAnswer() async {
            device.answerFault = .malformed
            openApp()
            await world.until(within: .seconds(60)) { [reports] in reports.has(.disconnected) }
            device.answerFault = nil
            await world.until(within: .seconds(60)) { [reports] in reports.has(.location(1)) }
            world.expectNoAdvice()
        }

        @Test func followsABeltThatComesAndGoes() async {
            await openAppAndSubscribe()
            for _ in 0..<5 {
                device.leaveRange()
                await world.until(within: .seconds(60)) { [reports] in reports.has(.disconnected) }
                reports.clear()
                device.returnToRange()
                await world.until(within: .seconds(60)) { [reports] in reports.has(.location(1)) }
            }
            world.expectNoAdvice()
        }
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
