import ATT
import AppAdvice
import BluetoothTypes
import EventLoops
import Foundation
import ServiceEvents
import ServiceMessages

/// The advice that a capture supports: the requests and events that an app would have seen are told to the ``Advisor``
/// that also follows running apps.
///
/// A capture shows what a host does, not for which of its apps, so the host stands for the app. Facts that packets do
/// not contain, such as the services that an app scans for, break no rule here.
struct CaptureAdvice: Sendable {
    /// A use of a device by a host.
    private struct Link: Sendable {
        let host: UInt32
        let peer: UUID
        var request: PacketBuffer?
        /// The octets of values that the advisor has not received, and the time of the last ones that it did.
        var unreported = 0
        var reportedAt = Instant.zero
        var hasAskedForServices = false
        /// The services for all of whose characteristics the host has asked, and the values that it has used.
        var wideServices: Set<UInt16> = []
        var used: Set<UInt16> = []
        /// Whether an enhanced bearer carries requests that are not followed here.
        var isHidden = false
        /// The values that the advisor knows to be subscribed.
        var subscribed: Set<UInt16> = []
    }

    private struct Host: Sendable {
        var connecting: Set<UUID> = []
        var isScanning = false
        var allowsDuplicates = false
        var hasConnected = false
        var reports = 0
    }

    private static let maximumHosts = 64
    /// The reports of a scan that are told; more tell nothing new.
    private static let maximumReports = 4_000
    private static let maximumConnecting = 64
    /// The octets of values that are told together, more than any rule counts. They may be all of a capture.
    private static let maximumUnreported = 1 << 17
    private static let maximumSubscribed = 256
    /// Managers exist before the capture begins, longer than any rule about the launch of an app counts.
    private static let begin = Instant.zero + .seconds(1_000)
    /// Values that follow within this time are told together. In numbers, because a `Duration` has 128 bits, and each
    /// packet asks.
    private static let paceNanoseconds: Int64 = 1_000_000_000
    private static let central = ManagerID(1)
    private static let peripheral = ManagerID(2)
    /// A capture does not tell for which services an app scans.
    private static let anyService: [BluetoothUUID] = [0x1800]

    private var advisor = Advisor()
    private var hosts: [UInt32: Host] = [:]
    private var links: [Int: Link] = [:]
    /// The place of the link that was looked up last, until a link begins or ends.
    private var last: (number: Int, index: [Int: Link].Index)?
    private var start: Int64?
    private var now = Self.begin
    private var advanced = Self.begin

    var advice: [Advice] { advisor.advice }

    /// The time of an advice, in microseconds since the Unix epoch.
    func time(of advice: Advice) -> Int64 {
        let passed = (Instant.zero + advice.time) - Self.begin
        return (start ?? 0) &+ passed.components.seconds * 1_000_000 + passed.components.attoseconds / 1_000_000_000_000
    }

    /// Lets the time pass to that of a record, in microseconds since the Unix epoch.
    mutating func pass(to time: Int64) {
        if start == nil { start = time }
        let passed = max(0, time.subtractingReportingOverflow(start ?? time).partialValue)
        // A century is more than a capture takes, and less than an instant holds.
        let nanoseconds = Self.begin.nanoseconds + min(passed, 3_000_000_000_000_000) * 1_000
        now = max(now, Instant(nanoseconds: nanoseconds))
        guard now.nanoseconds - advanced.nanoseconds >= Self.paceNanoseconds else { return }
        advanced = now
        advisor.advance(to: now)
    }

    /// Ends the capture. A connection that goes on may still use what it has not used so far.
    mutating func finish() {
        advisor.advance(to: now)
        (links, last) = ([:], nil)
    }

    // MARK: Devices

    mutating func scans(_ isOn: Bool, allowsDuplicates: Bool, _ host: UInt32) {
        guard open(host), hosts[host]?.isScanning != isOn else { return }
        hosts[host]?.isScanning = isOn
        hosts[host]?.reports = 0
        hosts[host]?.allowsDuplicates = allowsDuplicates
        let scan = ScanRequest(services: Self.anyService, allowsDuplicates: allowsDuplicates)
        report(.requested(.central(isOn ? .startScan(scan) : .stopScan)), host)
    }

    mutating func advertises(_ isOn: Bool, _ host: UInt32) {
        guard open(host) else { return }
        let request = isOn ? PeripheralRequest.startAdvertising(AdvertisingRequest()) : .stopAdvertising
        report(.requested(.peripheral(request)), host, Self.peripheral)
    }

