import ATT
import AssignedNumbers
import BluetoothTypes

/// The attribute protocol of a link: requests with their responses, values that are sent unasked, and the tables.
struct AttributeStory: Sendable {
    /// An event of the attribute protocol.
    struct News: Sendable {
        var kind: StoryEntry.Kind
        var text: String
        var value: String?
        var section: String?
        var latency: Int64?
    }

    private struct Request: Sendable {
        var pdu: PacketBuffer
        var time: Int64

        var opcode: ATTOpcode { ATTOpcode(rawValue: pdu.octet(at: 0) ?? 0) }
        var handle: UInt16? { pdu.word(at: 1) }
        /// Whether both ask for the same, whatever the value that is written.
        func isLike(_ other: Request) -> Bool { opcode == other.opcode && handle == other.handle }

        /// Whether the words of the request are part of the story when it succeeds.
        var isTold: Bool {
            switch opcode {
            case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByGroupTypeRequest: false
            case .readByTypeRequest: type != AttributeBook.characteristic
            default: true
            }
        }

        /// The type that Read By Type asks for.
        var type: BluetoothUUID? {
            opcode == .readByTypeRequest ? BluetoothUUID(littleEndian: pdu.suffix(after: 5)) : nil
        }
    }

    /// A kind of values that arrive without a request each.
    struct Stream: Hashable, Sendable {
        var title: String
        var count = 0
        var octets = 0
        var first: Int64
        var last: Int64
    }

    private struct StreamKey: Hashable, Sendable {
        let opcode: UInt8
        let handle: UInt16
        let side: StorySide
    }

    /// Whether only errors and the MTU are news.
    var isBrief = false
    /// The tables of the servers at both ends.
    var books = PerSide(AttributeBook())
    private var pending = PerSide<Request?>(nil)
    private var refused = PerSide<Request?>(nil)
    private var indication = PerSide<Request?>(nil)
    private var streamTable: [StreamKey: Stream] = [:]
    /// The names of attributes that the story has used, as the tables say them so far.
    private var titles = PerSide<[UInt16: String]>([:])
    private(set) var pdus = 0
    private(set) var errors = 0
    private(set) var retries = 0
    private(set) var operations = 0
    private(set) var latencies: (sum: Int64, longest: Int64, count: Int) = (0, 0, 0)
    private(set) var mtus = PerSide<UInt16?>(nil)
    /// The MTU, once both ends have told theirs.
    private(set) var mtu: Int?

    /// The streams of values, the most frequent first.
    var streams: [Stream] { streamTable.values.sorted { ($1.count, $0.title) < ($0.count, $1.title) } }

    /// Receives a PDU.
    ///
    /// - Parameter name: Returns the name of an end.
    mutating func receive(
        _ pdu: PacketBuffer,
        from side: StorySide,
        at time: Int64,
        name: (StorySide) -> String
    ) -> News? {
        guard let first = pdu.octet(at: 0) else { return nil }
        pdus += 1
        let opcode = ATTOpcode(rawValue: first)
        switch opcode.kind {
        case .request:
            pending[side] = Request(pdu: pdu, time: time)
            return nil
        case .response: return respond(pdu, opcode, client: side.other, time, name)
        case .indication:
            indication[side] = Request(pdu: pdu, time: time)
            return stream(pdu, opcode, side, time, name)
        case .notification, .command: return stream(pdu, opcode, side, time, name)
        case .confirmation:
            if let sent = indication[side.other] { add(latency: time &- sent.time) }
            indication[side.other] = nil
            return nil
        }
    }

    /// Returns the request that never got its response, at the end of the link.
    func unanswered(_ side: StorySide, name: (StorySide) -> String) -> String? {
        pending[side].map { request in
            let target = request.handle.map { books[side.other].title($0) } ?? "an attribute"
            return "\(describe(request, target, side, name)) has no response"
        }
    }

    // MARK: Responses

