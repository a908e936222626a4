import BluetoothTypes
import Cryptography
import HCI

/// Commands, events and data of a capture of HCI.
extension CaptureStory {
    mutating func receive(_ packet: HCIPacket, _ direction: HCIDirection, _ adapter: UInt32) {
        count(packet.kind)
        switch packet.kind {
        case .acl: receive(data: packet.bytes, direction, adapter)
        case .command: receive(command: packet.bytes, adapter)
        case .event: receive(event: packet.bytes, adapter)
        case .synchronous, .isochronous: break
        }
    }

    private mutating func receive(data octets: PacketBuffer, _ direction: HCIDirection, _ adapter: UInt32) {
        guard let data = try? ACLPacket(reading: octets) else {
            totals.malformed += 1
            return
        }
        let key = OpenLinks.Key(adapter: adapter, number: UInt32(data.handle.rawValue), isAir: false)
        let side = direction == .hostToController ? StorySide.near : .far
        withLink(key) { link, story in
            story.receive(data.payload, isStart: data.boundary.isStart, from: side, on: &link)
        }
    }

    private func key(_ handle: UInt16, _ adapter: UInt32) -> OpenLinks.Key {
        OpenLinks.Key(adapter: adapter, number: UInt32(handle & 0xFFF), isAir: false)
    }

    private mutating func withAdapter(_ number: UInt32, _ body: (inout Adapter) -> Void) {
        guard adapters[number] != nil || adapters.count < StoryLimits.adapters else { return }
        body(&adapters[number, default: Adapter()])
    }

    // MARK: Commands

    private mutating func receive(command octets: PacketBuffer, _ adapter: UInt32) {
        guard let number = octets.word(at: 0), octets.count >= 3, octets.count == 3 + Int(octets[2]) else {
            totals.malformed += 1
            return
        }
        let data = octets.suffix(after: 3)
        sent(Opcode(rawValue: number), adapter)
        switch Opcode(rawValue: number) {
        case Disconnect.opcode:
            guard let handle = data.word(at: 0), open[key(handle, adapter)] != nil else { return }
            withLink(key(handle, adapter)) { link, _ in link.isDisconnecting = true }
        case LECreateConnection.opcode, LEExtendedCreateConnection.opcode:
            let (policy, kind) = number == LECreateConnection.opcode.rawValue ? (4, 5) : (0, 2)
            let peer = data.address(at: kind + 1, isRandom: (data.octet(at: kind) ?? 0) & 1 == 1)
            attempt(data.octet(at: policy) == 1 ? nil : peer, adapter)
        case LEAddDeviceToResolvingList.opcode:
            guard let entry = try? LEAddDeviceToResolvingList(reading: data),
                let key = Key128(littleEndian: entry.peerIRK)
            else { return }
            for device in book.add(key, of: entry.peerIdentity) { addIdentity(device) }
        case LESetAdvertisingEnable.opcode, LESetExtendedAdvertisingEnable.opcode:
            let isOn = data.octet(at: 0) == 1
            withAdapter(adapter) { [now] in $0.advertisingSince = isOn ? $0.advertisingSince ?? now : nil }
            activity(adapter) { $0.advertises(isOn, at: $1) }
            guidance.advertises(isOn, adapter)
        case LESetAdvertisingParameters.opcode:
            activity(adapter) { activity, _ in activity.setLegacy(kind: data.octet(at: 4)) }
        case LESetExtendedAdvertisingParameters.opcode:
            activity(adapter) { activity, _ in activity.setExtended(properties: data.word(at: 1)) }
        case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode:
            activity(adapter) { $0.scans(data.octet(at: 0) == 1, at: $1) }
            guidance.scans(data.octet(at: 0) == 1, allowsDuplicates: data.octet(at: 1) == 0, adapter)
        case LEEnableEncryption.opcode: encrypts(data, adapter)
        case LELongTermKeyRequestNegativeReply.opcode:
            guard let handle = data.word(at: 0) else { return }
            withLink(key(handle, adapter)) { link, story in
                story.addEntry(.error, "this device has no key for the link", section: Self.noKeySection)
                story.lacksKey(&link)
            }
        default: break
        }
    }

    private mutating func encrypts(_ data: PacketBuffer, _ adapter: UInt32) {
        guard let handle = data.word(at: 0) else { return }
        withLink(key(handle, adapter)) { link, story in
            // Legacy keys have a diversifier; LE Secure Connections and the short-term key do not.
            let isOld = data.count >= 12 && data.slice(2..<12).contains { $0 != 0 }
            let isNew = link.pairing.isRunning
            let what = isNew ? "the key of this pairing" : isOld ? "a stored legacy key" : "a stored key"
            story.addEntry(.encryption, "this device encrypts the link with \(what)")
            link.encrypting = story.moment
        }
    }