    /// Whether reports of a host's scan can break a rule: with duplicates, or of a device that the host knows.
    func needsReports(_ host: UInt32) -> Bool {
        guard let known = hosts[host], known.isScanning, known.reports < Self.maximumReports else { return false }
        return known.allowsDuplicates || known.hasConnected
    }

    mutating func reported(_ address: BluetoothAddress, _ name: @autoclosure () -> String?, rssi: Int8?, _ host: UInt32)
    {
        hosts[host]?.reports += 1
        let info = PeerInfo(identifier: Self.identifier(address), name: name())
        report(.delivered(.central(.discovered(info, Advertisement(), rssi: Int(rssi ?? 127)))), host)
    }

    mutating func connects(to address: BluetoothAddress, _ host: UInt32) {
        guard open(host), hosts[host]?.connecting.count ?? 0 < Self.maximumConnecting else { return }
        let peer = Self.identifier(address)
        guard hosts[host]?.connecting.insert(peer).inserted == true else { return }
        report(.requested(.central(.peer(peer, .connect(ConnectOptions())))), host)
    }

    mutating func connected(_ number: Int, to address: BluetoothAddress, _ name: String?, _ host: UInt32) {
        connects(to: address, host)
        let peer = Self.identifier(address)
        hosts[host]?.connecting.remove(peer)
        guard links.count < StoryLimits.openLinks, hosts[host] != nil else { return }
        hosts[host]?.hasConnected = true
        (links[number], last) = (Link(host: host, peer: peer), nil)
        let room = ATTLimits.minimumMTU - ATTLimits.writeHeader
        report(.connected(name: name, maximumWriteWithoutResponse: room), number)
    }

    /// The attempts of a host to connect have failed or are cancelled.
    mutating func gaveUp(_ host: UInt32) {
        for peer in (hosts[host]?.connecting ?? []).sorted(by: { $0.uuidString < $1.uuidString }) {
            report(.requested(.central(.peer(peer, .cancelConnection))), host)
        }
        hosts[host]?.connecting = []
    }

    mutating func disconnected(_ number: Int, _ book: AttributeBook) {
        guard links[number] != nil else { return }
        reportValues(number)
        judgeDiscovery(number, book)
        report(.disconnected(nil, isReconnecting: false, timestamp: nil), number)
        (links[number], last) = (nil, nil)
    }

    /// A channel is opened, whose data is not followed.
    mutating func opensChannel(_ number: Int, psm: UInt16) {
        // Enhanced ATT (Assigned Numbers 2.6.1).
        if psm == 0x27 { links[number]?.isHidden = true }
        report(.channelOpened(psm: psm, .success(ChannelID(1))), number)
    }

    // MARK: Attributes

    /// Receives a PDU between a client on this side and its server.
    ///
    /// - Parameter book: The attributes of the server, which most PDUs do not need.
    mutating func receive(
        _ pdu: PacketBuffer,
        isFromClient: Bool,
        _ number: Int,
        _ book: @autoclosure () -> AttributeBook
    ) {
        guard let index = index(of: number), !links.values[index].isHidden, let first = pdu.octet(at: 0) else { return }
        let opcode = ATTOpcode(rawValue: first)
        switch (opcode.kind, isFromClient) {
        case (.request, true):
            let pdu = PacketBuffer(copying: pdu, headroom: 0)
            links.values[index].request = pdu
            // A long value is written with the last of its parts.
            guard opcode == .readRequest || opcode == .writeRequest || opcode == .readByTypeRequest else { return }
            asks(pdu, opcode, number, book())
        case (.response, false):
            guard let request = links.values[index].request else { return }
            links.values[index].request = nil
            answers(request, pdu, number, book())
        case (.command, true): moves(pdu, isFromClient: true, number, index, book)
        case (.notification, false), (.indication, false): moves(pdu, isFromClient: false, number, index, book)
        default: break
        }
    }

    /// Returns the place of a link, which is mostly that of the PDU before.
    private mutating func index(of number: Int) -> [Int: Link].Index? {
        if let last, last.number == number { return last.index }
        last = links.index(forKey: number).map { (number, $0) }
        return last?.index
    }

