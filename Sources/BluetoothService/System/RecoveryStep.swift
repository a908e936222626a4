import HCIHost

/// A step of the way back for a controller that fails, by its number.
package enum RecoveryStep: Int, CaseIterable, Hashable, Sendable {
    /// HCI Reset, on the same line.
    case reset = 1
    /// The line is closed, and one to the same controller opened anew.
    case reopen = 2
    /// The device is reset beside HCI, where there is a way.
    case resetDevice = 3
    /// Only a person can do more: take its power away. Meanwhile it is tried now and then.
    case powerOff = 4

    /// The one after it. After the last there is none but itself.
    var next: RecoveryStep { RecoveryStep(rawValue: rawValue + 1) ?? .powerOff }

    /// In a few words.
    package var words: String {
        switch self {
        case .reset: "resetting the controller"
        case .reopen: "opening a new line to the controller"
        case .resetDevice: "resetting the device"
        case .powerOff: "waiting for somebody to power the controller off"
        }
    }
}

/// What has happened on that way.
package enum RecoveryReport: Hashable, Sendable {
    /// A step is taken, because of this.
    case took(RecoveryStep, HCIHostError)
    /// A step is left out: the line knows no way to do it.
    case skipped(RecoveryStep)
    /// The controller works again, and has for long enough; this step was the last.
    case recovered(after: RecoveryStep)
    /// There is no controller any more to do anything about.
    case left(at: RecoveryStep)

    /// The step that it is about.
    package var step: RecoveryStep {
        switch self {
        case .took(let step, _), .skipped(let step), .recovered(let step), .left(let step): step
        }
    }
}

extension RecoveryReport: CustomStringConvertible {
    /// One sentence for a log.
    package var description: String {
        switch self {
        case .took(let step, let cause): "recovery step \(step.rawValue), \(step.words): \(cause)"
        case .skipped(let step): "recovery step \(step.rawValue) is left out: there is no way to do it on this line"
        case .recovered(let step): "the controller works again; step \(step.rawValue) was the last"
        case .left(let step): "the controller is gone, and recovery ends at step \(step.rawValue)"
        }
    }
}
