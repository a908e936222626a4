import BluetoothTypes
import HCI

/// The results of one device for a procedure of Channel Sounding.
package struct SoundingProcedure: Hashable, Sendable {
    /// The results of one subevent.
    package struct Subevent: Hashable, Sendable {
        /// The connection event from which the subevent was scheduled.
        package var startEvent: UInt16 = 0
        package var frequencyCompensation: UInt16 = 0
        /// The power in dBm to which the amplitudes relate.
        package var referencePower: Int8 = 0
        package var progress = LESoundingProgress()
        package var steps: [LESoundingStep] = []

        package init() {}
    }

    package var counter: UInt16 = 0
    package var config: UInt8 = 0
    package var antennaPaths: UInt8 = 1
    package var subevents: [Subevent] = []

    package init() {}
}

/// Why distances cannot be measured, or a result cannot be used.
package enum SoundingError: Error, Hashable, Sendable {
    /// The controller lacks the feature.
    case unsupported
    /// The peer or the controller has refused a step of the preparation.
    case refused(HCIStatus)
    case command(HCICommandFailure)
    /// Results came in an order in which no controller may send them.
    case outOfOrder(String)
    case malformed(PacketError)
    /// The peer's data do not belong to the own ones.
    case mismatch(String)
    /// Too few steps have a result.
    case noResult
    /// The peer's ranging service lacks what is needed.
    case noService
    /// Segments of the peer's data are missing.
    case lostSegment
    /// The peer has not sent its data in time.
    case timedOut
}

/// The failure of a command, without the error itself.
package struct HCICommandFailure: Hashable, Sendable {
    package var text: String
}

/// Joins the events of a controller to procedures. Events out of order are errors, after which the next procedure starts
/// afresh.
package struct ProcedureAssembler {
    /// The maximum number of steps and subevents of a procedure (Core Vol 6 Part H 4.2), with the repeated ones.
    static let maximumSteps = 512
    static let maximumSubevents = 32

    private var procedure: SoundingProcedure?
    /// Whether a continuation of the last subevent is due.
    private var isOpen = false

    package init() {}

    /// Adds the first results of a subevent.
    ///
    /// - Returns: The procedure, if that was the end of it.
    package mutating func add(_ event: LECSSubeventResult) throws(SoundingError) -> SoundingProcedure? {
        if isOpen { try fail("a subevent began before the previous one had ended") }
        var current = procedure ?? SoundingProcedure()
        if procedure != nil, current.counter != event.procedureCounter || current.config != event.config {
            // The results of the previous procedure are lost.
            current = SoundingProcedure()
        }
        (current.counter, current.config) = (event.procedureCounter, event.config)
        current.antennaPaths = event.antennaPaths
        var subevent = SoundingProcedure.Subevent()
        (subevent.startEvent, subevent.frequencyCompensation) = (event.startEvent, event.frequencyCompensation)
        subevent.referencePower = event.referencePower
        current.subevents.append(subevent)
        procedure = current
        return try add(event.steps, event.progress)
    }

    /// Adds further results of a subevent.
    package mutating func add(_ event: LECSSubeventResultContinue) throws(SoundingError) -> SoundingProcedure? {
        guard isOpen, let procedure else { return try fail("a continuation came without a subevent") }
        guard procedure.config == event.config else {
            return try fail("a continuation is of another configuration")
        }
        return try add(event.steps, event.progress)
    }

    private mutating func add(
        _ steps: [LESoundingStep],
        _ progress: LESoundingProgress
    ) throws(SoundingError) -> SoundingProcedure? {
        guard var current = procedure, let last = current.subevents.indices.last else { return nil }
        current.subevents[last].steps += steps
        current.subevents[last].progress = progress
        let count = current.subevents.reduce(0) { $0 + $1.steps.count }
        guard count <= Self.maximumSteps, current.subevents.count <= Self.maximumSubevents else {
            return try fail("a procedure has too many steps")
        }
        isOpen = progress.subevent == .partial
        guard !isOpen, progress.procedure != .partial else {
            procedure = current
            return nil
        }
        procedure = nil
        return current
    }

    @discardableResult
    private mutating func fail(_ reason: String) throws(SoundingError) -> SoundingProcedure? {
        self = ProcedureAssembler()
        throw .outOfOrder(reason)
    }
}