    private mutating func respond(
        _ pdu: PacketBuffer,
        _ opcode: ATTOpcode,
        client: StorySide,
        _ time: Int64,
        _ name: (StorySide) -> String
    ) -> News? {
        if opcode == .errorResponse { errors += 1 }
        guard let request = pending[client] else { return nil }
        pending[client] = nil
        operations += 1
        let latency = time &- request.time
        add(latency: latency)
        if opcode == .errorResponse { return refuse(request, pdu, client, latency, name) }
        let isRetry = refused[client].map(request.isLike) ?? false
        if isRetry { retries += 1 }
        refused[client] = nil
        learn(request, pdu, server: client.other)
        guard !isBrief || request.opcode == .exchangeMTURequest, let told = tell(request, pdu, client, name) else {
            return nil
        }
        let text = isRetry ? "\(told.text), tried again" : told.text
        return News(kind: told.kind, text: text, value: told.value, latency: latency)
    }

    private mutating func refuse(
        _ request: Request,
        _ pdu: PacketBuffer,
        _ client: StorySide,
        _ latency: Int64,
        _ name: (StorySide) -> String
    ) -> News? {
        let code = pdu.octet(at: 4) ?? 0
        // The end of a discovery is no error (Core Vol 3 Part G 4.4.1).
        if ATTErrorCode(rawValue: code) == .attributeNotFound, request.opcode.isDiscovery { return nil }
        refused[client] = request
        return News(
            kind: .error,
            text:
                "\(describe(request, title(of: request, client.other), client, name)) is refused: \(StoryWords.attributeError(code))",
            section: StoryWords.section(ofAttributeError: code),
            latency: latency
        )
    }

    private mutating func add(latency: Int64) {
        latencies.sum &+= max(0, latency)
        latencies.longest = max(latencies.longest, latency)
        latencies.count += 1
    }

    private mutating func learn(_ request: Request, _ response: PacketBuffer, server: StorySide) {
        if request.opcode.isDiscovery { titles[server].removeAll(keepingCapacity: true) }
        switch request.opcode {
        case .readByGroupTypeRequest: books[server].addGroups(response)
        case .findByTypeValueRequest:
            guard let uuid = BluetoothUUID(littleEndian: request.pdu.suffix(after: 7)) else { return }
            books[server].addServices(response, uuid: uuid)
        case .readByTypeRequest where request.type == AttributeBook.characteristic:
            books[server].addCharacteristics(response)
        case .findInformationRequest: books[server].addTypes(response)
        case .exchangeMTURequest:
            guard let a = request.pdu.word(at: 1), let b = response.word(at: 1) else { return }
            (mtus[server.other], mtus[server], mtu) = (a, b, max(23, Int(min(a, b))))
        default: break
        }
    }

    private mutating func tell(
        _ request: Request,
        _ response: PacketBuffer,
        _ client: StorySide,
        _ name: (StorySide) -> String
    ) -> News? {
        let title = request.isTold ? title(of: request, client.other) : ""
        let what = request.isTold ? describe(request, title, client, name) : ""
        switch request.opcode {
        case .exchangeMTURequest:
            let (a, b) = (request.pdu.word(at: 1) ?? 0, response.word(at: 1) ?? 0)
            return News(kind: .mtu, text: "MTU \(mtu ?? 23): \(name(client)) offers \(a), \(name(client.other)) \(b)")
        case .readRequest, .readBlobRequest:
            return News(
                kind: .operation,
                text: what,
                value: value(response.suffix(after: 1), request.handle, client.other)
            )
        case .readByTypeRequest where request.type != AttributeBook.characteristic:
            return News(kind: .operation, text: what, value: first(of: response, request.type))
        case .writeRequest:
            if subscription(request, client.other) != nil { return News(kind: .operation, text: what) }
            return News(
                kind: .operation,
                text: what,
                value: value(request.pdu.suffix(after: 3), request.handle, client.other)
            )
        case .prepareWriteRequest, .executeWriteRequest, .readMultipleRequest, .readMultipleVariableRequest:
            return News(kind: .operation, text: what)
        default: return nil
        }
    }

    // MARK: Values