    private mutating func attempt(_ peer: BluetoothAddress?, _ adapter: UInt32) {
        let earlier = adapters[adapter]?.attempt
        let count = earlier.map { $0.peer == peer ? $0.count + 1 : 1 } ?? 1
        withAdapter(adapter) { [now, totals] in $0.attempt = (peer, now, count, totals.records) }
        if let peer { guidance.connects(to: book.identity(of: peer), adapter) }
        let whom = peer.map(book.label) ?? "any device of the filter accept list"
        addEntry(.attempt, "tries to connect to \(whom)\(count > 1 ? ", attempt \(count)" : "")")
    }

    // MARK: Events

    private mutating func receive(event octets: PacketBuffer, _ adapter: UInt32) {
        guard let code = octets.octet(at: 0), octets.count >= 2, octets.count == 2 + Int(octets[1]) else {
            totals.malformed += 1
            return
        }
        let data = octets.suffix(after: 2)
        switch code {
        case 0x3E: receive(leEvent: data, adapter)
        case 0x0E: finished(data.word(at: 1), data.octet(at: 3), adapter)
        case 0x0F: finished(data.word(at: 2), data.octet(at: 0), adapter)
        case 0x05: disconnected(data, adapter)
        case 0x08, 0x59: encryptionChanged(data, adapter)
        case 0x30: keyRefreshed(data, adapter)
        case 0x0C: remoteVersion(data, adapter)
        case 0x03: connectedClassic(data, adapter)
        case 0x10: hardwareFailed(data.octet(at: 0) ?? 0)
        default: break
        }
    }

    private mutating func finished(_ opcode: UInt16?, _ status: UInt8?, _ adapter: UInt32) {
        guard let opcode, let status, opcode != 0 else { return }
        finished(Opcode(rawValue: opcode), status, adapter)
    }

    private mutating func receive(leEvent data: PacketBuffer, _ adapter: UInt32) {
        guard let subevent = data.octet(at: 0) else { return }
        switch subevent {
        case 0x02: advertisingReports(data.suffix(after: 1), adapter)
        case 0x0D: extendedReports(data.suffix(after: 1), adapter)
        case 0x01, 0x0A, 0x29: connected(data, subevent, adapter)
        case 0x03: updated(data, adapter)
        case 0x07: dataLengthChanged(data, adapter)
        case 0x0C: phyChanged(data, adapter)
        case 0x23: subrated(data, adapter)
        default: break
        }
    }

    /// Parses the reports of LE Advertising Report, one complete report after the other (Core Vol 4 Part E 7.7.65.2).
    private mutating func advertisingReports(_ data: PacketBuffer, _ adapter: UInt32) {
        var rest = data.suffix(after: 1)
        for _ in 0..<(data.octet(at: 0) ?? 0) {
            guard let kind = rest.octet(at: 1), let length = rest.octet(at: 8).map(Int.init), rest.count >= 10 + length,
                let address = rest.address(at: 2, isRandom: kind & 1 == 1)
            else { return }
            let rssi = Int8(bitPattern: rest[9 + length])
            advertised(address, rest.slice(9..<(9 + length)), rssi: rssi)
            advise(address, rssi, adapter)
            rest = rest.suffix(after: 10 + length)
        }
    }

    /// Parses the reports of LE Extended Advertising Report (Core Vol 4 Part E 7.7.65.13).
    private mutating func extendedReports(_ data: PacketBuffer, _ adapter: UInt32) {
        var rest = data.suffix(after: 1)
        for _ in 0..<(data.octet(at: 0) ?? 0) {
            guard let kind = rest.octet(at: 2), let length = rest.octet(at: 23).map(Int.init),
                rest.count >= 24 + length,
                let address = rest.address(at: 3, isRandom: kind & 1 == 1), let state = rest.word(at: 0)
            else { return }
            let rssi = Int8(bitPattern: rest[13])
            let part = rest.slice(24..<(24 + length))
            rest = rest.suffix(after: 24 + length)
            // An anonymous advertisement has no address.
            guard kind != 0xFF, let whole = whole(part, of: address, state: state, adapter) else { continue }
            advertised(address, whole, rssi: rssi)
            advise(address, rssi, adapter)
        }
    }

