import Accessories
import BluetoothSimulation
import Foundation

/// A command of the person at the page.
enum WorldCommand: Hashable, Sendable {
    case run
    case pause
    /// Lets time pass until the next event of the story.
    case step
    /// Sets the seconds of the world that pass in a second.
    case setSpeed(Double)
    /// Starts the world again, with the same seed or another one.
    case restart(seed: UInt64?)
    /// Shows an instant that the world has been at, in milliseconds since its beginning.
    case goTo(Int64)
    /// Writes the test of what was done.
    case writeTest
    /// Loses all packets of the sensor until its link has ended.
    case dropLink
    /// Asks why something happened.
    case why(WorldCauses.Subject)
    case act(WorldAct)
}

/// An act that changes the world, and that a saved test repeats.
enum WorldAct: Hashable, Sendable {
    enum Device: String, Codable, Sendable {
        case phone
        case sensor
    }

    /// A change of the life of the phone's app.
    enum AppVerb: String, Codable, CaseIterable, Sendable {
        case open
        case leave
        case suspend
        case crash
        case removeFromMemory
        case forceQuit
        case startLiveActivity
        case endLiveActivity
    }

    case move(Device, Position)
    case begin(DeviceFault)
    case end(DeviceFault)
    case app(AppVerb)
    /// Sets the noise on all channels in dBm; nil for none.
    case setNoise(Double?)
    case addWall(Wall)
    case removeWall(Int)
}

/// A refusal, in words for the person.
struct WorldRefusal: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ text: String) {
        description = text
    }
}

/// A message of the page's script, which nothing is known about.
struct WorldMessage: Decodable {
    /// The largest coordinate, in metres.
    static let farthest = 1_000.0
    static let speeds = 0.1...100.0
    /// The noise, in dBm. The receivers' own is -106.
    static let noises = -110.0 ... -30.0
    static let attenuations = 0.0...100.0
    /// The times since the beginning of a world, in seconds.
    static let times = 0.0...1e7

    enum Kind: String, Decodable {
        case run, pause, step, speed, restart, goto, why, test, drop, move, begin, end, app, noise, wall, removeWall
    }

    let act: Kind
    let device: WorldAct.Device?
    let x: Double?
    let y: Double?
    let x2: Double?
    let y2: Double?
    let amount: Double?
    let text: String?
    /// For `why`: the number of the packet, or of the event.
    let packet: UInt64?
    let event: UInt64?

    /// The command, with all numbers within their bounds.
    var command: WorldCommand {
        get throws(WorldRefusal) {
            switch act {
            case .run: return .run
            case .pause: return .pause
            case .step: return .step
            case .test: return .writeTest
            case .drop: return .dropLink
            case .speed: return .setSpeed(try number(in: Self.speeds, "a speed"))
            case .restart: return .restart(seed: try seed)
            case .goto: return .goTo(Int64((try number(in: Self.times, "a time in seconds") * 1_000).rounded()))
            case .why:
                guard let subject = packet.map(WorldCauses.Subject.packet) ?? event.map(WorldCauses.Subject.event)
                else {
                    throw WorldRefusal("choose a packet or an event")
                }
                return .why(subject)
            case .move, .begin, .end, .app, .noise, .wall, .removeWall: return .act(try worldAct)
            }
        }
    }

    private var worldAct: WorldAct {
        get throws(WorldRefusal) {
            switch act {
            case .move:
                guard let device else { throw WorldRefusal("a move needs a device") }
                return .move(device, try Self.position(x, y))
            case .begin: return .begin(try fault)
            case .end: return .end(try fault)
            case .app:
                guard let verb = text.flatMap(WorldAct.AppVerb.init) else {
                    throw WorldRefusal("an app cannot do that")
                }
                return .app(verb)
            case .noise: return .setNoise(amount == nil ? nil : try number(in: Self.noises, "a noise in dBm"))
            case .wall:
                let loss = try number(in: Self.attenuations, "an attenuation in dB")
                return .addWall(Wall(from: try Self.position(x, y), to: try Self.position(x2, y2), attenuation: loss))
            default: return .removeWall(Int(try number(in: 0...1_000, "a wall")))
            }
        }
    }

    private var fault: DeviceFault {
        get throws(WorldRefusal) {
            do {
                return try DeviceFault(text ?? "")
            } catch {
                throw WorldRefusal("\(error)")
            }
        }
    }

    private var seed: UInt64? {
        get throws(WorldRefusal) {
            guard let text, !text.isEmpty else { return nil }
            guard let seed = UInt64(text) else { throw WorldRefusal("a seed is a whole number") }
            return seed
        }
    }

    private func number(in range: ClosedRange<Double>, _ what: String) throws(WorldRefusal) -> Double {
        guard let amount, range.contains(amount) else {
            throw WorldRefusal("\(what) is a number from \(range.lowerBound.written) to \(range.upperBound.written)")
        }
        return amount
    }

    /// Returns a position to a tenth of a metre, so that a saved test is readable.
    private static func position(_ x: Double?, _ y: Double?) throws(WorldRefusal) -> Position {
        guard let x, let y, abs(x) <= farthest, abs(y) <= farthest else {
            throw WorldRefusal(
                "a position is two numbers from \((-farthest).written) to \(farthest.written), in metres"
            )
        }
        return Position(x: tenths(x), y: tenths(y))
    }

    private static func tenths(_ number: Double) -> Double {
        let rounded = (number * 10).rounded() / 10
        // No text shows a negative zero.
        return rounded == 0 ? 0 : rounded
    }
}

extension Double {
    /// The number as Swift code, without a fraction if it has none.
    var written: String { Int64(exactly: self).map { "\($0)" } ?? "\(self)" }
}
