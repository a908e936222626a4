import BluetoothTypes
import HCI

@testable import GAP

extension FuzzTarget {
    /// The data of steps, Ranging Data in segments, and commands to the Ranging Service.
    static let ranging = FuzzTarget("ranging", maximumLength: 2_048, seeds: rangingSeeds) { input in
        var rest = input
        let mode = rest.octet()
        let data = PacketBuffer(rest.rest())
        _ = try? LESoundingMeasurement(LESoundingStep(mode: mode, channel: 40, data: data))
        if let ranging = Codec.read(input, { try RangingData(reading: $0) }) {
            Codec.check(ranging) { try RangingData(reading: $0) }
        }
        var server = RangingServer()
        hold(server.handle(.written(input.whole)).count == 1, "a command has one answer")
        join(input)
    }

    /// Results of a controller in any order: each is added or is an error, and nothing grows without bound.
    static let soundingResults = FuzzTarget("sounding-results", maximumLength: 2_048, seeds: resultSeeds) { input in
        var input = input
        var assembler = ProcedureAssembler()
        while !input.isAtEnd {
            let isFirst = input.octet() & 1 == 0
            let bytes = PacketBuffer(input.counted())
            var whole: SoundingProcedure?
            if isFirst, let event = try? LECSSubeventResult.reading(bytes) {
                whole = (try? assembler.add(event)) ?? nil
            } else if let event = try? LECSSubeventResultContinue.reading(bytes) {
                whole = (try? assembler.add(event)) ?? nil
            }
            guard let whole else { continue }
            hold(whole.subevents.count <= ProcedureAssembler.maximumSubevents, "too many subevents")
            let distance = try? DistanceEstimator.distance(whole, RangingData(whole, txPower: 0))
            hold(distance.map { $0.isFinite && $0 >= 0 } ?? true, "an impossible distance")
        }
    }

    private static func join(_ input: FuzzInput) {
        var input = input
        var assembler = RangingSegments.Assembler()
        while !input.isAtEnd {
            let joined = try? assembler.add(PacketBuffer(input.counted()))
            hold((joined ?? nil).map { $0.count <= RangingSegments.maximumOctets } ?? true, "too much was joined")
        }
    }

    private static var procedure: SoundingProcedure {
        var (procedure, subevent) = (SoundingProcedure(), SoundingProcedure.Subevent())
        let tones = LESoundingMode2(permutation: 0, tones: [.init(i: 100, q: -7), .init(i: 3, q: 4)])
        let time = LESoundingMode1(rssi: -40, time: 12, antenna: 1)
        subevent.steps = [
            .init(mode: 0, channel: 2, data: LESoundingMode0(rssi: -40, antenna: 1, frequencyOffset: nil).encoded()),
            .init(mode: 1, channel: 3, data: time.encoded()), .init(mode: 2, channel: 4, data: tones.encoded()),
            .init(mode: 3, channel: 5, data: LESoundingMode3(time, tones).encoded()),
        ]
        procedure.subevents = [subevent]
        return procedure
    }

    private static var rangingSeeds: [[UInt8]] {
        let data = RangingData(procedure, txPower: 0).encoded().bytes
        let segments = RangingSegments.split(data, length: 20).flatMap { counted($0) }
        let commands = [RangingCommand.getData(counter: 7), .acknowledge(counter: 7)].map(\.encoded)
        return [data, segments] + commands + procedure.subevents.flatMap(\.steps).map { [$0.mode] + $0.data.bytes }
    }

    private static var resultSeeds: [[UInt8]] {
        let result = LECSSubeventResult { ($0.antennaPaths, $0.steps) = (1, procedure.subevents[0].steps) }
        let open = LECSSubeventResult {
            ($0.antennaPaths, $0.steps) = (1, procedure.subevents[0].steps)
            $0.progress = .init(procedure: .partial, subevent: .partial)
        }
        let more = LECSSubeventResultContinue { ($0.antennaPaths, $0.steps) = (1, procedure.subevents[0].steps) }
        return [
            step(0, result.encoded().bytes), step(0, open.encoded().bytes) + step(1, more.encoded().bytes),
            step(1, more.encoded().bytes),
        ]
    }
}