    /// Joins the parts of long advertising data: bits 5 and 6 say whether more follows.
    private mutating func whole(
        _ part: PacketBuffer,
        of address: BluetoothAddress,
        state: UInt16,
        _ adapter: UInt32
    ) -> PacketBuffer? {
        let isMore = state >> 5 & 0b11 == 1
        if !isMore, adapters[adapter]?.fragments[address.value] == nil { return part }
        var result: PacketBuffer?
        withAdapter(adapter) { adapter in
            var joined = adapter.fragments[address.value] ?? []
            if joined.count < AdvertisingData.maximumLength { joined.append(contentsOf: part) }
            if isMore {
                adapter.fragments.set(joined, for: address.value)
            } else {
                adapter.fragments.removeValue(for: address.value)
                result = joined
            }
        }
        return result
    }

    private mutating func advise(_ address: BluetoothAddress, _ rssi: Int8, _ adapter: UInt32) {
        guard guidance.needsReports(adapter) else { return }
        guidance.reported(book.identity(of: address), book.name(address), rssi: rssi, adapter)
    }

    mutating func advertised(_ address: BluetoothAddress, _ data: PacketBuffer, rssi: Int8?) {
        deeds.reports += 1
        guard let device = book.advertised(address, data, rssi: rssi, at: now) else { return }
        let contents = device.contents.isEmpty ? "" : ": \(device.contents.joined(separator: "; "))"
        addEntry(.device, "\(book.label(address)) advertises\(contents)")
    }

    private mutating func connected(_ data: PacketBuffer, _ subevent: UInt8, _ adapter: UInt32) {
        guard let status = data.octet(at: 1), let handle = data.word(at: 2), let role = data.octet(at: 4),
            let kind = data.octet(at: 5), var address = data.address(at: 6, isRandom: kind & 1 == 1)
        else { return }
        let (attempt, since) = (adapters[adapter]?.attempt, adapters[adapter]?.advertisingSince)
        guard status == 0 else { return failed(status, attempt, adapter) }
        let rest = subevent == 0x01 ? 12 : 24
        let identity = address
        if rest == 24, let resolvable = data.address(at: 18, isRandom: true), resolvable.value != 0 {
            book.addConnected(resolvable, at: now)
            book.resolved(resolvable, to: identity)
            address = resolvable
        }
        openLink(key(handle, adapter), peer: address) { link in
            link.isCentral = role == 0
            link.interval = data.word(at: rest)
            link.latency = data.word(at: rest + 2) ?? 0
            link.timeout = data.word(at: rest + 4) ?? 0
        }
        guard let link = open[key(handle, adapter)] else { return }
        if kind >= 2 { book.resolved(address, to: BluetoothAddress(identity.value, kind: .init(rawValue: kind & 1))) }
        var text = "\(book.label(address)) is connected, this device is \(link.name(.near))"
        if role == 0, let attempt { text += ", \(StoryWords.time(now &- attempt.time)) after the request" }
        if role == 1, let since { text += ", after \(StoryWords.time(now &- since)) of advertising" }
        text += ": \(StoryWords.parameters(link.interval ?? 0, link.latency, link.timeout))"
        addEntry(.connected, text)
        withAdapter(adapter) { if role == 0 { $0.attempt = nil } else { $0.advertisingSince = nil } }
        if role == 0 { activity(adapter) { activity, _ in activity.isAttempting = false } }
    }

    private mutating func failed(
        _ status: UInt8,
        _ attempt: (peer: BluetoothAddress?, time: Int64, count: Int, packet: Int)?,
        _ adapter: UInt32
    ) {
        totals.failedConnections += 1
        guidance.gaveUp(adapter)
        let whom = attempt?.peer.map { " to \(book.label($0))" } ?? ""
        let time = attempt.map { " after \(StoryWords.time(now &- $0.time))" } ?? ""
        // The answer to LE Create Connection Cancel (Core Vol 4 Part E 7.8.13).
        guard status != HCIStatus.unknownConnection.rawValue else {
            attemptCancelled(adapter)
            return addEntry(.attempt, "the attempt to connect\(whom) is cancelled\(time)")
        }
        addError("the attempt to connect\(whom) fails\(time)", status)
        attemptFailed(HCIStatus(rawValue: status), adapter)
    }

    private mutating func disconnected(_ data: PacketBuffer, _ adapter: UInt32) {
        guard let handle = data.word(at: 1), let reason = data.octet(at: 3) else { return }
        let key = key(handle, adapter)
        // A second request to disconnect may cross the end of the link.
        guard let link = open[key] else { return }
        guard data.octet(at: 0) == 0 else { return addError("the disconnection fails", data[0]) }
        current = link.number
        let who = link.isDisconnecting ? ", as this device asked" : ""
        let text = "disconnected after \(StoryWords.time(now &- link.begin))\(who)"
        let status = HCIStatus(rawValue: reason)
        addEntry(.disconnected, "\(text): \(status)", section: StoryWords.section(of: reason))
        close(key, LinkEnding(status, isRequested: link.isDisconnecting))
    }

