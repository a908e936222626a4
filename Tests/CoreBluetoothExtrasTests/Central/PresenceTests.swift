import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import ServiceMessages
import TestBasics
import Testing

@testable import BluetoothService
@testable import CoreBluetoothExtras

@Suite("Presence of devices")
struct PresenceTests {
    @Test("behaviour 15.3: a device that is silent for the time-out is lost, and reported again when it is back")
    func lost() throws {
        let world = AsyncWorld()
        let notes = try world.run { central in
            try await central.poweredOn()
            let listening = world.task {
                var notes: [String] = []
                for try await presence in central.presence(services: [Station.service], lostAfter: .seconds(10)) {
                    switch presence {
                    case .seen(let found): notes.append("seen \(found.peripheral.name ?? "")")
                    case .lost(let peripheral): notes.append("lost \(peripheral.name ?? "") \(world.world.now)")
                    }
                    if notes.count(where: { $0.hasPrefix("lost") }) == 2 { break }
                }
                return notes
            }
            try await world.sleep(.seconds(30))
            world.leave()
            try await world.sleep(.seconds(30))
            world.comeBack()
            try await world.sleep(.seconds(30))
            world.leave()
            return try await listening.value
        }
        let words = notes.map { $0.split(separator: " ")[0] }
        #expect(words.filter { $0 == "lost" }.count == 2 && words.first == "seen" && words.last == "lost", "\(notes)")
        // Each arrival is reported once, or twice with the scan response (behaviour 2.15).
        let seen = words.split(separator: "lost").map(\.count)
        #expect(seen.count == 2 && seen.allSatisfy { (1...2).contains($0) }, "\(notes)")
        let lost = notes.filter { $0.hasPrefix("lost") }.map { $0.split(separator: " ") }
        let times = lost.compactMap { Double($0.dropLast().last ?? "") }
        #expect(times.count == 2 && (38...41).contains(times[0]) && (98...101).contains(times[1]), "\(times)")
    }

    @Test(
        "behaviour 15.3: the time-out is sent in milliseconds, up to a day",
        arguments: [
            (.milliseconds(500), 500), (.milliseconds(1_250), 1_250), (.microseconds(1_999), 1), (.seconds(90), 90_000),
            (.seconds(-1), 0), (.seconds(86_399), 86_399_000), (.seconds(100_000), 86_400_000),
        ] as [(Duration, Int)]
    )
    func timeout(_ timeout: Duration, milliseconds: Int) throws {
        let world = AsyncWorld()
        let asked = Notes<Int>()
        _ = world.phone.withSystem { system in
            system.observers.add(.messages) {
                guard case .requested(.central(.startScan(let request))) = $0.content else { return }
                if let time = request.lostAfter { asked.add(time) }
            }
        }
        try world.run { central in
            try await central.poweredOn()
            for try await _ in central.presence(services: [Station.service], lostAfter: timeout) { break }
        }
        #expect(asked.all == [milliseconds])
    }

    @Test("AB-G02: beyond the limit, the oldest devices are not watched")
    func bounded() {
        var watch = PresenceWatch(milliseconds: 1_000)
        let peers = (0..<ScanSubscription.maximumReported + 10).map { _ in UUID() }
        for (index, peer) in peers.enumerated() {
            watch.advertisementReceived(peer, at: .init(microseconds: Int64(index)))
        }
        #expect(watch.deadline == .init(microseconds: 1_000_010))
        #expect(watch.takeLost(at: .init(microseconds: 1_000_009)) == [])
        #expect(watch.takeLost(at: .init(microseconds: 1_000_011)) == Array(peers[10...11]))
        watch.advertisementReceived(peers[12], at: .init(microseconds: 2_000_000))
        let rest = watch.takeLost(at: .init(microseconds: 2_999_999))
        #expect(rest == Array(peers[13...]) && watch.deadline == .init(microseconds: 3_000_000))
        #expect(PresenceWatch(milliseconds: .min).silenceTimeout == .milliseconds(1))
        #expect(PresenceWatch(milliseconds: .max).silenceTimeout == .seconds(86_400))
    }

    @Test("behaviour 15.29: the duplicate filter counts its actions, and can be reset")
    func filter() throws {
        let world = AsyncWorld()
        try world.run { central in
            try await central.poweredOn()
            #expect(central.scanStatistics == nil)
            let found = Notes<String>()
            let listening = world.task {
                for try await discovery in central.scan(services: [Station.service]) {
                    found.add(discovery.content.localName ?? "")
                }
            }
            try await world.sleep(.seconds(10))
            let first = try #require(central.scanStatistics)
            #expect(first.heard > 20)
            #expect(first.reported == found.all.count)
            #expect(first.remembered == 1)
            #expect(first.suppressed == first.heard - first.reported)
            #expect(first.forgotten == 0)
            try await world.sleep(.seconds(10))
            let count = found.all.count
            central.resetDuplicateFilter()
            try await world.sleep(.seconds(10))
            #expect(found.all.count > count)
            listening.cancel()
            try await listening.value
            try await world.sleep(.milliseconds(1))
            #expect(central.scanStatistics == nil)
        }
    }
}
