import BluetoothTypes

/// The attributes of a peer, as far as a capture tells. It answers requests that the capture's host never sent.
struct CapturedTable: Sendable {
    /// An attribute, as far as it is known.
    private struct Attribute {
        var type: [UInt8]?
        var value: [UInt8]?
        var groupEnd: UInt16?
    }

    /// The PDU that every bearer can carry (Core Vol 3 Part G 5.2.1).
    private static let mtu = 23
    private static let notFound: UInt8 = 0x0A
    /// The types «Characteristic» and «Client Characteristic Configuration», in little-endian order.
    private static let declaration: [UInt8] = [0x03, 0x28]
    private static let configuration: [UInt8] = [0x02, 0x29]

    private var attributes: [UInt16: Attribute] = [:]
    private var request: ChannelPDU?

    // MARK: Learning

    /// Remembers a request of the capture's host.
    mutating func request(_ pdu: ChannelPDU) {
        if pdu.isAttributeRequest { request = pdu }
    }

    /// Learns from a PDU of the peer.
    mutating func answer(_ pdu: ChannelPDU) {
        guard pdu.isAttributeResponse, let request else { return }
        self.request = nil
        let octets = [UInt8](pdu.payload)
        switch (request.code, pdu.code) {
        case (0x10, 0x11): learnGroups(octets, type: [UInt8](request.payload.suffix(after: 5)))
        case (0x06, 0x07) where request.payload.count >= 7: learnFound(octets, [UInt8](request.payload))
        case (0x08, 0x09): learnValues(octets, type: [UInt8](request.payload.suffix(after: 5)))
        case (0x04, 0x05): learnTypes(octets)
        case (0x0A, 0x0B):
            if let handle = request.attribute { attributes[handle, default: .init()].value = Array(octets.dropFirst()) }
        case (0x0C, 0x0D): if let handle = request.attribute { append(octets, to: handle, at: request.word(at: 3)) }
        default: break
        }
    }

    private mutating func learnGroups(_ octets: [UInt8], type: [UInt8]) {
        for entry in Self.entries(octets, length: octets.count > 1 ? Int(octets[1]) : 0, from: 2, least: 5) {
            let end = Self.word(entry, 2)
            attributes[Self.word(entry, 0)] = Attribute(type: type, value: Array(entry[4...]), groupEnd: end)
        }
    }

    private mutating func learnFound(_ octets: [UInt8], _ request: [UInt8]) {
        for entry in Self.entries(octets, length: 4, from: 1, least: 4) {
            let value = Array(request[7...])
            let end = Self.word(entry, 2)
            attributes[Self.word(entry, 0)] = Attribute(type: Array(request[5..<7]), value: value, groupEnd: end)
        }
    }

    private mutating func learnValues(_ octets: [UInt8], type: [UInt8]) {
        for entry in Self.entries(octets, length: octets.count > 1 ? Int(octets[1]) : 0, from: 2, least: 2) {
            let handle = Self.word(entry, 0)
            attributes[handle, default: .init()].type = type
            attributes[handle]?.value = Array(entry[2...])
            // A characteristic's declaration names the handle and the type of its value (Core Vol 3 Part G 3.3.1).
            guard type == Self.declaration, entry.count >= 7 else { continue }
            attributes[Self.word(entry, 3), default: .init()].type = Array(entry[5...])
        }
    }

    private mutating func learnTypes(_ octets: [UInt8]) {
        for entry in Self.entries(octets, length: octets.count > 1 && octets[1] == 1 ? 4 : 18, from: 2, least: 4) {
            attributes[Self.word(entry, 0), default: .init()].type = Array(entry[2...])
        }
    }

    /// Adds the attributes that follow from those that the capture tells.
    ///
    /// A characteristic with notifications or indications has a Client Characteristic Configuration descriptor (Core
    /// Vol 3 Part G 3.3.3.3). Where only one handle is left for it, hosts such as BlueZ do not ask for it.
    mutating func finish() {
        let declarations = attributes.filter { $0.value.type == Self.declaration }.keys.sorted()
        let services = attributes.filter { $0.value.groupEnd != nil }
        for (index, declaration) in declarations.enumerated() {
            guard let value = attributes[declaration]?.value, value.count >= 3, value[0] & 0x30 != 0 else { continue }
            let last = services.first { $0.key < declaration && ($0.value.groupEnd ?? 0) >= declaration }?.value
                .groupEnd
            let following = declarations.dropFirst(index + 1).first.map { $0 - 1 } ?? .max
            let next = Int(Self.word(value, 1)) + 1
            guard let last, min(Int(last), Int(following)) == next else { continue }
            let handle = UInt16(next)
            if attributes[handle]?.type == nil { attributes[handle, default: .init()].type = Self.configuration }
        }
    }

