import CoreBluetooth
import Demos

/// An app, written as for iOS, that opens an L2CAP channel to a device that echoes, and compares the echo with what it
/// sent.
///
/// Callbacks arrive on the queue given to the initializer, and on the channel's thread.
final class ChannelSender: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Safe: mutable state is only touched on the manager's queue, where its callbacks arrive.

    /// Receives the failure; nil if the echo was complete and correct.
    typealias Finish = @Sendable (String?) -> Void

    private let name: String
    private let psm: CBL2CAPPSM?
    private let parcel: Data
    private let say: @Sendable (String) -> Void
    private let echoed: @Sendable (Int) -> Void
    private let finish: Finish
    private var manager: CBCentralManager!
    private var peripheral: CBPeripheral?
    /// Whether the device has been found. On the queue only.
    var hasFound: Bool { peripheral != nil }
    private(set) var found = ScannedDevices()

    /// - Parameters:
    ///   - psm: The PSM of the channel; nil to read it from the device.
    ///   - echoed: Receives the number of octets that came back, when there are enough.
    init(
        to name: String,
        psm: CBL2CAPPSM?,
        size: Int,
        queue: DispatchQueue,
        say: @escaping @Sendable (String) -> Void,
        echoed: @escaping @Sendable (Int) -> Void,
        finish: @escaping Finish
    ) {
        self.name = name
        self.psm = psm
        self.say = say
        self.echoed = echoed
        self.finish = finish
        // A sequence without repetitions within a window.
        parcel = Data((0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return say("Bluetooth is \(stateName(central.state))") }
        central.scanForPeripherals(withServices: nil)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let advertised = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        guard self.peripheral == nil else { return }
        guard advertised == name || peripheral.name == name else {
            let names = [advertised, peripheral.name].compactMap(\.self)
            return found.add(DeviceCandidate(identifier: peripheral.identifier, names: names))
        }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        say("connected")
        guard let psm else { return peripheral.discoverServices([ChannelEcho.service]) }
        peripheral.openL2CAPChannel(psm)
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        finish("cannot connect: \(error?.localizedDescription ?? "unknown reason")")
    }

    func centralManager(
        _ central: CBCentralManager,
        didDisconnectPeripheral peripheral: CBPeripheral,
        error: (any Error)?
    ) {
        finish("disconnected: \(error?.localizedDescription ?? "as requested")")
    }

    // MARK: PSM

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first else {
            return finish("the device does not have the channel service")
        }
        peripheral.discoverCharacteristics([CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)], for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {
        guard let told = service.characteristics?.first else { return finish("the device has no PSM characteristic") }
        peripheral.readValue(for: told)
    }

    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard let value = characteristic.value, value.count == 2 else {
            return finish("the device's PSM is not a valid value")
        }
        peripheral.openL2CAPChannel(CBL2CAPPSM(value[0]) | CBL2CAPPSM(value[1]) << 8)
    }

    // MARK: Channel

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else {
            return finish("cannot open a channel: \(error?.localizedDescription ?? "unknown reason")")
        }
        say("a channel is open on PSM \(channel.psm)")
        let (parcel, finish, echoed) = (parcel, finish, echoed)
        // Only touched on the channel's thread.
        var back = Data()
        ChannelRunner(channel, first: parcel) { octets in
            back += octets
            if back.count >= parcel.count {
                echoed(back.count)
                finish(back == parcel ? nil : "the echo differs from the data sent")
            }
            return Data()
        } onEnd: { error in
            finish("the channel was closed: \(error?.localizedDescription ?? "the device closed it")")
        }.start()
    }
}
