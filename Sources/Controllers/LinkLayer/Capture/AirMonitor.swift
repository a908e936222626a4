import BluetoothTypes
import EventLoops
import HCI

/// Prepares the frames of a sniffer for tools that show packets: without keys, and with the device that each is about.
package struct AirMonitor: Sendable {
    /// A frame for tools.
    package struct Shown: Sendable {
        /// The frame in the form of ``PcapngWriter/LinkType/air``. What the Security Manager sends in the clear is
        /// zeros, as in HCI packets that are shown.
        package let content: PacketBuffer
        /// The addresses of the two devices that the frame is about, the advertiser first, as far as they are known.
        package let addresses: [BluetoothAddress]
    }

    private struct Stream: Hashable, Sendable {
        let accessAddress: UInt32
        let sender: RadioNode.ID
    }

    /// The maximum number of links that are followed.
    private static let maximumLinks = 1_024

    private var writer = AirCaptureWriter(unixMicrosecondsAtZero: 0)
    private var fragments = FragmentMask<Stream>()
    private var ends = Bounded<UInt32, [BluetoothAddress]>(maximumLinks)
    /// The links that are encrypted, so that nothing on them can be read.
    private var encrypted = Bounded<UInt32, Bool>(maximumLinks)

    package init() {}

    /// Receives a frame. Call it with all frames, in the order in which they started.
    package mutating func receive(_ sniffed: SniffedFrame) -> Shown {
        var masked = sniffed
        let addresses: [BluetoothAddress]
        if sniffed.frame.accessAddress == AccessAddress.advertising {
            addresses = follow(sniffed.frame)
        } else {
            addresses = ends[sniffed.frame.accessAddress] ?? []
            masked.frame.pdu = self.masked(sniffed)
        }
        return Shown(content: writer.content(of: masked), addresses: addresses)
    }

    private mutating func follow(_ frame: RadioFrame) -> [BluetoothAddress] {
        switch try? AdvertisingPDU(reading: PacketBuffer(frame.pdu)) {
        case .connectableScannable(let body)?, .nonConnectable(let body)?, .scannable(let body)?,
            .scanResponse(let body)?:
            return [body.advertiser]
        case .directed(let body)?: return [body.advertiser, body.target]
        case .scanRequest(let body)?: return [body.advertiser, body.scanner]
        case .connect(let body)?:
            let addresses = [body.advertiser, body.initiator]
            ends[body.link.accessAddress] = addresses
            encrypted[body.link.accessAddress] = nil
            return addresses
        case .extended(let body)?, .connectResponse(let body)?:
            return [body.extended.advertiser, body.extended.target].compactMap(\.self)
        case nil: return []
        }
    }

    private mutating func masked(_ sniffed: SniffedFrame) -> [UInt8] {
        let (pdu, link) = (sniffed.frame.pdu, sniffed.frame.accessAddress)
        guard pdu.count > DataHeader.size, encrypted[link] == nil else { return pdu }
        var reader = FieldReader(PacketBuffer(pdu))
        var header = DataHeader()
        guard (try? header.code(&reader)) != nil else { return pdu }
        let payload = reader.bytes.rest()
        switch header.content {
        case .control:
            if payload.first == ControlOpcode.startEncReq.rawValue { encrypted[link] = true }
            return pdu
        case .reserved: return pdu
        case .start, .continuation:
            let stream = Stream(accessAddress: link, sender: sniffed.sender)
            let place = fragments.secrets(in: payload, isStart: header.content == .start, of: stream)
            guard let place, place < payload.count else { return pdu }
            let kept = pdu.prefix(DataHeader.size + place)
            return kept + [UInt8](repeating: 0, count: pdu.count - kept.count)
        }
    }
}
