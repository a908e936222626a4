import Accessories
import AssignedNumbers
import BluetoothService
import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import GAP
import HCITransports
import SMP
import Security
import ServiceMessages

/// An accessory of a file, or a ready-made one, for `harald serve`.
struct ServedAccessory {
    private(set) var accessory: Accessory
    /// The file of the accessory; nil for a ready-made one.
    private let file: String?

    /// - Parameters:
    ///   - text: The path of a file, or the name of a ready-made accessory.
    ///   - name: The name to advertise; nil for that of the accessory.
    init(_ text: String, name: String?) throws(ToolError) {
        if let readyMade = ReadyMadeAccessory(rawValue: text) {
            (accessory, file) = (readyMade.accessory, nil)
        } else {
            guard FileManager.default.fileExists(atPath: text) else { throw .incomplete(Self.unknown(text)) }
            file = text
            do throws(AccessoryError) {
                accessory = try Accessory(contentsOf: URL(filePath: text))
            } catch {
                throw .incomplete("\(text.visible): \(error)")
            }
        }
        guard let name else { return }
        if accessory.advertising.name != nil { accessory.advertising.name = name }
        accessory.name = name
    }

    private static func unknown(_ text: String) -> String {
        let names = ReadyMadeAccessory.allCases.map(\.rawValue)
        let problem = "there is no file \(text.quotedText), nor a ready-made accessory"
        let similar = SimilarWords.mostSimilar(to: text, of: names)
        return similar.isEmpty
            ? "\(problem); these are ready-made: \(names.joined(separator: ", "))"
            : "\(problem); did you mean \(similar.joined(separator: " or "))?"
    }

    /// Says which services a connectable accessory advertises without having them. Centrals would look for them in
    /// vain.
    private var warning: String? {
        let own = Set(accessory.services.map(\.uuid) + (accessory.hasChannelSounding ? [RangingUUID.service] : []))
        let missing = accessory.advertising.services.filter { !own.contains($0) }
        guard accessory.advertising.isConnectable, !missing.isEmpty else { return nil }
        let names = missing.map { AssignedNumbers.title(of: $0) }.joined(separator: ", ")
        return "warning: \(accessory.name.quotedName) advertises services that it does not have: \(names)"
    }

    static func list(in report: ToolReport) {
        let longest = ReadyMadeAccessory.allCases.map(\.rawValue.count).max() ?? 0
        for each in ReadyMadeAccessory.allCases {
            let name = each.rawValue.padding(toLength: longest + 2, withPad: " ", startingAt: 0)
            let document = ReadyMadeDocument(name: each.rawValue, summary: each.accessory.summary)
            report.show(document, as: name + (document.summary ?? ""))
        }
    }

    static func listFaults(in report: ToolReport) {
        let longest = DeviceFault.Kind.allCases.map(\.form.count).max() ?? 0
        for kind in DeviceFault.Kind.allCases {
            let name = kind.form.padding(toLength: longest + 2, withPad: " ", startingAt: 0)
            let document = FaultDocument(form: kind.form, summary: kind.summary, needsWorld: kind.needsWorld)
            report.show(document, as: name + kind.summary + (kind.needsWorld ? " (in simulations)" : ""))
        }
    }