    private mutating func append(_ octets: [UInt8], to handle: UInt16, at offset: UInt16?) {
        guard let value = attributes[handle]?.value, let offset, value.count == Int(offset) else { return }
        attributes[handle]?.value = value + octets.dropFirst()
    }

    private static func entries(_ octets: [UInt8], length: Int, from start: Int, least: Int) -> [[UInt8]] {
        guard length >= least, octets.count >= start + length else { return [] }
        return stride(from: start, through: octets.count - length, by: length).map { Array(octets[$0..<($0 + length)]) }
    }

    private static func word(_ octets: [UInt8], _ index: Int) -> UInt16 {
        UInt16(octets[index]) | UInt16(octets[index + 1]) << 8
    }

    // MARK: Answering

    /// Returns the answer to a request, which is an error if the capture does not tell it.
    func answers(_ request: ChannelPDU) -> ChannelPDU {
        let answer: [UInt8]?
        switch request.code {
        case 0x04: answer = information(request)
        case 0x06: answer = groups(request, isShort: true)
        case 0x10: answer = groups(request, isShort: false)
        case 0x08: answer = values(request)
        case 0x0A: answer = value(request, 0x0B, from: 0)
        case 0x0C: answer = request.word(at: 3).flatMap { value(request, 0x0D, from: Int($0)) }
        default: answer = nil
        }
        if let answer { return ChannelPDU(channel: ChannelPDU.attributes, answer) }
        let handle = request.word(at: 1) ?? 0
        let code: UInt8 = [0x04, 0x06, 0x08, 0x10].contains(request.code) ? Self.notFound : 0x0E
        let place = [UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8)]
        return ChannelPDU(channel: ChannelPDU.attributes, [0x01, request.code] + place + [code])
    }

    /// The attributes in the range of a request, in order.
    private func range(_ request: ChannelPDU) -> [(handle: UInt16, attribute: Attribute)] {
        guard let start = request.word(at: 1), let end = request.word(at: 3), start <= end else { return [] }
        return attributes.keys.filter { $0 >= start && $0 <= end }.sorted().compactMap { handle in
            attributes[handle].map { (handle, $0) }
        }
    }

    private func information(_ request: ChannelPDU) -> [UInt8]? {
        let known = range(request).compactMap { entry in entry.attribute.type.map { (entry.handle, $0) } }
        guard let size = known.first?.1.count, size == 2 || size == 16 else { return nil }
        let fitting = known.prefix { $0.1.count == size }.prefix((Self.mtu - 2) / (2 + size))
        return fitting.reduce(into: [0x05, size == 2 ? 1 : 2]) { $0 += Self.octets($1.0) + $1.1 }
    }

    private func groups(_ request: ChannelPDU, isShort: Bool) -> [UInt8]? {
        let asked = [UInt8](request.payload.suffix(after: 5))
        let found = range(request).filter { entry in
            guard entry.attribute.groupEnd != nil, let type = entry.attribute.type else { return false }
            return isShort ? type + (entry.attribute.value ?? []) == asked : type == asked
        }
        guard let first = found.first, let size = first.attribute.value?.count else { return nil }
        let length = isShort ? 4 : 4 + size
        let fitting = found.prefix { $0.attribute.value?.count == size }.prefix(max(1, (Self.mtu - 2) / length))
        return fitting.reduce(into: isShort ? [0x07] : [0x11, UInt8(truncatingIfNeeded: length)]) { octets, entry in
            octets += Self.octets(entry.handle) + Self.octets(entry.attribute.groupEnd ?? entry.handle)
            if !isShort { octets += entry.attribute.value ?? [] }
        }
    }

    private func values(_ request: ChannelPDU) -> [UInt8]? {
        let type = [UInt8](request.payload.suffix(after: 5))
        let found = range(request).compactMap { entry in
            entry.attribute.type == type ? entry.attribute.value.map { (entry.handle, $0.prefix(Self.mtu - 4)) } : nil
        }
        guard let size = found.first?.1.count else { return nil }
        let fitting = found.prefix { $0.1.count == size }.prefix(max(1, (Self.mtu - 2) / (2 + size)))
        return fitting.reduce(into: [0x09, UInt8(truncatingIfNeeded: 2 + size)]) { $0 += Self.octets($1.0) + $1.1 }
    }

    private func value(_ request: ChannelPDU, _ code: UInt8, from offset: Int) -> [UInt8]? {
        guard let handle = request.attribute, let value = attributes[handle]?.value, offset <= value.count else {
            return nil
        }
        return [code] + value.dropFirst(offset).prefix(Self.mtu - 1)
    }

    private static func octets(_ handle: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8)]
    }
}
