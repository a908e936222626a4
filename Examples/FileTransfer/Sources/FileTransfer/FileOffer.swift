import CoreBluetooth
import Foundation

/// Offers a file in the peripheral role: publishes an L2CAP channel and its PSM in a characteristic, and sends the file
/// to each central that opens the channel, one after the other.
///
/// The manager uses the queue passed to the initializer, or the main queue. The streams use the run loop. Both have to
/// belong to the same thread.
package final class FileOffer: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        case unavailable(CBManagerState)
        case advertising
        case sending
        case sent(octets: Int)
        case failed(String)
    }

    private let content: Data
    private let runLoop: RunLoop
    private let report: (Report) -> Void
    private var manager: CBPeripheralManager?
    /// Retained while in use, since a channel without a reference closes.
    private var channel: CBL2CAPChannel?
    private var sent = 0

    package init(
        content: Data,
        queue: DispatchQueue? = nil,
        runLoop: RunLoop = .main,
        report: @escaping (Report) -> Void
    ) {
        self.content = FileService.encoded(length: content.count) + content
        self.runLoop = runLoop
        self.report = report
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: queue)
    }

    private func write(to stream: OutputStream) {
        guard sent < content.count else { return }
        let part = [UInt8](content[sent...].prefix(4_096))
        let count = stream.write(part, maxLength: part.count)
        guard count > 0 else { return }
        sent += count
        if sent == content.count { report(.sent(octets: sent - FileService.lengthSize)) }
    }

    private func close() {
        channel?.outputStream.close()
        channel?.inputStream.close()
        channel = nil
    }

    private func advertise() {
        manager?.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [FileService.service]])
    }
}

extension FileOffer: CBPeripheralManagerDelegate {
    package func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return report(.unavailable(peripheral.state)) }
        peripheral.publishL2CAPChannel(withEncryption: false)
    }

    package func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        let number = CBMutableCharacteristic(
            type: FileService.psm,
            properties: [.read],
            value: withUnsafeBytes(of: PSM.littleEndian) { Data($0) },
            permissions: [.readable]
        )
        let service = CBMutableService(type: FileService.service, primary: true)
        service.characteristics = [number]
        peripheral.add(service)
    }

    package func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return report(.failed(error.localizedDescription)) }
        advertise()
    }

    package func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        report(error.map { .failed($0.localizedDescription) } ?? .advertising)
    }

    package func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didOpen channel: CBL2CAPChannel?,
        error: (any Error)?
    ) {
        guard let channel else { return report(.failed(error?.localizedDescription ?? "no channel")) }
        // The next central comes after this one.
        peripheral.stopAdvertising()
        close()
        self.channel = channel
        sent = 0
        report(.sending)
        for stream in [channel.inputStream, channel.outputStream] as [Stream] {
            stream.delegate = self
            stream.schedule(in: runLoop, forMode: .default)
            stream.open()
        }
    }
}

extension FileOffer: StreamDelegate {
    package func stream(_ stream: Stream, handle event: Stream.Event) {
        switch event {
        case .hasSpaceAvailable: if let stream = stream as? OutputStream { write(to: stream) }
        case .endEncountered, .errorOccurred:
            // Both streams report the end, the first one while the channel is open.
            guard channel != nil else { return }
            close()
            advertise()
        default: break
        }
    }
}
