import BluetoothService
import BluetoothTypes
import EventLoops
import HCI

/// A controller whose firmware fails at a given command, and stays broken until a cure of sufficient strength.
///
/// It wraps a working controller and replaces what the host sees of it.
final class FailingController: @unchecked Sendable {
    // Safe: accessed only on the loop, and by the test while the loop is idle.

    /// How it behaves from then on.
    enum Fault: CaseIterable, Sendable {
        /// It sends nothing more, and does not respond to Reset either.
        case silent
        /// It responds, but grants no further command credits.
        case noCredits
        /// It reports a hardware error and falls silent; likewise after each reset, some commands later.
        case hardwareError
        /// It responds with octets that are no valid response.
        case garbage
        /// Its transport closes; likewise each new one, some commands later.
        case lineEnds
        /// It works after each reset, and falls silent some commands later.
        case degraded
        /// It does not report sent data as completed.
        case keepsData

        /// The weakest cure: Reset cannot repair a closed transport, nor a controller that does not respond to it.
        var leastCure: RecoveryStep { [.lineEnds, .silent, .garbage].contains(self) ? .reopen : .reset }
    }

    /// The number of commands that work after a reset that is no cure.
    static let respite = 10

    let fault: Fault
    /// The step that repairs it.
    let cure: RecoveryStep
    /// The index of the command at which it fails.
    let command: Int
    /// Whether the device can be reset.
    var canResetDevice = true
    /// Whether a device reset never completes.
    var resetHangs = false

    /// The number of commands so far.
    private(set) var commands = 0
    /// The number of faulty actions so far.
    private(set) var misdeeds = 0
    /// The step that repaired it.
    private(set) var mendedBy: RecoveryStep?
    private(set) var isBroken = false
    /// The number of commands until it fails again, while it is broken.
    private var left = 0
    private var isStuck: Bool { isBroken && left <= 0 }

    init(_ fault: Fault, at command: Int, mendedBy cure: RecoveryStep) {
        (self.fault, self.command, self.cure) = (fault, command, cure)
    }

    /// Power has been removed and restored.
    func powerCycle() { heal(by: .powerOff) }

    private func heal(by step: RecoveryStep) {
        guard isBroken, step.rawValue >= cure.rawValue else { return }
        (isBroken, mendedBy) = (false, step)
    }

    func line(_ transport: any HCITransport, loop: any EventLoop) -> any HCITransport {
        heal(by: .reopen)
        if fault == .lineEnds { left = Self.respite }
        return FailingLine(transport, of: self, loop: loop)
    }

    /// How a command is handled.
    fileprivate enum Fate {
        case pass, lost, hardwareError, lineEnds
    }

    fileprivate func take(isReset: Bool) -> Fate {
        defer { commands += 1 }
        if isReset {
            heal(by: .reset)
            if isBroken, [.hardwareError, .degraded].contains(fault) { left = Self.respite }
        }
        if commands == command, mendedBy == nil { (isBroken, left) = (true, 0) }
        guard isBroken else { return .pass }
        left -= 1
        guard left < 0 else { return .pass }
        switch fault {
        case .silent, .degraded: return misdeed(.lost)
        case .lineEnds: return misdeed(.lineEnds)
        case .hardwareError: return misdeed(left == -1 ? .hardwareError : .lost)
        case .noCredits, .garbage, .keepsData: return .pass
        }
    }

    private func misdeed<Outcome>(_ outcome: Outcome) -> Outcome {
        misdeeds += 1
        return outcome
    }

    /// Applies the fault to a packet for the host.
    fileprivate func show(_ packet: HCIPacket) -> HCIPacket? {
        guard isStuck else { return packet }
        switch fault {
        case .silent, .degraded, .hardwareError, .lineEnds: return misdeed(nil)
        case .garbage: return misdeed(packet.kind == .event ? HCIPacket(.event, [0x0E, 0x02, 0x01]) : nil)
        case .noCredits: return withoutCredits(packet)
        case .keepsData:
            let isCompletion =
                packet.kind == .event && packet.bytes.first == NumberOfCompletedPackets.eventCode.rawValue
            return isCompletion ? misdeed(nil) : packet
        }
    }

    private func withoutCredits(_ packet: HCIPacket) -> HCIPacket {
        guard packet.kind == .event, let event = try? EventPacket(reading: packet.bytes) else { return packet }
        if event.code == CommandComplete.eventCode, var answer = try? CommandComplete.reading(event.parameters) {
            answer.credits = 0
            return misdeed(HCIPacket(answer))
        }
        if event.code == CommandStatus.eventCode, var answer = try? CommandStatus.reading(event.parameters) {
            answer.credits = 0
            return misdeed(HCIPacket(answer))
        }
        return packet
    }

    fileprivate func resetDevice() -> DeviceReset {
        guard canResetDevice else { return .impossible }
        heal(by: .resetDevice)
        return .done
    }
}

/// A transport to such a controller.
private final class FailingLine: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    var place: String { inner.place }

    private let inner: any HCITransport
    private let controller: FailingController
    private let loop: any EventLoop
    private var isOpen = true

    init(_ inner: any HCITransport, of controller: FailingController, loop: any EventLoop) {
        (self.inner, self.controller, self.loop) = (inner, controller, loop)
        inner.onReceive = { [weak self] packet in
            guard let self, let shown = controller.show(packet) else { return }
            onReceive?(shown)
        }
        inner.onClose = { [weak self] in self?.onClose?($0) }
    }

    func send(_ packet: HCIPacket) {
        guard packet.kind == .command, let frame = try? CommandPacket(reading: packet.bytes) else {
            return inner.send(packet)
        }
        switch controller.take(isReset: frame.opcode == Reset.opcode) {
        case .pass: inner.send(packet)
        case .lost: break
        case .hardwareError:
            loop.execute { [weak self] in self?.onReceive?(HCIPacket(HardwareError(code: 0x42))) }
        case .lineEnds:
            loop.execute { [weak self] in
                guard let self, isOpen else { return }
                close()
                onClose?(.closedByPeer)
            }
        }
    }

    func close() {
        isOpen = false
        inner.close()
    }

    func resetDevice(_ completion: @escaping (DeviceReset) -> Void) {
        close()
        let controller = controller
        // About as long as a driver takes to load firmware.
        loop.schedule(after: .seconds(2)) {
            let result = controller.resetDevice()
            if !controller.resetHangs { completion(result) }
        }
    }
}
