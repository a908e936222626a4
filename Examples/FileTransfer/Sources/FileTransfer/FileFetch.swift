import CoreBluetooth
import Foundation

/// Fetches the file that a nearby device offers: reads the PSM, opens the channel, and receives the file.
///
/// The manager uses the queue passed to the initializer, or the main queue. The streams use the run loop. Both have to
/// belong to the same thread.
package final class FileFetch: NSObject {
    /// An event for the user interface.
    package enum Report: Hashable {
        case unavailable(CBManagerState)
        case searching
        case connected
        case receiving
        case received(Data)
        case disconnected
        case failed(String)
    }

    private let runLoop: RunLoop
    private let report: (Report) -> Void
    private var manager: CBCentralManager?
    private var source: CBPeripheral?
    private var channel: CBL2CAPChannel?
    private var data = Data()

    package init(queue: DispatchQueue? = nil, runLoop: RunLoop = .main, report: @escaping (Report) -> Void) {
        self.runLoop = runLoop
        self.report = report
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    private func read(from stream: InputStream) {
        var part = [UInt8](repeating: 0, count: 4_096)
        let count = stream.read(&part, maxLength: part.count)
        guard count > 0 else { return }
        data += part[..<count]
        guard data.count >= FileService.lengthSize else { return }
        guard let length = FileService.length(in: data) else { return finish(.failed("the file is too long")) }
        let content = data.dropFirst(FileService.lengthSize)
        if content.count >= length { finish(.received(Data(content.prefix(length)))) }
    }

    /// Closes the channel and then the connection, so that the other end sees the channel close normally.
    private func finish(_ result: Report) {
        guard let channel else { return }
        self.channel = nil
        channel.inputStream.close()
        channel.outputStream.close()
        report(result)
        if let source { manager?.cancelPeripheralConnection(source) }
    }
}

extension FileFetch: CBCentralManagerDelegate {
    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return report(.unavailable(central.state)) }
        report(.searching)
        central.scanForPeripherals(withServices: [FileService.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        source = peripheral
        central.connect(peripheral)
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        report(.connected)
        peripheral.delegate = self
        peripheral.discoverServices([FileService.service])
    }

    package func centralManager(
        _ central: CBCentralManager,
        didFailToConnect peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        report(.failed(error?.localizedDescription ?? "no connection"))
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        source = nil
        report(.disconnected)
    }
}

extension FileFetch: CBPeripheralDelegate {
    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let error { return report(.failed(error.localizedDescription)) }
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics([FileService.psm], for: service) }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        for characteristic in service.characteristics ?? [] { peripheral.readValue(for: characteristic) }
    }

    package func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { return report(.failed(error.localizedDescription)) }
        guard let value = characteristic.value, value.count == 2 else {
            return report(.failed("the peer offers no channel"))
        }
        peripheral.openL2CAPChannel(CBL2CAPPSM(value[value.startIndex]) | CBL2CAPPSM(value[value.startIndex + 1]) << 8)
    }

    package func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else { return report(.failed(error?.localizedDescription ?? "no channel")) }
        self.channel = channel
        data = Data()
        report(.receiving)
        for stream in [channel.inputStream, channel.outputStream] as [Stream] {
            stream.delegate = self
            stream.schedule(in: runLoop, forMode: .default)
            stream.open()
        }
    }
}

extension FileFetch: StreamDelegate {
    package func stream(_ stream: Stream, handle event: Stream.Event) {
        switch event {
        case .hasBytesAvailable: if let stream = stream as? InputStream { read(from: stream) }
        case .endEncountered: finish(.failed("the channel closed before the end of the file"))
        case .errorOccurred: finish(.failed(stream.streamError?.localizedDescription ?? "the channel failed"))
        default: break
        }
    }
}
