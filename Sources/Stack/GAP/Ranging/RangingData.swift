import BluetoothTypes
import HCI

/// The Ranging Data of a reflector: its results of one procedure, as the Ranging Service transfers them (RAS 1.0 3.2.1).
package struct RangingData: PacketFields, Hashable, Sendable {
    /// The mask of ``counter``, which has 12 bits.
    package static let counterMask: UInt16 = 0xFFF
    /// The bit of a step that was aborted and has no data.
    private static let aborted: UInt8 = 0x80

    /// The low 12 bits of the procedure's counter.
    package var counter: UInt16 = 0
    package var config: UInt8 = 0
    /// The transmit power in dBm.
    package var txPower: Int8 = 0
    /// The antenna paths, one bit each.
    package var paths: UInt8 = 1
    package var subevents: [SoundingProcedure.Subevent] = []

    package init() {}

    /// Creates the data of a procedure. The channels of the steps are left out: the initiator knows them.
    package init(_ procedure: SoundingProcedure, txPower: Int8) {
        counter = procedure.counter & Self.counterMask
        (config, self.txPower) = (procedure.config, txPower)
        paths = UInt8(truncatingIfNeeded: 1 << UInt16(min(procedure.antennaPaths, 4)) - 1)
        subevents = procedure.subevents.map { subevent in
            var copy = subevent
            copy.steps = subevent.steps.map { LESoundingStep(mode: $0.mode, channel: 0, data: $0.data) }
            return copy
        }
    }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var head = counter & Self.counterMask | UInt16(config) << 12
        try coder.field("Ranging_Counter, Configuration_ID", &head)
        (counter, config) = (head & Self.counterMask, UInt8(head >> 12))
        try coder.field("Selected_TX_Power", &txPower)
        try coder.field("Antenna_Paths_Mask", &paths)
        var index = 0
        while coder.isReading ? coder.remaining > 0 : index < subevents.count {
            if coder.isReading {
                guard index < ProcedureAssembler.maximumSubevents else {
                    throw PacketError(.length(coder.remaining), at: "Subevent")
                }
                subevents.append(.init())
            }
            try subevents[index].code(&coder, tones: (paths & 0xF).nonzeroBitCount + 1)
            index += 1
        }
    }

    /// Returns the length of a reflector's data for a step.
    fileprivate static func octets(of mode: UInt8, tones: Int) -> Int? {
        switch mode {
        case 0: 3
        case 1: 6
        case 2: 1 + 4 * tones
        case 3: 7 + 4 * tones
        default: nil
        }
    }

    fileprivate static func code<C: FieldCoder>(
        _ step: inout LESoundingStep,
        _ coder: inout C,
        tones: Int
    ) throws(PacketError) {
        var head = step.mode | (step.data.isEmpty ? Self.aborted : 0)
        try coder.field("Step_Mode", &head)
        step.mode = head & ~Self.aborted
        guard let octets = Self.octets(of: step.mode, tones: tones) else {
            throw PacketError(.value(UInt64(step.mode)), at: "Step_Mode")
        }
        if head & Self.aborted == 0 { try coder.bytes("Step_Data", &step.data, count: octets) }
    }
}

extension SoundingProcedure.Subevent {
    fileprivate mutating func code<C: FieldCoder>(_ coder: inout C, tones: Int) throws(PacketError) {
        try coder.field("Start_ACL_Conn_Event", &startEvent)
        try coder.field("Frequency_Compensation", &frequencyCompensation)
        var done = progress.procedure.rawValue & 0xF | progress.subevent.rawValue << 4
        try coder.field("Ranging_Done_Status, Subevent_Done_Status", &done)
        progress.procedure = .init(rawValue: done & 0xF)
        progress.subevent = .init(rawValue: done >> 4)
        try coder.field("Ranging_Abort_Reason, Subevent_Abort_Reason", &progress.abortReason)
        try coder.field("Reference_Power_Level", &referencePower)
        var count = UInt8(truncatingIfNeeded: steps.count)
        try coder.field("Number_Of_Steps_Reported", &count)
        if coder.isReading { steps = [] }
        for index in 0..<Int(count) {
            if coder.isReading { steps.append(.init()) }
            try RangingData.code(&steps[index], &coder, tones: tones)
        }
    }
}

