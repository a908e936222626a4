import HCI

@testable import BluetoothService

/// The controllers of a ``WorldDevice``, one after the other.
protocol WorldRadio: AnyObject {
    var isScanning: Bool { get }
    var isAdvertising: Bool { get }
    /// Returns the source of controllers for a new system.
    func open(isPluggedIn: Bool) -> ControllerSource
    /// Connects observers to a new system.
    func observe(_ system: BluetoothSystem)
    func plugIn()
    func unplug()
    /// Moves the device out of its peers' range, which ends its links, or back into it.
    func setInRange(_ isInRange: Bool)
}

/// Controllers of a ``TestAir``: no radio, no loss, and links that end at once.
final class QuickRadio: WorldRadio {
    private let air: TestAir
    private var controller: TestController?
    private var source: ControllerSource?
    private var isPluggedIn = true
    private var isInRange = true

    init(on air: TestAir) {
        self.air = air
    }

    var isScanning: Bool { controller?.isScanning ?? false }
    var isAdvertising: Bool { controller?.isAdvertising ?? false }

    func open(isPluggedIn: Bool) -> ControllerSource {
        self.isPluggedIn = isPluggedIn
        let source = ControllerSource { [weak self] in self?.plug() }
        self.source = source
        return source
    }

    private func plug() -> (any HCITransport)? {
        guard isPluggedIn else { return nil }
        let (new, line) = air.addController()
        new.isInRange = isInRange
        controller = new
        return line
    }

    func observe(_ system: BluetoothSystem) {}

    func plugIn() {
        isPluggedIn = true
        source?.arrived()
    }

    func unplug() {
        isPluggedIn = false
        controller?.unplug()
        controller = nil
    }

    func setInRange(_ isInRange: Bool) {
        self.isInRange = isInRange
        controller?.isInRange = isInRange
        if !isInRange { controller?.loseLinks(.connectionTimeout) }
    }
}