    private mutating func asks(_ pdu: PacketBuffer, _ opcode: ATTOpcode, _ number: Int, _ book: AttributeBook) {
        guard let handle = pdu.word(at: 1) else { return }
        switch opcode {
        case .readByTypeRequest:
            guard BluetoothUUID(littleEndian: pdu.suffix(after: 5)) == AttributeBook.characteristic else { return }
            let end = pdu.word(at: 3) ?? handle
            for service in book.services where service.start <= end && service.end >= handle {
                // The next request for the rest of a service begins behind its declaration.
                guard handle <= service.start &+ 1 else { continue }
                links[number]?.wideServices.insert(service.start)
            }
        case .readRequest where book.isOfApp(handle): ask(.readCharacteristic(handle), number)
        case .writeRequest:
            guard book.type(of: handle) == AttributeBook.clientConfiguration else {
                guard book.isOfApp(handle) else { return }
                return ask(.writeCharacteristic(handle, value: pdu.suffix(after: 3)), number)
            }
            guard let owner = book.characteristic(around: handle), book.isOfApp(owner.value) else { return }
            ask(.setNotify(owner.value, isEnabled: pdu.word(at: 3) ?? 0 != 0), number)
        default: break
        }
    }

    private mutating func answers(
        _ request: PacketBuffer,
        _ response: PacketBuffer,
        _ number: Int,
        _ book: AttributeBook
    ) {
        let opcode = ATTOpcode(rawValue: request.octet(at: 0) ?? 0)
        let isRefused = response.octet(at: 0) == ATTOpcode.errorResponse.rawValue
        switch opcode {
        case .readByGroupTypeRequest: links[number]?.hasAskedForServices = true
        case .readByTypeRequest: foundCharacteristics(in: request, number, book)
        case .readRequest:
            guard !isRefused, let handle = request.word(at: 1), book.isOfApp(handle) else { return }
            report(.valueRead(handle, .success(response.suffix(after: 1))), number)
        case .exchangeMTURequest:
            guard let offered = request.word(at: 1), let answered = response.word(at: 1), !isRefused else { return }
            let mtu = max(ATTLimits.minimumMTU, Int(min(offered, answered)))
            report(.maximumWriteLengthChanged(mtu - ATTLimits.writeHeader), number)
        case .writeRequest:
            guard !isRefused, let handle = request.word(at: 1), let bits = request.word(at: 3),
                book.type(of: handle) == AttributeBook.clientConfiguration,
                let owner = book.characteristic(around: handle), book.isOfApp(owner.value)
            else { return }
            if bits == 0 { links[number]?.subscribed.remove(owner.value) }
            if bits != 0 { links[number]?.subscribed.insert(owner.value) }
            report(.notifyStateChanged(owner.value, isNotifying: bits != 0, nil), number)
        default: break
        }
    }

    private mutating func foundCharacteristics(in request: PacketBuffer, _ number: Int, _ book: AttributeBook) {
        guard BluetoothUUID(littleEndian: request.suffix(after: 5)) == AttributeBook.characteristic,
            let start = request.word(at: 1), let end = request.word(at: 3)
        else { return }
        for service in book.services where service.start <= end && service.end >= start {
            guard !AttributeBook.isOfSystem(service.uuid) else { continue }
            report(.characteristicsDiscovered(of: service.start, .success(book.found(in: service))), number)
        }
    }

    /// Judges at the end of a connection how much of what the host discovered it has used.
    private mutating func judgeDiscovery(_ number: Int, _ book: AttributeBook) {
        guard let link = links[number], !link.isHidden, link.hasAskedForServices || !link.wideServices.isEmpty else {
            return
        }
        let services = book.services.filter { !AttributeBook.isOfSystem($0.uuid) }
        ask(.discoverServices(link.hasAskedForServices ? nil : []), number)
        let found = services.map {
            RemoteService(handle: $0.start, endHandle: $0.end, uuid: $0.uuid, isPrimary: true)
        }
        report(.servicesDiscovered(.success(found)), number)
        for service in services where link.wideServices.contains(service.start) {
            ask(.discoverCharacteristics(of: service.start, nil), number)
            report(.characteristicsDiscovered(of: service.start, .success(book.found(in: service))), number)
        }
        // Any request that names a characteristic uses it, and this one breaks no rule.
        for handle in link.used.sorted() { ask(.discoverDescriptors(of: handle), number) }
    }

