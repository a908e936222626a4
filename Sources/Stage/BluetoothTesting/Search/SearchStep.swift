import Accessories
import Foundation

/// A step of a search for faults: time that passes, a fault of a device or an app, or a step of the scenario.
///
/// Steps are values, so that the list that makes a scenario fail can be shortened, stored and pasted into a test.
public struct SearchStep: Hashable, Codable, Sendable {
    /// The faults, and their ends.
    public enum Fault: String, CaseIterable, Codable, Sendable {
        /// Leaves the range of all other devices.
        case leaveRange
        /// Returns to where it was.
        case returnToRange
        /// Loses a share of the packets, in percent; 0 for none.
        case losePackets
        /// The user switches Bluetooth off in the settings.
        case switchOff
        /// The user switches Bluetooth off in the control centre.
        case disconnectAll
        /// The user switches Bluetooth on.
        case switchOn
        /// The user switches airplane mode on.
        case enterAirplaneMode
        /// The user switches airplane mode off.
        case leaveAirplaneMode
        /// The controller is unplugged.
        case unplug
        /// The controller is plugged in again.
        case plugIn
        /// The device restarts, without a passcode.
        case restart
        /// The device restarts and asks for the passcode.
        case restartLocked
        /// The user types the passcode.
        case unlock
        /// The device answers requests for its attributes after a delay, in milliseconds.
        case answerLate
        /// The device does not answer requests for its attributes.
        case answerNever
        /// The device answers with an ATT error code.
        case answerError
        /// The device answers with opcodes that no answer has.
        case answerMalformed
        /// The device answers without the last octet.
        case answerCutShort
        /// The device answers correctly.
        case answerCorrectly
        /// The device forgets its bonds. Its peers do not.
        case forgetPeers
        /// The user opens the app.
        case open
        /// The user leaves the app.
        case leave
        /// The app is suspended at once.
        case suspend
        /// The app's process ends by a fault.
        case crash
        /// The system ends the app's process for want of memory.
        case removeFromMemory
        /// The user ends the app.
        case forceQuit
        /// The private address of the device changes.
        case changeAddress
        /// The device's answers claim to be longer than they are.
        case answerTooLong
        /// The device refuses the exchange of the MTU.
        case refuseMTU
    }

    enum Content: Hashable, Codable, Sendable {
        case wait(milliseconds: Int)
        case fault(Fault, device: String, app: String?, number: Int)
        case own(String, number: Int)
    }

    let content: Content

    /// A step in which nothing happens for a while.
    public static func wait(milliseconds: Int) -> SearchStep {
        SearchStep(content: .wait(milliseconds: milliseconds))
    }

    /// A fault, or its end. It has no effect if the device or app is not in the state for it.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - device: The name of the device.
    ///   - app: The name of the app, for the faults of apps.
    ///   - number: The size of the fault, if it has one.
    public static func fault(_ fault: Fault, _ device: String, app: String? = nil, _ number: Int = 0) -> SearchStep {
        SearchStep(content: .fault(fault, device: device, app: app, number: number))
    }

    /// A step of the scenario, with the number that its closure receives.
    public static func step(_ name: String, _ number: Int = 0) -> SearchStep {
        SearchStep(content: .own(name, number: number))
    }

    var code: String {
        switch content {
        case .wait(let milliseconds): return ".wait(milliseconds: \(milliseconds))"
        case .fault(let fault, let device, let app, let number):
            let app = app.map { ", app: \($0.debugDescription)" } ?? ""
            return ".fault(.\(fault.rawValue), \(device.debugDescription)\(app)\(number == 0 ? "" : ", \(number)"))"
        case .own(let name, let number):
            return ".step(\(name.debugDescription)\(number == 0 ? "" : ", \(number)"))"
        }
    }
}

