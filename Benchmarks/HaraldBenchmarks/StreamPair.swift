import BluetoothSimulation
import CoreBluetooth
import Dispatch
import Foundation
import Synchronization

/// An L2CAP channel between two devices in virtual time, used through its streams from one thread.
final class StreamPair {
    /// The capacity of the air in one direction, at 1 Mbit/s: 251 octets, four of which are a header, then a pause, an
    /// empty packet and a pause (Core Vol 6 Part B 2.1 and 4.1.1).
    static let airLimit = 247.0 / ((2 * 10 + 251) * 8 + 2 * 150) * 1e6

    private let world = SimulatedWorld(seed: 1)
    private let publisher: Publisher
    private let opener: Opener

    init() {
        publisher = world.addDevice(named: "Station").launch("publisher") { _ in Publisher() }
        opener = world.addDevice(named: "Phone").launch("opener") { _ in Opener() }
        world.run(for: .seconds(1))
        opener.psm.store(publisher.psm.load(ordering: .relaxed), ordering: .relaxed)
        opener.begin()
        let isOpen = world.run(for: .seconds(30)) { [publisher, opener] in
            publisher.channel.withLock { $0 != nil } && opener.channel.withLock { $0 != nil }
        }
        precondition(isOpen, "the channel is opened")
    }

    /// Transfers a number of octets, and returns the simulated time in seconds.
    func transfer(_ count: Int) -> Double {
        guard let output = opener.channel.withLock({ $0?.outputStream }),
            let input = publisher.channel.withLock({ $0?.inputStream })
        else { return .nan }
        for stream in [output, input] as [Stream] where stream.streamStatus == .notOpen { stream.open() }
        let portion = [UInt8](repeating: 0x55, count: 16_384)
        var buffer = portion
        var (sent, received) = (0, 0)
        let start = world.now
        while received < count {
            while sent < count, output.hasSpaceAvailable {
                sent += max(0, output.write(portion, maxLength: min(portion.count, count - sent)))
            }
            world.run(for: .milliseconds(2))
            while input.hasBytesAvailable { received += max(0, input.read(&buffer, maxLength: buffer.count)) }
        }
        let duration = (world.now - start).components
        return Double(duration.seconds) + Double(duration.attoseconds) / 1e18
    }
}

private let marker = CBUUID(string: "FFF0")

private final class Publisher: NSObject, CBPeripheralManagerDelegate, @unchecked Sendable {
    // Safe: `manager` is set once, before any callback; the rest is atomic or in a mutex.
    let psm = Atomic<UInt16>(0)
    let channel = Mutex<CBL2CAPChannel?>(nil)
    private var manager: CBPeripheralManager!

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "publisher"))
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        if peripheral.state == .poweredOn { peripheral.publishL2CAPChannel(withEncryption: false) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        psm.store(PSM, ordering: .relaxed)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [marker]])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        // A link shares the radio with an advertiser.
        peripheral.stopAdvertising()
        self.channel.withLock { $0 = channel }
    }
}

private final class Opener: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: accessed only on the manager's queue; the rest is atomic or in a mutex.
    let psm = Atomic<UInt16>(0)
    let channel = Mutex<CBL2CAPChannel?>(nil)
    private let queue = DispatchQueue(label: "opener")
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func begin() { queue.sync { manager.scanForPeripherals(withServices: [marker]) } }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.openL2CAPChannel(psm.load(ordering: .relaxed))
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        self.channel.withLock { $0 = channel }
    }
}
