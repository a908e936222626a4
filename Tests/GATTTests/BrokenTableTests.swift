import BluetoothTypes
import EventLoops
import GATT
import Testing

/// Tables that break a rule of Core Vol 3 Part G each. What the broken attribute does not concern is found, the flaw is
/// reported, and the discovery ends (AB-A07, AB-A08).
@Suite struct BrokenTableTests {
    private static let service = GATTUUID.primaryService
    private static let secondary = GATTUUID.secondaryService
    private static let include = GATTUUID.include
    private static let characteristic = GATTUUID.characteristic

    private static func octets(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }
    /// A UUID of 16 or 128 bits that occurs once in the table.
    private static func uuid(_ number: UInt8, isLong: Bool = false) -> [UInt8] {
        isLong ? [number] + [UInt8](repeating: 0x5A, count: 15) : [number, 0xA0]
    }

    private static func declaration(
        at handle: UInt16,
        through end: UInt16,
        isLong: Bool = false,
        type: BluetoothUUID = service
    ) -> TableAttribute {
        TableAttribute(handle: handle, type: type, value: uuid(UInt8(handle), isLong: isLong), end: end)
    }

    /// A characteristic declaration and its value.
    private static func pair(at handle: UInt16, isLong: Bool = false) -> [TableAttribute] {
        let uuid = uuid(UInt8(handle), isLong: isLong)
        return [
            TableAttribute(handle: handle, type: characteristic, value: [0x12] + octets(handle + 1) + uuid),
            TableAttribute(handle: handle + 1, type: BluetoothUUID(littleEndian: uuid) ?? 0, value: [7]),
        ]
    }

    private static func descriptor(at handle: UInt16, _ type: BluetoothUUID = 0x2902) -> TableAttribute {
        TableAttribute(handle: handle, type: type, value: [0, 0])
    }

    /// A table that follows the rules: services of both widths, a secondary one, includes of both kinds, descriptors,
    /// and unused handles between 26 and 30.
    private static let sound: [TableAttribute] =
        [
            declaration(at: 1, through: 7),
            TableAttribute(handle: 2, type: include, value: octets(14) + octets(17) + uuid(14)),
        ] + pair(at: 3) + [descriptor(at: 5)] + pair(at: 6) + [
            declaration(at: 8, through: 13, isLong: true),
            TableAttribute(handle: 9, type: include, value: octets(18) + octets(20)),
        ] + pair(at: 10, isLong: true) + [descriptor(at: 12, 0x2901), descriptor(at: 13)] + [
            declaration(at: 14, through: 17)
        ] + pair(at: 15) + [descriptor(at: 17), declaration(at: 18, through: 20, isLong: true, type: secondary)]
        + pair(at: 19) + [declaration(at: 21, through: 26)] + pair(at: 22) + pair(at: 24) + [descriptor(at: 26)]
        + [declaration(at: 30, through: 32, isLong: true)] + pair(at: 31, isLong: true)

    private static let soundResult = DiscoveredWalk(TableServer(sound))

