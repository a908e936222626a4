import CoreBluetooth
import Foundation

/// One end of a channel as apps implement it: the streams are scheduled in a run loop, and their delegate reads and
/// writes.
final class ChannelUser: NSObject, StreamDelegate, @unchecked Sendable {
    // Safe: accessed by the test, and in callbacks that the world waits for.

    private(set) var channel: CBL2CAPChannel!
    private(set) var events: [String] = []
    private(set) var received = Data()
    private(set) var sent = 0
    /// The data to send.
    var outgoing: Data
    /// Whether to read incoming data.
    var isReading = true
    /// The number of octets to read or write at a time.
    var portion = 4_096
    /// Called on the run loop for each event.
    var onEvent: ((ChannelUser, Stream.Event) -> Void)?

    init(_ channel: CBL2CAPChannel, in runLoop: RunLoop?, outgoing: Data = Data()) {
        self.channel = channel
        self.outgoing = outgoing
        super.init()
        for stream in streams {
            stream.delegate = self
            if let runLoop { stream.schedule(in: runLoop, forMode: .default) }
            stream.open()
        }
    }

    var input: InputStream { channel.inputStream }
    var output: OutputStream { channel.outputStream }
    private var streams: [Stream] { [channel.inputStream, channel.outputStream] }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        let side = stream is InputStream ? "in" : "out"
        switch event {
        case .openCompleted: events.append("\(side) open")
        case .hasBytesAvailable: if isReading { read() }
        case .hasSpaceAvailable: write()
        case .endEncountered: events.append("\(side) end")
        case .errorOccurred: events.append("\(side) error")
        default: events.append("\(side) \(event.rawValue)")
        }
        onEvent?(self, event)
    }

    func read() {
        var buffer = [UInt8](repeating: 0, count: portion)
        let count = input.read(&buffer, maxLength: buffer.count)
        if count > 0 { received += buffer[..<count] }
    }

    func write() {
        let portion = [UInt8](outgoing[sent...].prefix(portion))
        guard !portion.isEmpty else { return }
        sent += max(output.write(portion, maxLength: portion.count), 0)
    }

    /// Closes both streams and releases the channel, as most apps do.
    func close() {
        for stream in streams { stream.close() }
        channel = nil
    }

    /// Releases the channel without closing its streams.
    func drop() {
        channel = nil
    }
}

/// Publishes channels, and accepts incoming ones.
final class ChannelPublisher: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: accessed by the test, and in callbacks that the world waits for.

    static let service = CBUUID(string: "6368616E-6E65-4C73-8000-000000000001")

    private(set) var manager: CBPeripheralManager!
    private(set) var psms: [CBL2CAPPSM] = []
    private(set) var log: [String] = []
    var users: [ChannelUser] = []
    /// The data to send on each incoming channel.
    var outgoing = Data()
    /// Whether to keep incoming channels.
    var isKeeping = true
    private let runLoop: RunLoop?

    init(in runLoop: RunLoop?) {
        self.runLoop = runLoop
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "publisher"))
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        log.append("state \(peripheral.state.rawValue)")
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.service, primary: true)
        peripheral.add(service)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        if error == nil { psms.append(PSM) }
        log.append(error.map { "not published: \($0.localizedDescription)" } ?? "published")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        log.append(error == nil ? "unpublished \(psms.firstIndex(of: PSM) ?? -1)" : "not unpublished")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else { return log.append("no channel") }
        log.append("opened \(psms.firstIndex(of: channel.psm) ?? -1)")
        if isKeeping { users.append(ChannelUser(channel, in: runLoop, outgoing: outgoing)) }
    }

    func letGo() {
        manager = nil
    }
}

/// Connects, and opens channels.
final class ChannelOpeningApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: accessed by the test, and in callbacks that the world waits for.

    private(set) var manager: CBCentralManager!
    private(set) var peripheral: CBPeripheral?
    private(set) var log: [String] = []
    private(set) var lastError: (any Error)?
    var users: [ChannelUser] = []
    /// The data to send on each channel.
    var outgoing = Data()
    var isKeeping = true
    private let runLoop: RunLoop?

    init(in runLoop: RunLoop?) {
        self.runLoop = runLoop
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "opener"))
    }

    var isConnected: Bool { peripheral?.state == .connected }

    func open(_ psm: CBL2CAPPSM) { peripheral?.openL2CAPChannel(psm) }

    func cancel() {
        if let peripheral { manager.cancelPeripheralConnection(peripheral) }
    }

    func letGo() {
        manager = nil
        peripheral = nil
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        log.append("state \(central.state.rawValue)")
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [ChannelPublisher.service])
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { log.append("connected") }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        log.append("disconnected")
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        lastError = error
        guard let channel else { return log.append("not opened") }
        log.append("opened")
        if isKeeping { users.append(ChannelUser(channel, in: runLoop, outgoing: outgoing)) }
    }
}