    private mutating func stream(
        _ pdu: PacketBuffer,
        _ opcode: ATTOpcode,
        _ side: StorySide,
        _ time: Int64,
        _ name: (StorySide) -> String
    ) -> News? {
        let handle = opcode == .multipleHandleValueNotification ? 0 : pdu.word(at: 1) ?? 0
        let server = opcode.kind == .command ? side.other : side
        let key = StreamKey(opcode: pdu[0], handle: handle, side: side)
        let octets = max(0, pdu.count - 3)
        if var known = streamTable[key] {
            known.count += 1
            known.octets += octets
            known.last = time
            streamTable[key] = known
            return nil
        }
        guard streamTable.count < StoryLimits.subscriptions else { return nil }
        let verb =
            switch opcode.kind {
            case .command: "writes without response to"
            case .indication: "indicates"
            default: "notifies"
            }
        let title = "\(name(side)) \(verb) \(handle == 0 ? "several values" : books[server].title(handle))"
        streamTable[key] = Stream(title: title, count: 1, octets: octets, first: time, last: time)
        guard !isBrief else { return nil }
        let shown = handle == 0 ? nil : value(pdu.suffix(after: 3), handle, server)
        return News(kind: .notification, text: "\(title) for the first time", value: shown)
    }

    private func value(_ octets: PacketBuffer, _ handle: UInt16?, _ server: StorySide) -> String {
        let type = handle.flatMap { books[server].type(of: $0) }
        let text = type.map { ValueText.text(of: octets, in: $0) } ?? ValueText.plain(octets)
        return text.shortLine(160)
    }

    private func first(of response: PacketBuffer, _ type: BluetoothUUID?) -> String {
        guard let size = response.octet(at: 1).map(Int.init), size >= 2 else { return "" }
        let octets = response.suffix(after: 4).prefix(upTo: size - 2)
        return (type.map { ValueText.text(of: octets, in: $0) } ?? ValueText.plain(octets)).shortLine(160)
    }

    /// Returns the name of the attribute that a request is about.
    private mutating func title(of request: Request, _ server: StorySide) -> String {
        guard let handle = request.handle else { return "an attribute" }
        if let known = titles[server][handle] { return known }
        let title = books[server].title(handle)
        if titles[server].count < StoryLimits.attributes { titles[server][handle] = title }
        return title
    }

    private func describe(
        _ request: Request,
        _ target: String,
        _ client: StorySide,
        _ name: (StorySide) -> String
    ) -> String {
        let who = name(client)
        switch request.opcode {
        case .exchangeMTURequest: return "\(who) asks for the MTU"
        case .readRequest: return "\(who) reads \(target)"
        case .readBlobRequest: return "\(who) reads \(target) from offset \(request.pdu.word(at: 3) ?? 0)"
        case .readByTypeRequest:
            return "\(who) reads \(request.type.map { AssignedNumbers.title(of: $0) } ?? "by type")"
        case .writeRequest:
            if let subscription = subscription(request, client.other) { return "\(who) \(subscription)" }
            return "\(who) writes \(target)"
        case .prepareWriteRequest:
            return "\(who) prepares a write of \(StoryWords.count(request.pdu.count - 5, "octet")) to \(target)"
        case .executeWriteRequest:
            return request.pdu.octet(at: 1) == 0 ? "\(who) cancels prepared writes" : "\(who) executes prepared writes"
        case .readMultipleRequest, .readMultipleVariableRequest: return "\(who) reads several attributes"
        case .readByGroupTypeRequest, .findByTypeValueRequest: return "\(who) looks for services"
        case .findInformationRequest: return "\(who) looks for descriptors"
        default: return "\(who) sends the request \(request.opcode)"
        }
    }

    /// Returns the words for a write to a Client Characteristic Configuration (Core Vol 3 Part G 3.3.3.3).
    private func subscription(_ request: Request, _ server: StorySide) -> String? {
        guard let handle = request.handle, books[server].type(of: handle) == AttributeBook.clientConfiguration,
            let bits = request.pdu.word(at: 3), let owner = books[server].characteristic(around: handle)
        else { return nil }
        let title = AssignedNumbers.title(of: owner.uuid)
        return bits == 0
            ? "unsubscribes from \(title)"
            : "subscribes to \(bits & 2 == 2 ? "indications" : "notifications") of \(title)"
    }
}

extension ATTOpcode {
    /// Whether the request belongs to the discovery of a table.
    fileprivate var isDiscovery: Bool {
        switch self {
        case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readByGroupTypeRequest: true
        default: false
        }
    }
}
