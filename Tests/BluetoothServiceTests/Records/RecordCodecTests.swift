import BluetoothTypes
import EventLoops
import Foundation
import GATT
import HCIHost
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// The encoding of records.
@Suite struct RecordCodecTests {
    static let peer = UUID(uuidString: "00010203-0405-4607-8809-0A0B0C0D0E0F") ?? .blank

    /// An app with a complete manager of each role.
    static var full: AppRecord {
        var declaration = AppDeclaration(
            displayName: "Herzgurt",
            usageDescription: "To read your belt",
            backgroundModes: [.central, .peripheral]
        )
        declaration.launchCommand = ["/usr/bin/heart", "--quiet"]
        declaration.usesAccessorySetup = true
        declaration.setup = SetupDeclaration(services: ["180D"], names: ["Belt"], companies: [0x012D])
        declaration.kind = .appExtension(point: ProcessKind.transportExtensionPoint)
        var connect = ConnectOptions()
        (connect.notifiesOnConnection, connect.startDelay, connect.reconnectsAutomatically) = (true, 7, true)
        var advertisement = AdvertisingRequest(localName: "Belt", services: [0x180D])
        advertisement.manufacturerData = [1, 2, 3]
        return AppRecord(
            app: AppIdentity(name: "com.example.heart", owner: 1_000),
            declaration: declaration,
            executable: "/usr/bin/heart",
            managers: [
                ManagerRecord(
                    role: .central,
                    options: ManagerOptions(showsPowerAlert: false, restoreIdentifier: "one"),
                    intent: Intent([
                        .central(.startScan(ScanRequest(services: [0x180D], allowsDuplicates: true, lostAfter: 500))),
                        .central(.peer(peer, .connect(connect))),
                    ])
                ),
                ManagerRecord(
                    role: .peripheral,
                    options: ManagerOptions(showsPowerAlert: true, restoreIdentifier: ""),
                    intent: Intent([
                        .peripheral(.addService(Example.heartRate)), .peripheral(.startAdvertising(advertisement)),
                    ])
                ),
            ],
            process: ProcessMark(number: 4_711, beginning: "123456")
        )
    }

    static var permissions: PermissionRecord {
        PermissionRecord([
            AppIdentity(name: "b"): AppDecision(.denied),
            AppIdentity(name: "a", owner: 1_000): AppDecision(.allowedAlways, executable: "/usr/bin/a"),
            AppIdentity(name: "a", owner: 7): AppDecision(.denied, executable: ""),
            AppIdentity(name: "ä"): AppDecision(.restricted),
            AppIdentity(name: "c", owner: .max): AppDecision(.notDetermined),
        ])
    }

    static var names: NameRecord {
        var names = NameRecord()
        names.set("Gürtel", of: peer)
        names.set("", of: .blank)
        return names
    }

    static var accessories: AccessoryRecord {
        var descriptor = AccessoryDescriptor()
        (descriptor.service, descriptor.nameSubstring, descriptor.options) = (0x180D, "Gürtel", 2)
        (descriptor.serviceBlob, descriptor.serviceMask) = ([1, 2], [0xFF, 0xFE])
        let belt = SetUpAccessory(
            identifier: peer,
            name: "Gürtel",
            descriptor: descriptor,
            state: .awaitingAuthorization
        )
        let other = SetUpAccessory(identifier: .blank, name: "", descriptor: AccessoryDescriptor())
        return AccessoryRecord([
            AppIdentity(name: "b"): [belt, other], AppIdentity(name: "a", owner: 7): [belt],
            AppIdentity(name: "a", owner: 1): [other],
        ])
    }

    static var controllers: ControllerRecord {
        ControllerRecord([
            .init(
                device: .init(place: "usb:1-2", company: 0x005D),
                firmware: .init(version: 0x0A, revision: 0x1234, subversion: 0x8761),
                fallbacks: [.legacyCommands, .takesTurns]
            ),
            .init(
                device: .init(place: "", company: 0xFFFF),
                firmware: .init(version: 6, revision: 0, subversion: 1),
                fallbacks: Set(ControllerFallback.allCases)
            ),
        ])
    }

