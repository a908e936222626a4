import BluetoothService
import EventLoops
import ServiceMessages
import Testing

@testable import BluetoothSimulation

/// A fault, and the step that cures it.
struct Failure: Sendable, CustomTestStringConvertible {
    var fault: FailingController.Fault
    var cure: RecoveryStep
    var testDescription: String { "\(fault), mended by step \(cure.rawValue)" }

    static let all = FailingController.Fault.allCases.flatMap { fault in
        RecoveryStep.allCases.filter { $0.rawValue >= fault.leastCure.rawValue }.map { Failure(fault: fault, cure: $0) }
    }
    /// The failures that show without data traffic.
    static let ofCommands = all.filter { $0.fault != .keepsData }
}

/// A device with a failing controller, and a person who power-cycles the controller when advised that nothing else
/// helps.
struct Patient {
    let device: SimulatedDevice
    let controller: FailingController
    /// The recovery reports so far.
    let reports = Locked<[RecoveryReport]>([])
    /// The number of times the person was advised.
    let advices = Locked(0)

    private var world: SimulatedWorld { device.world }

    /// Replaces the controller of a device by a failing one.
    init(_ device: SimulatedDevice, _ failure: Failure, at command: Int, canResetDevice: Bool = true) {
        self.device = device
        let made = FailingController(failure.fault, at: command, mendedBy: failure.cure)
        made.canResetDevice = canResetDevice
        controller = made
        device.setController(isPluggedIn: false)
        // The system notices the missing controller.
        device.world.run(for: .milliseconds(10))
        let (loop, reports, advices) = (device.world.loop, reports, advices)
        loop.waitFor {
            device.interpose { made.line($0, loop: loop) }
            device.withSystem {
                _ = $0.observers.add([.state, .notices]) { observation in
                    switch observation.content {
                    case .recovery(let report): reports.change { $0.append(report) }
                    case .noticed(.controllerStaysBroken): advices.change { $0 += 1 }
                    default: break
                    }
                }
            }
        }
        device.setController(isPluggedIn: true)
    }

    /// The numbers of the recovery steps in order. Consecutive repetitions count once.
    var steps: [Int] {
        let taken = reports.value.compactMap { report -> Int? in
            if case .took(let step, _) = report { step.rawValue } else { nil }
        }
        return taken.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// Advances time until `condition` holds. The person acts on advice.
    @discardableResult
    func live(for time: Duration, until condition: @Sendable () -> Bool) -> Bool {
        let (advices, controller) = (advices, controller)
        let wantsPerson: @Sendable () -> Bool = { advices.value > 0 && controller.isBroken }
        if world.run(for: time, until: { condition() || wantsPerson() }), !wantsPerson() { return true }
        guard wantsPerson() else { return false }
        device.setController(isPluggedIn: false)
        world.run(for: .seconds(1))
        controller.powerCycle()
        device.setController(isPluggedIn: true)
        return world.run(for: time, until: condition)
    }

    /// Describes what is wrong after the controller has failed and recovered.
    func faults(_ failure: Failure) -> [String] {
        let controller = controller
        var faults: [String] = []
        if controller.misdeeds == 0 { faults.append("nothing was wrong") }
        if controller.mendedBy != failure.cure { faults.append("mended by \(String(describing: controller.mendedBy))") }
        if steps.max() != failure.cure.rawValue { faults.append("the steps were \(steps)") }
        if (advices.value == 1) != (failure.cure == .powerOff) {
            faults.append("a person was told \(advices.value) times")
        }
        let state = device.withSystem { $0.controllers.state }
        if state != .poweredOn { faults.append("the radio is \(state)") }
        return faults
    }
}