    private mutating func encryptionChanged(_ data: PacketBuffer, _ adapter: UInt32) {
        guard let status = data.octet(at: 0), let handle = data.word(at: 1), let state = data.octet(at: 3) else {
            return
        }
        let size = data.octet(at: 4)
        withLink(key(handle, adapter)) { link, story in
            guard status == 0 else {
                link.mark(.error, "encryption fails", at: story.now)
                story.encryptionFailed(status, &link)
                return story.addError("encryption fails", status)
            }
            link.keySize = size ?? link.keySize
            story.encrypted(&link, isOn: state != 0, size.map { " with a key of \(Int($0) * 8) bits" } ?? "")
        }
    }

    private mutating func keyRefreshed(_ data: PacketBuffer, _ adapter: UInt32) {
        guard let status = data.octet(at: 0), let handle = data.word(at: 1) else { return }
        withLink(key(handle, adapter)) { link, story in
            guard status == 0 else { return story.addError("the change of the key fails", status) }
            story.encrypted(&link, isOn: true, " with a new key")
        }
    }

    private mutating func encrypted(_ link: inout LinkStory, isOn: Bool, _ detail: String) {
        link.isEncrypted = isOn
        addEntry(.encryption, isOn ? "the link is encrypted\(detail)" : "the link is no longer encrypted")
        guard isOn else { return }
        encryptionSucceeded(&link)
        if link.pairing.encrypted() { addEntry(.pairing, "paired: \(link.pairing.method ?? "")") }
        link.mark(.encryption, "encrypted", at: now)
    }

    private mutating func remoteVersion(_ data: PacketBuffer, _ adapter: UInt32) {
        guard data.octet(at: 0) == 0, let handle = data.word(at: 1), let version = data.octet(at: 3),
            let company = data.word(at: 4), open[key(handle, adapter)] != nil
        else { return }
        withLink(key(handle, adapter)) { _, story in
            story.addEntry(.note, "the peer's controller: \(StoryWords.controller(version, company))")
        }
    }

    private mutating func updated(_ data: PacketBuffer, _ adapter: UInt32) {
        guard let status = data.octet(at: 1), let handle = data.word(at: 2), let interval = data.word(at: 4),
            let latency = data.word(at: 6), let timeout = data.word(at: 8)
        else { return }
        withLink(key(handle, adapter)) { link, story in
            guard status == 0 else { return story.addError("the change of the connection parameters fails", status) }
            story.change(&link, interval, latency, timeout)
        }
    }

    mutating func change(_ link: inout LinkStory, _ interval: UInt16, _ latency: UInt16, _ timeout: UInt16) {
        (link.interval, link.latency, link.timeout) = (interval, latency, timeout)
        let text = "new parameters: \(StoryWords.parameters(interval, latency, timeout))"
        link.mark(.parameters, text, at: now)
        addEntry(.parameters, text)
    }

    private mutating func dataLengthChanged(_ data: PacketBuffer, _ adapter: UInt32) {
        guard let handle = data.word(at: 1), let tx = data.word(at: 3), let rx = data.word(at: 7) else { return }
        withLink(key(handle, adapter)) { link, story in
            (link.air.near.octets, link.air.far.octets) = (Int(tx), Int(rx))
            story.addEntry(.dataLength, "data length: \(tx) octets to the peer, \(rx) octets from it")
        }
    }

    private mutating func phyChanged(_ data: PacketBuffer, _ adapter: UInt32) {
        guard let status = data.octet(at: 1), let handle = data.word(at: 2), let tx = data.octet(at: 4),
            let rx = data.octet(at: 5)
        else { return }
        withLink(key(handle, adapter)) { link, story in
            guard status == 0 else { return story.addError("the change of the PHY fails", status) }
            (link.air.near.phy, link.air.far.phy) = (tx, rx)
            let text = "PHY: \(StoryWords.phy(tx)) to the peer, \(StoryWords.phy(rx)) from it"
            link.mark(.phy, text, at: story.now)
            story.addEntry(.phy, text)
        }
    }

    private mutating func subrated(_ data: PacketBuffer, _ adapter: UInt32) {
        guard data.octet(at: 1) == 0, let handle = data.word(at: 2), let factor = data.word(at: 4) else { return }
        withLink(key(handle, adapter)) { _, story in
            story.addEntry(.parameters, "connection subrating: every event of \(factor) is used")
        }
    }
}