    static var tables: TableRecord {
        var tables = TableRecord(run: "today")
        var found = AttributeCache()
        let service = DiscoveredService(handles: 1...9, uuid: 0x180D)
        found.services = [service]
        found.descriptors[3] = [DiscoveredDescriptor(handle: 4, uuid: 0x2902)]
        _ = tables.set(found, of: peer)
        return tables
    }

    private func check<Record: PacketFields & Hashable>(_ record: Record, unknown other: UInt8 = 3) throws {
        let octets = record.encoded()
        #expect(try Record(reading: octets) == record)
        for count in 0..<octets.count {
            #expect(throws: PacketError.self, "\(Record.self) cut at \(count)") {
                try Record(reading: octets.prefix(upTo: count))
            }
        }
        #expect(throws: PacketError.self) { try Record(reading: PacketBuffer(octets.bytes + [0])) }
        for version in [0, other] as [UInt8] {
            var octets = octets.bytes
            octets[0] = version
            #expect(throws: PacketError(.value(UInt64(version)), at: "version")) {
                try Record(reading: PacketBuffer(octets))
            }
        }
    }

    @Test("a record without process information can be read")
    func appsOfVersion2() throws {
        var record = Self.full
        (record.version, record.process) = (2, nil)
        (record.declaration.setup, record.declaration.kind) = (nil, .app)
        let octets = record.encoded()
        #expect(octets.bytes[0] == 2 && octets.count < Self.full.encoded().count)
        #expect(try AppRecord(reading: octets) == record)
    }

    @Test("a record without the setup of the declaration and the kind of the process can be read, and is about an app")
    func appsOfVersion3() throws {
        var record = Self.full
        record.version = 3
        (record.declaration.setup, record.declaration.kind) = (nil, .app)
        let octets = record.encoded()
        #expect(octets.bytes[0] == 3 && octets.count < Self.full.encoded().count)
        #expect(try AppRecord(reading: octets) == record)
    }

    @Test("AB-G05: the start time of a process is bounded")
    func theBeginningOfAProcessHasABound() throws {
        var record = Self.full
        for (length, isRead) in [(ProcessMark.maximumBeginning, true), (ProcessMark.maximumBeginning + 1, false)] {
            record.process?.beginning = String(repeating: "1", count: length)
            #expect(((try? AppRecord(reading: record.encoded())) != nil) == isRead)
        }
    }

    @Test func everyRecordComesBackAndIsWholeOrNothing() throws {
        try check(Self.full, unknown: 5)
        try check(AppRecord(app: AppIdentity(name: "a"), declaration: AppDeclaration(), managers: []), unknown: 5)
        try check(Self.permissions)
        try check(PermissionRecord())
        try check(Self.controllers)
        try check(ControllerRecord())
        try check(Self.accessories)
        try check(AccessoryRecord())
        try check(Self.names)
        try check(Self.tables)
    }

    /// Random octets, and records with some octets changed: each record that can be read has exactly one encoding.
    @Test("AB-G05: any sequence of octets is decoded completely or refused")
    func anyOctetsAreDecodedOrRefused() {
        let random = RandomSource(seed: 7)
        var read = 0
        func check<Record: PacketFields & Hashable>(_ record: Record) {
            let whole = record.encoded().bytes
            for _ in 0..<3_000 {
                var octets = random.below(4) == 0 ? [1, 0] + random.bytes(Int(random.below(64))) : whole
                for _ in 0...random.below(3) {
                    octets[Int(random.below(UInt64(octets.count)))] = UInt8(truncatingIfNeeded: random.next())
                }
                guard let found = try? Record(reading: PacketBuffer(octets)) else { continue }
                read += 1
                #expect((try? Record(reading: found.encoded())) == found, "\(octets)")
            }
        }
        check(Self.full)
        check(Self.permissions)
        check(Self.names)
        check(Self.controllers)
        check(Self.accessories)
        check(Self.tables)
        #expect(read > 1_000)
    }

    @Test("a record with invalid manager state or without an identifier is refused")
    func invalidManagerStateIsRefused() {
        func refuses(_ change: (inout ManagerRecord) -> Void) -> Bool {
            var record = Self.full
            change(&record.managers[0])
            return (try? AppRecord(reading: record.encoded())) == nil
        }
        #expect(!refuses { _ in })
        #expect(refuses { $0.role = .peripheral })
        #expect(refuses { $0.options.restoreIdentifier = nil })
        #expect(refuses { $0.options.isReopened = true })
    }

    @Test("a record with a request that is no part of an intent is refused")
    func requestsThatAreNoIntentsAreRefused() throws {
        func read(_ requests: [Request]) throws -> Intent {
            let written = WrittenManager(options: Self.full.managers[0].options, requests: requests)
            return try ManagerRecord(reading: written.encoded()).intent
        }
        let (scan, other) = (ScanRequest(services: [0x180D]), ScanRequest(services: [0x180F]))
        // Of two scans, the later one counts.
        #expect(try read([.central(.startScan(scan)), .central(.startScan(other))]).scan == other)
        for request in [
            Request.central(.stopScan), .central(.peer(Self.peer, .cancelConnection)), .channel(ChannelID(1), .close),
            .peripheral(.addService(Example.heartRate)),
        ] {
            #expect(throws: PacketError(.value(0), at: "intent"), "\(request)") { try read([request]) }
        }
    }

    @Test("AB-G05: records have limits, and contain each app or peer once")
    func recordsHaveBounds() throws {
        var record = Self.full
        record.managers = Array(repeating: record.managers[0], count: ServiceLimits.managers)
        #expect(try AppRecord(reading: record.encoded()) == record)
        record.managers.append(record.managers[0])
        #expect(throws: PacketError(.excess(65, limit: 64), at: "managers")) {
            try AppRecord(reading: record.encoded())
        }
        let apps = (0...PermissionRecord.maximumApps).map { (AppIdentity(name: "app \($0)"), AppDecision(.denied)) }
        let most = PermissionRecord(Dictionary(uniqueKeysWithValues: apps.dropLast()))
        #expect(try PermissionRecord(reading: most.encoded()) == most)
        #expect(throws: PacketError(.excess(1_025, limit: 1_024), at: "apps")) {
            try PermissionRecord(reading: PermissionRecord(Dictionary(uniqueKeysWithValues: apps)).encoded())
        }
        // The same accessory twice.
        var twice = Self.accessories
        twice.table[AppIdentity(name: "b")] = twice.table[AppIdentity(name: "b")]?.map { _ in
            SetUpAccessory(identifier: Self.peer, name: "", descriptor: AccessoryDescriptor())
        }
        #expect(throws: PacketError(.value(2), at: "accessories")) {
            try AccessoryRecord(reading: twice.encoded())
        }
        // The same app twice, and apps in the wrong order.
        for names in ["aa", "ba"] {
            let entries: [UInt8] = names.utf8.flatMap { [1, 0, $0, 2] as [UInt8] }
            #expect(throws: PacketError.self) { try PermissionRecord(reading: PacketBuffer([1, 0, 2, 0] + entries)) }
        }
    }

    @Test(
        "permissions stored by name alone apply to the service's own user, and are encoded as they were decoded"
    )
    func permissionsOfVersion1() throws {
        let octets = PacketBuffer([1, 0, 2, 0, 1, 0, 0x61, 2, 1, 0, 0x62, 3])
        let record = try PermissionRecord(reading: octets)
        #expect(record.version == 1)
        #expect(record.encoded() == octets)
        #expect(
            record.decisions(ownedBy: 1_000) == [
                AppIdentity(name: "a", owner: 1_000): AppDecision(.denied),
                AppIdentity(name: "b", owner: 1_000): AppDecision(.allowedAlways),
            ]
        )
        #expect(Self.permissions.decisions(ownedBy: 1_000) == Self.permissions.decisions)
    }

    @Test("a record without program information can be read")
    func appsOfVersion1() throws {
        var record = Self.full
        (record.version, record.executable, record.process) = (1, nil, nil)
        (record.declaration.setup, record.declaration.kind) = (nil, .app)
        let octets = record.encoded()
        #expect(octets.bytes[0] == 1 && octets.count < Self.full.encoded().count)
        #expect(try AppRecord(reading: octets) == record)
    }

    @Test("AB-G05: a path that is too long becomes part of no decision or record")
    func longPaths() {
        let path = String(repeating: "p", count: AppDecision.maximumExecutable)
        #expect(AppDecision(.denied, executable: path).executable == path)
        #expect(AppDecision(.denied, executable: path + "p").executable == nil)
        var decision = AppDecision(.denied)
        decision.executable = path + "p"
        let record = PermissionRecord([AppIdentity(name: "a"): decision])
        #expect(throws: PacketError(.length(1_025), at: "executable")) {
            try PermissionRecord(reading: record.encoded())
        }
    }

    @Test("AB-G05: a record of controllers has limits, contains each one once, and is refused with unknown fall-backs")
    func aRecordOfControllersHasBounds() throws {
        func entry(_ place: String) -> ControllerMemory.Entry {
            let firmware = ControllerMemory.Firmware(version: 1, revision: 2, subversion: 3)
            return .init(device: .init(place: place, company: 4), firmware: firmware, fallbacks: [.takesTurns])
        }
        func reads(_ entries: [ControllerMemory.Entry], _ change: (inout [UInt8]) -> Void = { _ in }) -> Bool {
            var record = ControllerRecord()
            record.entries = entries
            var octets = record.encoded().bytes
            change(&octets)
            return (try? ControllerRecord(reading: PacketBuffer(octets))) != nil
        }
        let most = (0..<ControllerMemory.maximumControllers).map { entry("\($0)") }
        #expect(reads(most))
        #expect(!reads(most + [entry("one more")]))
        #expect(!reads([entry("a"), entry("b"), entry("a")]))
        let longest = String(repeating: "a", count: ControllerRecord.maximumPlace)
        #expect(reads([entry(longest)]))
        #expect(!reads([entry(longest + "a")]))
        #expect(ControllerRecord([entry(longest + "a"), entry("a")]).entries == [entry("a")])
        // The last four octets: one bit for each fall-back, starting at 1.
        for bit in [0, 6, 31] {
            #expect(!reads([entry("a")]) { octets in octets[octets.count - 4 + bit / 8] |= 1 << (bit % 8) })
        }
    }

    @Test(
        "AB-G02, behaviour 2.25: the number of stored names is bounded, and the one read longest ago is dropped first"
    )
    func soManyNamesAreKept() throws {
        var names = NameRecord()
        let peers = (0...NameRecord.maximumPeers).map {
            UUID([UInt8](repeating: UInt8($0 % 251), count: 15) + [UInt8($0 / 251)])
        }
        for peer in peers { names.set("Belt", of: peer) }
        #expect(names.entries.count == NameRecord.maximumPeers && names.name(of: peers[0]) == nil)
        #expect(names.name(of: peers[1]) == "Belt" && names.name(of: peers[NameRecord.maximumPeers]) == "Belt")
        #expect(try NameRecord(reading: names.encoded()) == names)
        names.set("Gurt", of: peers[1])
        #expect(names.name(of: peers[1]) == "Gurt" && names.entries.count == NameRecord.maximumPeers)
        names.set(nil, of: peers[1])
        names.set(String(repeating: "a", count: Bond.maximumName + 1), of: peers[2])
        #expect(names.name(of: peers[1]) == nil && names.name(of: peers[2]) == nil)
    }
}

/// A manager of a record with any requests, as a file may contain it.
private struct WrittenManager: PacketFields {
    var role = ManagerRole.central
    var options = ManagerOptions(showsPowerAlert: true)
    var requests: [Request] = []

    init() {}

    init(options: ManagerOptions, requests: [Request]) {
        (self.options, self.requests) = (options, requests)
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("role", &role)
        try coder.field("options", &options)
        try coder.list("requests", &requests, limit: ServiceLimits.keptRequests)
    }
}
