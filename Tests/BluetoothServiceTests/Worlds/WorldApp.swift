import EventLoops
import Foundation
import ServiceMessages

@testable import BluetoothService

/// An app of a ``RandomWorld``: its process, if it has one, and what that makes.
final class WorldApp {
    let shape: WorldShape.App
    private(set) var process: InProcessConnection?
    private(set) var central: WorldCentral?
    private(set) var peripheral: WorldPeripheral?
    let memory = CentralMemory()
    /// Since when it has run without a pause.
    private(set) var awakeSince = Instant.zero
    /// When its process came to a new service by itself; nil for one that has known no other.
    private var reopening: Instant?
    /// How often the radio had changed for the app when it last looked.
    private var seenChanges = 0
    private unowned let world: RandomWorld
    private unowned let device: WorldDevice

    init(_ shape: WorldShape.App, on device: WorldDevice, in world: RandomWorld) {
        self.shape = shape
        self.device = device
        self.world = world
    }

    private var number: Int { shape.name.app }
    private var declaration: AppDeclaration { shape.declaration }
    var phase: AppPhase? { process?.phase }
    var isRunning: Bool { phase == .foreground || phase == .background }

    // MARK: Its life

    /// A process begins, and makes its managers at once (behaviour 10.6).
    func launch(inBackground: Bool) {
        let process = open(inBackground: inBackground)
        if !shape.targets.isEmpty {
            let kept = shape.restoresCentral ? device.model.take(number, .central) : nil
            let new = WorldCentral(shape, memory, manager(.central, of: process), in: world)
            new.expected = kept
            central = new
        }
        if shape.isPeripheral {
            let kept = shape.restoresPeripheral ? device.model.take(number, .peripheral) : nil
            let new = WorldPeripheral(shape, manager(.peripheral, of: process), in: world)
            new.expected = kept
            peripheral = new
        }
        // What happened while there was no process is told like what happened in a sleep.
        central?.witness.hasSlept = true
        peripheral?.witness.hasSlept = true
        device.model.giveUp(number)
    }

    private func open(inBackground: Bool) -> InProcessConnection {
        let new = device.system.openApp(shape.identity, declaring: declaration, inBackground: inBackground)
        process = new
        reopening = nil
        awakeSince = world.now
        return new
    }

    private func manager(_ role: ManagerRole, of process: InProcessConnection, isReopened: Bool = false) -> TestManager
    {
        let restores = role == .central ? shape.restoresCentral : shape.restoresPeripheral
        return world.test.manager(
            role,
            of: process,
            restoring: restores ? WorldName.restoreIdentifier : nil,
            isReopened: isReopened
        )
    }

    /// The person opens it.
    func enter() {
        if process == nil { launch(inBackground: false) } else { process?.happened(.entered) }
    }

    func leave() { process?.happened(.left) }

    /// Its process ends, and what its managers had is kept by the rules.
    func end(_ end: AppEnd) {
        guard let process else {
            if end == .forceQuit {
                device.model.personEnds(number, declaration)
                device.system.personHasEnded(shape.identity)
            }
            return
        }
        var kept: [ManagerRole: RestorationModel.Kept] = [:]
        if let central, shape.restoresCentral { kept[.central] = keep(central.kept, central.manager, central.expected) }
        if let peripheral, shape.restoresPeripheral {
            kept[.peripheral] = keep(peripheral.kept, peripheral.manager, peripheral.expected)
            if peripheral.asksNow { kept[.peripheral]?.certainty = .none }
        }
        // What it had asked another service for may be there as well as what it has asked this one for.
        if let reopening, world.now - reopening <= PreservedApp.patience {
            for role in kept.keys { kept[role]?.certainty = .none }
        }
        device.model.processEnded(number, end, declaration, kept)
        if device.model.kept[number]?[.central]?.certainty != .all { memory.lostAll() }
        process.happened(.ended(end))
        letGo()
    }

    /// What was told and not looked at goes with the process.
    private func keep(
        _ view: (manager: RestorationModel.Manager, isQuiet: Bool),
        _ manager: TestManager,
        _ expected: RestorationModel.Kept?
    ) -> RestorationModel.Kept {
        var certainty = RestorationModel.Certainty.none
        if expected == nil, manager.events.isEmpty, seenChanges == device.changes(for: number) {
            certainty = isRunning && view.isQuiet ? .all : .wishes
        }
        return RestorationModel.Kept(manager: view.manager, certainty: certainty, isRecorded: declaration.isManaged)
    }

    private func letGo() { (process, central, peripheral) = (nil, nil, nil) }

    /// The service has ended without a word, and the process goes on with the next one.
    func reopen() {
        guard let process else { return }
        let inBackground = process.phase != .foreground
        let new = open(inBackground: inBackground)
        if let central { central.reopened(manager(.central, of: new, isReopened: central.hasBegun)) }
        reopening = world.now
        if let peripheral { peripheral.reopened(manager(.peripheral, of: new, isReopened: peripheral.hasBegun)) }
        memory.lostAll()
    }

    /// It is somewhere else in its life.
    func moved(to phase: AppPhase) {
        guard phase == .suspended else { return }
        central?.witness.hasSlept = true
        peripheral?.witness.hasSlept = true
        awakeSince = world.now
    }

    // MARK: What it does

    /// Reacts to what it was told, if it runs; whether there was anything.
    @discardableResult
    func look() -> Bool {
        guard isRunning else {
            awakeSince = world.now
            return false
        }
        seenChanges = device.changes(for: number)
        let (told, asked) = (central?.manager.take() ?? [], peripheral?.manager.take() ?? [])
        for event in told { central?.react(event) }
        for event in asked { peripheral?.react(event) }
        central?.witness.hasSlept = false
        peripheral?.witness.hasSlept = false
        central?.goOn()
        peripheral?.goOn(inFront: phase == .foreground)
        return !told.isEmpty || !asked.isEmpty
    }

    /// What did not end in time.
    func checkDeadlines() {
        guard isRunning else { return }
        let late =
            (central?.ledger.overdue(now: world.now, awake: awakeSince) ?? [])
            + (central == nil ? [] : memory.overdue(now: world.now, awake: awakeSince))
            + (peripheral?.overdue(awake: awakeSince) ?? [])
        for text in late { world.fault("\(shape.name): \(text)") }
    }

    /// Whether its managers were told what the radio is for it.
    func checkState(_ state: ManagerState) {
        guard isRunning else { return }
        for told in [central?.witness.last, peripheral?.witness.last] where told != nil && told != state {
            world.fault("\(shape.name) was told \(String(describing: told)) while the radio is \(state)")
        }
    }

    var isSettled: Bool { (central?.isSettled ?? true) && (peripheral?.isSettled ?? true) }
}

extension WorldApp {
    /// How it stands, in words.
    var story: String {
        let phase = phase.map { "\($0)" } ?? "no process"
        let one = central.map {
            "on \($0.isOn), hears \($0.memory.subscriptions) of \($0.targets), asks \($0.ledger.entries)"
        }
        let other = peripheral.map {
            "on \($0.isOn), published \(String(describing: $0.isPublished)), advertises \(String(describing: $0.isAdvertising)), room \($0.room)"
        }
        return [phase, one, other].compactMap { $0 }.joined(separator: "; ")
    }
}