/// The segments in which a server sends Ranging Data (RAS 1.0 3.2.2).
package enum RangingSegments {
    /// The maximum length of Ranging Data, in octets: more than 512 steps have.
    package static let maximumOctets = 16_384
    private static let (first, last): (UInt8, UInt8) = (1, 2)

    /// Splits data into values of notifications.
    ///
    /// - Parameter length: The maximum length of a value, in octets.
    package static func split(_ data: [UInt8], length: Int) -> [[UInt8]] {
        let room = max(length - 1, 1)
        let starts = Array(stride(from: 0, to: max(data.count, 1), by: room))
        return starts.enumerated().map { index, start in
            var header = UInt8(truncatingIfNeeded: index & 0x3F) << 2
            if index == 0 { header |= first }
            if index == starts.count - 1 { header |= last }
            return [header] + data[start..<min(start + room, data.count)]
        }
    }

    /// Joins segments.
    package struct Assembler {
        private var octets: [UInt8] = []
        private var next: UInt8?

        package init() {}

        /// Adds the value of a notification.
        ///
        /// - Returns: The data, if that was the last segment.
        /// - Throws: ``SoundingError/lostSegment`` if a segment is missing or the data are too long; the next first
        ///   segment starts afresh.
        package mutating func add(_ value: PacketBuffer) throws(SoundingError) -> [UInt8]? {
            guard let header = value.first else { throw reset() }
            let counter = header >> 2
            if header & RangingSegments.first != 0 {
                (octets, next) = ([], counter)
            }
            guard counter == next else { throw reset() }
            octets += value.suffix(after: 1)
            guard octets.count <= RangingSegments.maximumOctets else { throw reset() }
            next = (counter + 1) & 0x3F
            guard header & RangingSegments.last != 0 else { return nil }
            defer { _ = reset() }
            return octets
        }

        private mutating func reset() -> SoundingError {
            self = Assembler()
            return .lostSegment
        }
    }
}

/// The numbers of the Ranging Service (Assigned Numbers 3.8).
package enum RangingUUID {
    package static let service = BluetoothUUID(0x185B)
    package static let features = BluetoothUUID(0x2C14)
    package static let realTimeData = BluetoothUUID(0x2C15)
    package static let onDemandData = BluetoothUUID(0x2C16)
    package static let controlPoint = BluetoothUUID(0x2C17)
    package static let dataReady = BluetoothUUID(0x2C18)
    package static let dataOverwritten = BluetoothUUID(0x2C19)
}

/// A command to the RAS Control Point (RAS 1.0 3.3).
package enum RangingCommand: Hashable, Sendable {
    case getData(counter: UInt16)
    case acknowledge(counter: UInt16)

    /// Parses the value that a client has written; nil for an operation that is not supported.
    ///
    /// - Throws: ``PacketError`` if the parameters are malformed.
    package init?(reading value: PacketBuffer) throws(PacketError) {
        guard let code = value.first else { throw PacketError(.truncated(needed: 1, available: 0), at: "Op_Code") }
        guard code <= 1 else { return nil }
        guard value.count == 3 else { throw PacketError(.length(value.count), at: "Ranging_Counter") }
        let counter = UInt16(value[1]) | UInt16(value[2]) << 8
        self = code == 0 ? .getData(counter: counter) : .acknowledge(counter: counter)
    }

    package var encoded: [UInt8] {
        switch self {
        case .getData(let counter): [0, UInt8(counter & 0xFF), UInt8(counter >> 8)]
        case .acknowledge(let counter): [1, UInt8(counter & 0xFF), UInt8(counter >> 8)]
        }
    }
}

/// A response of the RAS Control Point (RAS 1.0 3.3).
package enum RangingResponse: Hashable, Sendable {
    case complete(counter: UInt16)
    case code(Code)

    package enum Code: UInt8, Sendable {
        case success = 1
        case notSupported = 2
        case invalidParameter = 3
        case noRecords = 8
    }

    package var encoded: [UInt8] {
        switch self {
        case .complete(let counter): [0, UInt8(counter & 0xFF), UInt8(counter >> 8)]
        case .code(let code): [2, code.rawValue]
        }
    }
}