    /// Plays the accessory on a controller until the program is interrupted.
    func serve(
        _ line: ControllerOptions,
        _ trust: TrustOptions,
        faults: [ScheduledFault],
        _ report: ToolReport
    ) throws(ToolError) {
        let faults = accessory.faults + faults
        try ServedFaults.check(faults)
        if let warning { Console.problem("harald: \(warning)") }
        let outcome = Outcome()
        outcome.finishOnInterrupt()
        let capture = try line.captureFile(reading: [file].compactMap(\.self))
        if let name = accessory.advertising.name {
            ShortenedName.notice(name, with: accessory.advertising.services.map { CBUUID($0) }).map(report.say)
        }
        let loop = NIOEventLoop()
        let answers = loop.make { AnswerSwitch() }
        let system = line.startSystem(
            configuration(trust),
            answers: answers,
            loop: loop,
            capture: capture,
            outcome: outcome
        )
        let prompter = answered(trust).prepare(system, outcome, say: report.isJSON ? Console.problem : Console.line)
        let connection = system.with { $0.openApp(AppIdentity(name: "serve")) }
        let say = { @Sendable (text: String) in outcome.say(text, in: report) }
        let player = AccessoryPlayer(accessory, say: say) { outcome.finish(.failure(.incomplete($0))) }
        let queue = DispatchQueue(label: "accessory")
        let ranging = accessory.hasChannelSounding ? RangingService() : nil
        let timer: AccessoryPlayer.Timer = { delay, body in
            queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay.nanoseconds)), execute: body)
        }
        ServiceLocator.$current.withValue(connection) {
            player.start(on: queue, timer: timer)
            ranging?.start(on: queue, timer: timer, watching: system.watchReflections)
        }
        ServedFaults(system: system, answers: answers, player: player, queue: queue, say: say).schedule(faults)
        try outcome.wait(thenStopping: system)
        withExtendedLifetime((player, ranging, prompter)) {}
    }

    /// The configuration of the accessory. What the command line says about pairing has priority.
    private func configuration(_ trust: TrustOptions) -> SystemConfiguration {
        var configuration = SystemConfiguration()
        configuration.pairing = trust.configuration
        accessory.configure(&configuration)
        if trust.ioCapability != .keyboardDisplay { configuration.pairing.ioCapability = trust.ioCapability.capability }
        guard let store = trust.store else { return configuration }
        configuration.keep(in: store)
        // The address that bonded devices know.
        if accessory.security.hasFixedAddress { configuration.address = .identity }
        return configuration
    }

    /// The options, with the answer that an accessory without input and output gives by itself.
    private func answered(_ trust: TrustOptions) -> TrustOptions {
        var trust = trust
        if trust.answer == nil, accessory.security.inputOutput == .none { trust.answer = .yes }
        return trust
    }
}

extension LoopBound<BluetoothSystem> {
    /// Passes on what the controller measures as reflector of Channel Sounding.
    fileprivate func watchReflections(_ observer: @escaping RangingService.Reflections) {
        with { $0.links.onReflection = { observer($0.counter, Array($0.encoded())) } }
    }
}

/// A line that a served accessory says.
private struct SpokenLineDocument: ReportDocument {
    static let event = "said"

    let text: String
}

/// A ready-made accessory of the list.
private struct ReadyMadeDocument: ReportDocument {
    static let event = "accessory"

    let name: String
    let summary: String?
}

/// A fault that an accessory can have.
private struct FaultDocument: ReportDocument {
    static let event = "fault"

    /// Its name, and its number if it has one.
    let form: String
    let summary: String
    /// Whether only a simulation can have it.
    let needsWorld: Bool
}

extension Outcome {
    /// Prints what an accessory says, unless the command has ended.
    func say(_ text: String, in report: ToolReport) {
        if !isKnown { report.show(SpokenLineDocument(text: text), as: text) }
    }
}

/// The notice about a device name that does not fit into its advertisement.
enum ShortenedName {
    /// Returns what is advertised of a name beside these services.
    static func advertised(_ name: String, with services: [CBUUID]) -> String { shortened(name, services) ?? name }

    /// Returns nil for a name that fits.
    private static func shortened(_ name: String, _ services: [CBUUID]) -> String? {
        let content = AdvertisingContent(
            localName: name,
            services: services.compactMap { BluetoothUUID($0.uuidString) }
        )
        return AdvertisingPlanner.plan(for: [content]).shortenedName
    }

    /// Returns nil for a name that fits beside these services.
    static func notice(_ name: String, with services: [CBUUID]) -> String? {
        guard let shown = shortened(name, services) else { return nil }
        let whole = count(name.utf8.count, "octet")
        let fit = "\(shown.isEmpty ? "none" : "\(shown.utf8.count)") of its \(whole) fit into the advertisement"
        let fate = shown.isEmpty ? "not advertised" : "shortened to \(shown.quotedName)"
        return "the name is \(fate): \(fit)"
    }
}
