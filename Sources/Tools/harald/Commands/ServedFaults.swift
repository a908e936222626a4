import Accessories
import BluetoothService
import BluetoothSimulation
import Dispatch
import EventLoops

/// Begins and ends faults of an accessory on a controller, by the clock.
struct ServedFaults: Sendable {
    /// How long a device is off that starts again.
    private static let pause = DispatchTimeInterval.seconds(1)

    let system: LoopBound<BluetoothSystem>
    let answers: LoopBound<AnswerSwitch>
    let player: AccessoryPlayer
    let queue: DispatchQueue
    let say: @Sendable (String) -> Void

    /// Throws if a controller cannot have one of the faults.
    static func check(_ faults: [ScheduledFault]) throws(ToolError) {
        guard let first = faults.map(\.fault.kind).first(where: \.needsWorld) else { return }
        throw .incomplete(
            "the fault \(first.rawValue) needs a simulated world: use `harald test`, or `world.addAccessory` in a test"
        )
    }

    /// Begins the faults at their times, or when their values are written.
    func schedule(_ faults: [ScheduledFault]) {
        for each in faults where each.trigger == nil { schedule(each) }
        let triggered = faults.filter { $0.trigger != nil }
        guard !triggered.isEmpty else { return }
        player.whenWritten { index in
            for each in triggered where each.trigger.flatMap({ player.accessory.index(of: $0) }) == index {
                schedule(each)
            }
        }
    }

    private func schedule(_ each: ScheduledFault) {
        after(each.start) {
            say("the fault \(each.fault.text) begins")
            begin(each.fault)
        }
        guard let end = each.end else { return }
        after(end) {
            say("the fault \(each.fault.text) ends")
            self.end(each.fault)
        }
    }

    private func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay.nanoseconds)), execute: body)
    }

    private func begin(_ fault: DeviceFault) {
        if player.begin(fault) { return }
        if let answer = fault.answer { return answers.with { $0.fault = answer } }
        switch fault.kind {
        case .outOfRange: system.with { $0.controllers.setPower(false) }
        case .reboot: reboot()
        case .batteryReplaced:
            player.reset()
            reboot()
        case .bondLost: forgetBonds()
        case .factoryReset:
            forgetBonds()
            player.reset()
            reboot()
        case .newAddress: system.with { $0.controllers.changeAddress() }
        case .airplaneMode: system.with { $0.controllers.setAirplaneMode(true) }
        default: break
        }
    }

    private func end(_ fault: DeviceFault) {
        player.end(fault)
        if fault.answer != nil { answers.with { $0.fault = nil } }
        switch fault.kind {
        case .outOfRange: system.with { $0.controllers.setPower(true) }
        case .airplaneMode: system.with { $0.controllers.setAirplaneMode(false) }
        default: break
        }
    }

    private func reboot() {
        let system = system
        system.with { $0.controllers.setPower(false) }
        queue.asyncAfter(deadline: .now() + Self.pause) { system.with { $0.controllers.setPower(true) } }
    }

    private func forgetBonds() {
        let say = say
        system.with { system in
            for peer in system.peers.bondedPeers {
                do {
                    try system.peers.forget(peer.identifier)
                } catch {
                    say("cannot forget a bond: \(error)")
                }
            }
        }
    }
}
