import BluetoothTypes
import HCI

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Estimates the distance from the results of both devices.
///
/// The product of a tone's two results is free of the oscillators' phases: its phase falls by 4π f d / c with the
/// frequency. The slope is found as the distance at which all products add up best, which is the estimate of maximum
/// likelihood for one way; the sums of several antenna paths are added without their phases. Where several ways add up, the nearest distinct one counts. The mean of the round-trip times
/// is less precise and has no ambiguity: it limits the search, and stands alone if there are no tones.
package enum DistanceEstimator {
    /// A tone's product on a channel.
    typealias Product = (channel: UInt8, i: Double, q: Double)

    private static let speedOfLight = 299_792_458.0
    /// The minimum number of channels for a slope.
    static let minimumChannels = 15
    /// The largest distance that channels 1 MHz apart can tell, in metres.
    static let maximumDistance = 75.0
    /// The step of the coarse search, in metres, a quarter of the width of a peak; and of the fine one.
    private static let (coarse, fine) = (0.5, 0.02)
    /// The height of the nearest peak that counts, relative to the highest. A single way's side peaks have 0.25.
    private static let threshold = 0.6
    /// The standard deviation of one round-trip time, in metres, and the minimum tolerance of the search.
    private static let (timeDeviation, tolerance) = (1.5, 5.0)
    /// The standard deviation of the slope, in metres.
    private static let slopeDeviation = 0.05

    /// Returns the distance in metres.
    ///
    /// - Throws: ``SoundingError`` if the results do not belong together, a step is malformed, or too few are usable.
    package static func distance(_ own: SoundingProcedure, _ peer: RangingData) throws(SoundingError) -> Double {
        guard own.counter & RangingData.counterMask == peer.counter, own.config == peer.config else {
            throw .mismatch("the peer's data are of another procedure")
        }
        guard own.subevents.count == peer.subevents.count else {
            throw .mismatch("the peer's data have another number of subevents")
        }
        var times: [Double] = []
        var products = [[Product]](repeating: [], count: LESoundingMode2.maximumTones - 1)
        for (first, second) in zip(own.subevents, peer.subevents) {
            // Without results of one device the other one's are of no use.
            guard !first.steps.isEmpty, !second.steps.isEmpty else { continue }
            guard first.steps.map(\.mode) == second.steps.map(\.mode) else {
                throw .mismatch("the peer's steps have other modes")
            }
            for (one, other) in zip(first.steps, second.steps) {
                try add(one, other, to: &times, &products)
            }
        }
        return try distance(times: times, products)
    }

    private static func add(
        _ own: LESoundingStep,
        _ peer: LESoundingStep,
        to times: inout [Double],
        _ products: inout [[Product]]
    ) throws(SoundingError) {
        let (first, second): (LESoundingMeasurement, LESoundingMeasurement)
        do throws(PacketError) {
            (first, second) = (try .init(own), try .init(peer))
        } catch {
            throw .malformed(error)
        }
        if let sent = first.time, let answered = second.time, sent.time != LESoundingMode1.noTime,
            answered.time != LESoundingMode1.noTime
        {
            // In units of 0.5 ns, there and back.
            times.append((Double(sent.time) - Double(answered.time)) * 0.25e-9 * speedOfLight)
        }
        let (tones, others) = (first.tones?.byPath ?? [], second.tones?.byPath ?? [])
        for (path, (tone, other)) in zip(tones, others).enumerated() where tone.isUsable && other.isUsable {
            let i = Double(tone.i * other.i - tone.q * other.q)
            let q = Double(tone.i * other.q + tone.q * other.i)
            products[path].append((own.channel, i, q))
        }
    }

    /// Returns the distance for round-trip distances in metres and the products of tones, by antenna path.
    static func distance(times: [Double], _ products: [[Product]]) throws(SoundingError) -> Double {
        let mean = times.isEmpty ? nil : times.reduce(0, +) / Double(times.count)
        let deviation = timeDeviation / Double(max(times.count, 1)).squareRoot()
        guard products.contains(where: { $0.count >= minimumChannels }) else {
            guard let mean else { throw .noResult }
            return max(mean, 0)
        }
        let reach = max(tolerance, 4 * deviation)
        let range = mean.map { max($0 - reach, 0)...max($0 + reach, reach) } ?? 0...maximumDistance
        guard let slope = slope(products, in: range) else { throw .noResult }
        guard let mean, abs(mean - slope) < 3 * deviation else { return slope }
        // Weighted by the inverse of the variances.
        let (a, b) = (1 / (slopeDeviation * slopeDeviation), 1 / (deviation * deviation))
        return (slope * a + mean * b) / (a + b)
    }

    /// Returns the distance whose phases fit best; nil without tones.
    static func slope(_ products: [[Product]], in range: ClosedRange<Double> = 0...maximumDistance) -> Double? {
        let heights = Self.heights(products, from: range.lowerBound, step: coarse, to: range.upperBound)
        guard let highest = heights.max(), highest > 0 else { return nil }
        let peak = heights.indices.first { index in
            let before = index > 0 ? heights[index - 1] : 0
            let after = index + 1 < heights.count ? heights[index + 1] : 0
            return heights[index] >= threshold * highest && heights[index] >= before && heights[index] >= after
        }
        let near = range.lowerBound + Double(peak ?? 0) * coarse
        let start = max(near - coarse, 0)
        let around = Self.heights(products, from: start, step: fine, to: near + coarse)
        guard let best = around.indices.max(by: { around[$0] < around[$1] }) else { return nil }
        return start + Double(best) * fine
    }

    /// Returns how well the products of each path add up at each distance, for all paths together.
    private static func heights(_ paths: [[Product]], from start: Double, step: Double, to end: Double) -> [Double] {
        let all = paths.map { Self.heights(of: $0, from: start, step: step, to: end) }
        return all.dropFirst().reduce(all.first ?? []) { sums, more in zip(sums, more).map(+) }
    }

    /// Returns how well the products of one path add up at each distance. The phase of each product turns by a constant angle from
    /// one distance to the next.
    private static func heights(of products: [Product], from start: Double, step: Double, to end: Double) -> [Double] {
        let count = Int(((end - start) / step).rounded()) + 1
        guard count > 0 else { return [] }
        var sums = [(i: Double, q: Double)](repeating: (0, 0), count: count)
        for product in products {
            let angle = 4 * Double.pi * (2.402e9 + 1e6 * Double(product.channel)) / speedOfLight
            let (turnI, turnQ) = (cos(angle * step), sin(angle * step))
            let (startI, startQ) = (cos(angle * start), sin(angle * start))
            var (i, q) = (product.i * startI - product.q * startQ, product.i * startQ + product.q * startI)
            for index in 0..<count {
                sums[index].i += i
                sums[index].q += q
                (i, q) = (i * turnI - q * turnQ, i * turnQ + q * turnI)
            }
        }
        return sums.map { ($0.i * $0.i + $0.q * $0.q).squareRoot() }
    }
}
