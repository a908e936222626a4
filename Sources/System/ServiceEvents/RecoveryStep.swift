import HCIHost

/// A step of the recovery of a controller. The raw value is its number.
package enum RecoveryStep: Int, CaseIterable, Hashable, Sendable {
    /// HCI Reset on the same transport.
    case reset = 1
    /// Close the transport and open a new one to the same controller.
    case reopen = 2
    /// Reset the device by other means than HCI, if there are any.
    case resetDevice = 3
    /// Wait for the user to power the controller off. Meanwhile a transport is opened from time to time.
    case powerOff = 4

    /// The next step. The last step is followed by itself.
    package var next: RecoveryStep { RecoveryStep(rawValue: rawValue + 1) ?? .powerOff }

    package var words: String {
        switch self {
        case .reset: "resetting the controller"
        case .reopen: "reopening the transport to the controller"
        case .resetDevice: "resetting the device"
        case .powerOff: "waiting for the controller to be powered off"
        }
    }
}

/// An event in the recovery of a controller.
package enum RecoveryReport: Hashable, Sendable {
    case took(RecoveryStep, HCIHostError)
    /// A step was skipped because the transport does not support it.
    case skipped(RecoveryStep)
    /// The controller has worked long enough since this step.
    case recovered(after: RecoveryStep)
    /// There is no longer a controller to recover.
    case left(at: RecoveryStep)

    package var step: RecoveryStep {
        switch self {
        case .took(let step, _), .skipped(let step), .recovered(let step), .left(let step): step
        }
    }
}

extension RecoveryReport: CustomStringConvertible {
    package var description: String {
        switch self {
        case .took(let step, let cause): "recovery step \(step.rawValue), \(step.words): \(cause)"
        case .skipped(let step): "recovery step \(step.rawValue) is skipped: this transport does not support it"
        case .recovered(let step): "the controller works again after recovery step \(step.rawValue)"
        case .left(let step): "the controller is gone; recovery ended at step \(step.rawValue)"
        }
    }
}