extension Set<SearchStep.Fault> {
    /// Faults of the radio channel: range and lost packets.
    public static let radio: Set = [.leaveRange, .returnToRange, .losePackets]
    /// Faults of power: switches, airplane mode, controllers and restarts.
    public static let power: Set = [
        .switchOff, .disconnectAll, .switchOn, .enterAirplaneMode, .leaveAirplaneMode, .unplug, .plugIn, .restart,
        .restartLocked, .unlock,
    ]
    /// Faults in the answers of devices.
    public static let answers: Set = [
        .answerLate, .answerNever, .answerError, .answerMalformed, .answerCutShort, .answerCorrectly,
    ]
    /// Faults in the lives of apps.
    public static let lives: Set = [.open, .leave, .suspend, .crash, .removeFromMemory, .forceQuit]
    /// Faults that are in no other set, so that the other sets draw the same steps for a seed as before.
    public static let rare: Set = [.changeAddress, .answerTooLong, .refuseMTU]
    /// All faults after which devices recover without the help of their users: all but `forgetPeers` and those
    /// of ``rare``.
    public static let recoverable = radio.union(power).union(answers).union(lives)
}

extension SearchStep.Fault {
    /// The fault in the list that accessory files and command lines use, and whether it begins or ends. Nil for steps
    /// that are not in that list.
    ///
    /// - Parameter number: The size of the fault.
    func deviceFault(_ number: Int) -> (fault: DeviceFault, begins: Bool)? {
        switch self {
        case .leaveRange: (DeviceFault(.outOfRange), true)
        case .returnToRange: (DeviceFault(.outOfRange), false)
        case .losePackets: (DeviceFault(.lossy, Double(number) / 100), number > 0)
        case .enterAirplaneMode: (DeviceFault(.airplaneMode), true)
        case .leaveAirplaneMode: (DeviceFault(.airplaneMode), false)
        case .restartLocked: (DeviceFault(.locked), true)
        case .answerLate: (DeviceFault(.slowAnswers, Double(number) / 1_000), true)
        case .answerNever: (DeviceFault(.noAnswers), true)
        case .answerError: (DeviceFault(.attError, Double(UInt8(clamping: number))), true)
        case .answerMalformed: (DeviceFault(.malformedAnswers), true)
        case .answerCutShort: (DeviceFault(.shortAnswers), true)
        case .answerTooLong: (DeviceFault(.longAnswers), true)
        case .refuseMTU: (DeviceFault(.mtuRefused), true)
        case .answerCorrectly: (DeviceFault(.noAnswers), false)
        case .forgetPeers: (DeviceFault(.bondLost), true)
        case .changeAddress: (DeviceFault(.newAddress), true)
        case .suspend: (DeviceFault(.appSuspended), true)
        case .crash: (DeviceFault(.appKilled), true)
        // A reboot in that list also opens an app.
        case .restart, .unlock, .switchOff, .disconnectAll, .switchOn, .unplug, .plugIn, .open, .leave,
            .removeFromMemory, .forceQuit:
            nil
        }
    }

    var isOfApp: Bool { Set<Self>.lives.contains(self) }

    /// Whether processes of apps on the device end, so that only installed apps come back.
    var endsProcesses: Bool { self == .restart || self == .restartLocked }
}

/// Shortens a list that fails (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
public enum StepReduction {
    /// Removes elements that the failure does not depend on: first halves, then ever smaller parts, until no single
    /// element can be removed.
    ///
    /// - Parameters:
    ///   - list: A list that fails.
    ///   - width: The number of candidates to try at once.
    ///   - firstFailing: Returns the index of the first of several lists that fails; nil if none does.
    public static func reduced<Element>(
        _ list: [Element],
        width: Int = 1,
        _ firstFailing: ([[Element]]) async throws -> Int?
    ) async rethrows -> [Element] {
        var list = list
        var size = max(list.count / 2, 1)
        while !list.isEmpty {
            var (isShorter, start) = (false, 0)
            while start < list.count {
                let starts = Array(stride(from: start, to: list.count, by: size).prefix(width))
                let candidates = starts.map { Array(list[..<$0] + list[min($0 + size, list.count)...]) }
                if let index = try await firstFailing(candidates) {
                    // What was before the removed part is still there.
                    (list, isShorter, start) = (candidates[index], true, start + index * size)
                } else {
                    start += size * starts.count
                }
            }
            if size == 1, !isShorter { break }
            size = max(size / 2, 1)
        }
        return list
    }
}
