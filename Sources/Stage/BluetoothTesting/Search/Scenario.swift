/// The scenario of a search for faults: what may happen in a world beside time, and what has to hold then.
///
/// A function sets up a world and returns the scenario. A search calls it for each world, so it must not depend on
/// anything but the world.
///
/// ```swift
/// @Sendable func scenario(_ world: TestWorld) async -> Scenario {
///     let here = await Situation()
///     return Scenario()
///         .step("measure") { await here.measure(UInt8(60 + $0 % 100)) }
///         .eventually("the app is connected") { here.isConnected }
/// }
/// ```
public struct Scenario: Sendable {
    /// The longest number that a step of the scenario receives.
    static let maximumNumber = 1 << 16

    struct Step: Sendable {
        let name: String
        let weight: Int
        let action: @Sendable (Int) async throws -> Void
    }

    struct Check: Sendable {
        let name: String
        let complaint: @Sendable () async throws -> String?
    }

    struct Goal: Sendable {
        let name: String
        let condition: @Sendable () -> Bool
    }

    let faults: Set<SearchStep.Fault>
    let checksSystem: Bool
    let recovery: Duration
    private(set) var steps: [Step] = []
    private(set) var invariants: [Check] = []
    private(set) var goals: [Goal] = []
    private(set) var finalChecks: [Check] = []

    /// Creates a scenario without steps of its own.
    ///
    /// - Parameters:
    ///   - faults: The faults that occur at random. Devices restart, and processes end, only where all apps can come
    ///     back, because they were installed with `install`.
    ///   - checksSystem: Whether to check what holds in any world: no misuse of the API, an answer to each call, no
    ///     credits, subscriptions or links that are lost or left over.
    ///   - recovery: The time that apps have to recover once all faults have ended.
    public init(
        faults: Set<SearchStep.Fault> = .recoverable,
        checksSystem: Bool = true,
        recovery: Duration = .seconds(120)
    ) {
        (self.faults, self.checksSystem, self.recovery) = (faults, checksSystem, recovery)
    }

    /// Adds a step, which a search does at random among the faults.
    ///
    /// - Parameters:
    ///   - name: The name of the step, unique in the scenario.
    ///   - weight: How often the step occurs, relative to one of the faults.
    ///   - action: The step. It receives a random number of 16 bits, and may let time pass.
    public func step(
        _ name: String,
        weight: Int = 4,
        _ action: @escaping @Sendable (_ number: Int) async throws -> Void
    ) -> Scenario {
        adding { $0.steps.append(Step(name: name, weight: weight, action: action)) }
    }

    /// Adds a condition that has to hold after each step, and at the end.
    public func always(_ name: String, _ condition: @escaping @Sendable () -> Bool) -> Scenario {
        adding { $0.invariants.append(Check(name: name) { condition() ? nil : "it does not hold" }) }
    }

    /// Adds a check after each step, and at the end.
    ///
    /// - Parameters:
    ///   - name: The name of the check.
    ///   - complaint: Returns what is wrong, or nil.
    public func check(_ name: String, _ complaint: @escaping @Sendable () -> String?) -> Scenario {
        adding { $0.invariants.append(Check(name: name) { complaint() }) }
    }

    /// Adds a condition that has to become true once all faults have ended, all apps have been opened, and some time
    /// has passed.
    public func eventually(_ name: String, _ condition: @escaping @Sendable () -> Bool) -> Scenario {
        adding { $0.goals.append(Goal(name: name, condition: condition)) }
    }

    /// Adds a check for the end, when all faults have ended, and apps have recovered. It may let time pass.
    ///
    /// - Parameters:
    ///   - name: The name of the check.
    ///   - complaint: Returns what is wrong, or nil.
    public func finally(_ name: String, _ complaint: @escaping @Sendable () async throws -> String?) -> Scenario {
        adding { $0.finalChecks.append(Check(name: name, complaint: complaint)) }
    }

    private func adding(_ change: (inout Scenario) -> Void) -> Scenario {
        var copy = self
        change(&copy)
        return copy
    }
}