    /// Counts a value without a response of its own. There are many of them, and rules count their octets alone.
    private mutating func moves(
        _ pdu: PacketBuffer,
        isFromClient: Bool,
        _ number: Int,
        _ index: [Int: Link].Index,
        _ book: () -> AttributeBook
    ) {
        guard let handle = pdu.word(at: 1), pdu.count >= 3 else { return }
        links.values[index].unreported = min(links.values[index].unreported + pdu.count - 3, Self.maximumUnreported)
        guard now.nanoseconds - links.values[index].reportedAt.nanoseconds >= Self.paceNanoseconds,
            book().isOfApp(handle)
        else { return }
        links.values[index].reportedAt = now
        let value = PacketBuffer([UInt8](repeating: 0, count: links.values[index].unreported))
        links.values[index].unreported = 0
        guard !isFromClient else { return ask(.writeWithoutResponse(handle, value: value), number) }
        // A bonded server remembers a subscription of an earlier connection (Core Vol 3 Part G 3.3.3.3).
        let hasRoom = links.values[index].subscribed.count < Self.maximumSubscribed
        if hasRoom, links.values[index].subscribed.insert(handle).inserted {
            ask(.setNotify(handle, isEnabled: true), number)
            report(.notifyStateChanged(handle, isNotifying: true, nil), number)
        }
        report(.valueNotified(handle, value), number)
    }

    private mutating func reportValues(_ number: Int) {
        guard let link = links[number], link.unreported > 0 else { return }
        links[number]?.unreported = 0
        report(.valueNotified(0, PacketBuffer([UInt8](repeating: 0, count: link.unreported))), number)
    }

    // MARK: The advisor

    private mutating func open(_ host: UInt32) -> Bool {
        guard hosts[host] == nil else { return true }
        guard hosts.count < Self.maximumHosts else { return false }
        hosts[host] = Host()
        for (manager, role) in [(Self.central, ManagerRole.central), (Self.peripheral, .peripheral)] {
            advisor.accept(.managerOpened(role), of: Self.app(host), manager, at: .zero)
        }
        return true
    }

    private mutating func ask(_ request: LinkRequest, _ number: Int) {
        guard let link = links[number] else { return }
        switch request {
        case .readCharacteristic(let handle), .writeCharacteristic(let handle, _),
            .writeWithoutResponse(let handle, _), .setNotify(let handle, _):
            if link.used.count < StoryLimits.attributes { links[number]?.used.insert(handle) }
        default: break
        }
        report(.requested(.central(.peer(link.peer, .link(request)))), link.host)
    }

    private mutating func report(_ event: PeerEvent, _ number: Int) {
        guard let link = links[number] else { return }
        report(.delivered(.central(.peer(link.peer, event))), link.host)
    }

    private mutating func report(_ content: Observation.Content, _ host: UInt32, _ manager: ManagerID = Self.central) {
        guard hosts[host] != nil else { return }
        advisor.accept(content, of: Self.app(host), manager, at: now)
    }

    private static func app(_ host: UInt32) -> AppIdentity {
        AppIdentity(name: host == 0 ? "the host" : "the host of adapter \(host)")
    }

    /// An identifier for an address. It has to be the same within a capture alone.
    private static func identifier(_ address: BluetoothAddress) -> UUID {
        let octets = address.littleEndianBytes + [address.kind.isRandom ? 1 : 0]
        return UUID(octets + [UInt8](repeating: 0, count: 16 - octets.count))
    }
}

/// The sizes of the attribute protocol that advice needs (Core Vol 3 Part F 3.2.8, 3.4.5.1).
private enum ATTLimits {
    static let minimumMTU = 23
    static let writeHeader = 3
}

extension AttributeBook {
    /// Whether a service is one that hosts use by themselves: Generic Access and Generic Attribute.
    static func isOfSystem(_ uuid: BluetoothUUID) -> Bool { uuid == 0x1800 || uuid == 0x1801 }

    /// The characteristics of a service, as apps know them.
    fileprivate func found(in service: Service) -> [RemoteCharacteristic] {
        characteristics.filter { $0.handle > service.start && $0.handle <= service.end }.map {
            RemoteCharacteristic(handle: $0.value, uuid: $0.uuid, properties: $0.properties)
        }
    }

    /// Whether a handle is that of the value of a characteristic that only an app has a use for.
    func isOfApp(_ handle: UInt16) -> Bool {
        guard let owner = characteristic(around: handle), owner.value == handle else { return false }
        guard let service = service(around: handle) else { return true }
        return !Self.isOfSystem(service.uuid)
    }
}