    /// One way in which a table breaks a rule.
    struct Flawed: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var server: TableServer
        /// The handles whose attributes may be lost, changed, or found in another place.
        var touched: Set<UInt16>
        /// Whether a rule is broken, which is reported; nil if that depends on the others.
        var isFlaw: Bool? = true
    }

    private static func changed(_ index: Int, _ change: (inout TableAttribute) -> Void) -> TableServer {
        var table = sound
        change(&table[index])
        return TableServer(table)
    }

    private static func indices(of types: BluetoothUUID...) -> [Int] {
        sound.indices.filter { types.contains(sound[$0].type) }
    }

    /// The handles of the attributes that belong to a declaration.
    private static func handles(of index: Int) -> Set<UInt16> {
        let attribute = sound[index]
        switch attribute.type {
        case service:
            // The secondary service is found as one that this service includes.
            return Set(attribute.handle...attribute.end).union(attribute.handle == 8 ? [18, 19, 20] : [])
        case characteristic:
            let end = sound.first { $0.handle > attribute.handle && GATTUUID.declarations.contains($0.type) }?.handle
            return Set(attribute.handle..<(end ?? 40))
        case include:
            // A secondary service is found in no other way.
            return attribute.handle == 9 ? [9, 18, 19, 20] : [attribute.handle]
        default: return [attribute.handle]
        }
    }

    /// Overlaps, gaps and ends before the beginning: each service ends at each handle.
    static let wrongEnds: [Flawed] = indices(of: service).flatMap { index in
        let attribute = sound[index]
        return (Array(0...40) + [0xFFFF]).filter { $0 != attribute.end }.map { end in
            let covered = indices(of: service).filter { sound[$0].handle > attribute.handle && sound[$0].handle <= end }
            var touched: Set<UInt16> = []
            if end >= attribute.handle, end < attribute.end { touched = Set((end + 1)...attribute.end) }
            if attribute.handle == 8, end == 8 { touched.formUnion([18, 19, 20]) }
            // The services at 14 and 21 come in one response. The others hide those that they cover: a search goes on
            // behind the end of the last service.
            let hides = attribute.handle != 14 && !covered.isEmpty
            if hides { touched.formUnion((attribute.end + 1)...min(end, 40)) }
            if hides { for hidden in covered { touched.formUnion(handles(of: hidden)) } }
            return Flawed(
                testDescription: "service \(attribute.handle) ends at \(end)",
                server: changed(index) { $0.end = end },
                touched: touched,
                isFlaw: end < attribute.handle || !covered.isEmpty && !hides ? true : nil
            )
        }
    }

    /// Declarations of each length.
    static let wrongLengths: [Flawed] = indices(of: service, include, characteristic).flatMap { index in
        let attribute = sound[index]
        let fixed = attribute.type == service ? 0 : attribute.type == include ? 4 : 3
        return (0...22).filter { $0 != attribute.value.count }.map { length in
            let value = Array((attribute.value + [UInt8](repeating: 0, count: 22)).prefix(length))
            // A UUID of another valid width is another UUID, and an include without one is as good.
            let width = min(length, attribute.type == service ? 17 : 19) - fixed
            let isSound = [2, 16].contains(width) || attribute.type == include && length == 4
            return Flawed(
                testDescription: "declaration \(attribute.handle) with \(length) octets",
                server: changed(index) { $0.value = value },
                touched: handles(of: index),
                isFlaw: isSound ? nil : true
            )
        }
    }

    /// Characteristics without a value, with one of another, and with one in another service.
    static let wrongValues: [Flawed] = indices(of: characteristic).flatMap { index in
        let attribute = sound[index]
        return (UInt16(0)...40).filter { $0 != attribute.handle + 1 }.map { value in
            Flawed(
                testDescription: "characteristic \(attribute.handle) with its value at \(value)",
                server: changed(index) { $0.value.replaceSubrange(1...2, with: octets(value)) },
                touched: handles(of: index),
                isFlaw: handles(of: index).contains(value) && value > attribute.handle ? nil : true
            )
        }
    }

    /// Includes of the service itself, in a circle, of nothing, and of impossible handles.
    static let wrongIncludes: [Flawed] = {
        func including(_ name: String, _ value: [UInt8], _ isFlaw: Bool? = true) -> [Flawed] {
            indices(of: include).map { index in
                Flawed(
                    testDescription: "\(sound[index].handle) includes \(name)",
                    server: changed(index) { $0.value = value },
                    touched: handles(of: index),
                    isFlaw: isFlaw
                )
            }
        }
        let own = indices(of: include).map { index in
            let start: UInt16 = sound[index].handle - 1
            return Flawed(
                testDescription: "service \(start) includes itself",
                server: changed(index) { $0.value = octets(start) + octets(start + 5) },
                touched: handles(of: index)
            )
        }
        var circle = sound
        circle[1].value = octets(8) + octets(13)
        if let back = indices(of: include).last { circle[back].value = octets(1) + octets(7) + uuid(1) }
        return own + including("nothing", octets(0x300) + octets(0x301))
            + including("handle 0", octets(0) + octets(3) + uuid(1))
            + including("an end", octets(14) + octets(13) + uuid(1))
            + including("by 128 bits", octets(18) + octets(20) + uuid(18, isLong: true)).map {
                var flawed = $0
                flawed.server.mtu = 64
                return flawed
            }
            + including("by 32 bits", octets(14) + octets(17) + uuid(14) + [0, 0])
            + [
                Flawed(
                    testDescription: "a circle",
                    server: TableServer(circle),
                    touched: [2, 9, 18, 19, 20],
                    isFlaw: nil
                )
            ]
    }()

    /// Double handles, declarations of another kind, and responses in another order or with attributes besides.
    static let wrongResponses: [Flawed] = {
        let twice = sound.indices.map { index in
            var table = sound
            table.insert(sound[index], at: index)
            return Flawed(
                testDescription: "\(sound[index].handle) twice",
                server: TableServer(table),
                touched: [],
                isFlaw: nil
            )
        }
        let strays = ([0, 0xFFF0] as [UInt16]).map { stray in
            var server = TableServer(sound)
            server.stray = stray
            return Flawed(testDescription: "\(stray) in each response", server: server, touched: [stray])
        }
        var reversed = TableServer(sound)
        reversed.isReversed = true
        let among = indices(of: 0x2902, 0x2901).flatMap { index in
            GATTUUID.declarations.sorted { "\($0)" < "\($1)" }.map { type in
                let handle = sound[index].handle
                // What follows belongs to something else now: the other descriptors, or the rest of the service.
                let end = type == service ? indices(of: service).map { sound[$0].end }.first { $0 >= handle } : nil
                return Flawed(
                    testDescription: "descriptor \(handle) of type \(type)",
                    server: changed(index) { $0.type = type },
                    touched: Set(handle...(end ?? (handle == 12 ? 13 : handle))),
                    isFlaw: nil
                )
            }
        }
        return twice + strays + among
            + [Flawed(testDescription: "reversed responses", server: reversed, touched: [], isFlaw: nil)]
    }()

    @Test(
        "AB-A08: what a broken attribute does not concern is found",
        arguments: wrongEnds + wrongLengths + wrongValues + wrongIncludes + wrongResponses
    )
    func brokenTables(flawed: Flawed) {
        let walk = DiscoveredWalk(flawed.server)
        #expect(walk.failures == [])
        let concerned = { (entry: String) in
            // What a service includes depends on the declaration right behind that of the service.
            var handles = entry.split(whereSeparator: { !$0.isNumber }).compactMap { UInt16($0) }
            if entry.contains("includes"), let start = handles.first { handles.append(start + 1) }
            return !flawed.touched.isDisjoint(with: handles)
        }
        let lost = Self.soundResult.found.subtracting(walk.found).filter { !concerned($0) }
        #expect(lost.sorted() == [])
        let invented = walk.found.subtracting(Self.soundResult.found).filter { !concerned($0) }
        #expect(invented.sorted() == [])
        // Of two services that overlap, one lies in the other.
        for (one, next) in zip(walk.ranges, walk.ranges.dropFirst()) where one.overlaps(next) {
            #expect(next.upperBound < one.upperBound)
        }
        if let isFlaw = flawed.isFlaw { #expect(!walk.flaws.isEmpty == isFlaw, "\(walk.flaws)") }
        #expect(walk.requests < 200)
    }

    @Test("AB-A08: a table that follows the rules has no flaw, and is found as it is")
    func theSoundTable() {
        let walk = Self.soundResult
        #expect(walk.failures == [])
        #expect(walk.flaws == [])
        let services = Self.sound.count { $0.type == Self.service || $0.type == Self.secondary }
        #expect(walk.found.count { $0.hasPrefix("service") } == services)
        #expect(walk.found.count { $0.contains("includes") } == Self.indices(of: Self.include).count)
        #expect(walk.found.count { $0.contains("with value") } == Self.indices(of: Self.characteristic).count)
        #expect(walk.found.count { $0.contains("descriptor") } == 5)
    }

    /// Bumble places a service that is not published yet inside of the one that includes it.
    @Test(
        "AB-A08: a service inside of another one keeps its attributes, and the outer one the others",
        arguments: [true, false]
    )
    func nestedServices(isLong: Bool) {
        let inner = [Self.declaration(at: 2, through: 5, isLong: isLong)] + Self.pair(at: 3) + [Self.descriptor(at: 5)]
        let value = Self.octets(2) + Self.octets(5) + (isLong ? [] : Self.uuid(2))
        let table =
            [Self.declaration(at: 1, through: 9)] + inner
            + [TableAttribute(handle: 6, type: Self.include, value: value)] + Self.pair(at: 7)
            + [Self.descriptor(at: 9), Self.declaration(at: 10, through: 12)] + Self.pair(at: 11)
        let walk = DiscoveredWalk(TableServer(table))
        #expect(
            walk.found == [
                "service 1", "service 2", "service 10", "1 includes 2", "2 has 3 with value 4", "3 has descriptor 5",
                "1 has 7 with value 8", "7 has descriptor 9", "10 has 11 with value 12",
            ]
        )
        #expect(walk.failures == [])
        #expect(walk.flaws == [TableFlaw(.liesIn(1), at: 2)])
    }

    /// Any number of things may be wrong at once: the client ends, and its work is bounded.
    @Test("AB-A07: a client ends whatever is wrong with a table", arguments: 0..<300)
    func anyTable(seed: Int) {
        let random = RandomSource(seed: UInt64(seed) | 9 << 32)
        var table = Self.sound
        for _ in 0...random.below(6) {
            let index = Int(random.below(UInt64(table.count)))
            switch random.below(6) {
            case 0: table[index].handle = UInt16(random.below(40))
            case 1: table[index].end = UInt16(random.below(40))
            case 2: table[index].value = random.bytes(Int(random.below(22)))
            case 3: table[index].type = [0x2800, 0x2801, 0x2802, 0x2803, 0x2902][Int(random.below(5))]
            case 4: table.swapAt(index, Int(random.below(UInt64(table.count))))
            default: table.insert(table[index], at: Int(random.below(UInt64(table.count))))
            }
        }
        var server = TableServer(table)
        server.isReversed = random.below(4) == 0
        let walk = DiscoveredWalk(server)
        #expect(walk.requests < 2_000, "seed \(seed)")
        #expect(walk.flaws.count <= 64)
    }

    @Test("each flaw has a text with its handle, and none with the name of a Swift case")
    func texts() {
        let rules: [TableFlaw.Rule] = [
            .outsideOfRequest, .declaredTwice, .endsBeforeItBegins, .runsInto(0x1234), .liesIn(0x1234), .shortenedUUID,
            .malformed, .includesItself, .includesNothing, .longIncludeUUID, .withoutValue, .sharesValue(0x1234),
            .valueAfterNext, .amongDescriptors, .tooManyIncluded,
        ]
        for rule in rules {
            let text = "\(TableFlaw(rule, at: 0x00AB))"
            #expect(text.contains("0x00AB"))
            #expect(text.contains("0x1234") == "\(rule)".contains("4660"))
            #expect(!text.contains("TableFlaw") && !text.contains("("))
        }
        let faults: [GATTServerFault] = [
            .noProgress(at: 0xAB), .malformedHash(at: 0xAB), .tooMany(limit: 256), .unexpectedResponse,
            .wrongEcho(handle: 0xAB, offset: 3),
        ]
        for fault in faults { #expect(!"\(fault)".contains("(")) }
    }
}
