import EventLoops
import Foundation
import ServiceMessages

@testable import BluetoothService

/// An app of a ``RandomWorld``: its process, if any, and the managers in it.
final class WorldApp {
    let shape: WorldShape.App
    private(set) var process: InProcessConnection?
    private(set) var central: WorldCentral?
    private(set) var peripheral: WorldPeripheral?
    let memory = CentralMemory()
    /// When it last started to run without interruption.
    private(set) var awakeSince = Instant.zero
    /// When its process reconnected to a restarted service. Nil for a process that has used one service only.
    private var reopening: Instant?
    /// The number of radio changes for the app when it last read its events.
    private var seenChanges = 0
    private unowned let world: RandomWorld
    private unowned let device: WorldDevice

    init(_ shape: WorldShape.App, on device: WorldDevice, in world: RandomWorld) {
        self.shape = shape
        self.device = device
        self.world = world
    }

    private var number: Int { shape.name.app }
    /// Whether its subscriptions may end in silence, because the version does not report each Service Changed (behaviour 4.15).
    var missesServiceChanges: Bool { device.shape.version.has(.missedServiceChange) }
    private var declaration: AppDeclaration { shape.declaration }
    var phase: AppPhase? { process?.phase }
    var isRunning: Bool { phase == .foreground || phase == .background }

    // MARK: Lifecycle

    /// Starts a process that creates its managers at once (behaviour 10.6).
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
        // Events while there was no process are delivered like those of a suspended app.
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

    /// The user opens the app.
    func enter() {
        if process == nil { launch(inBackground: false) } else { process?.happened(.entered) }
    }

    func leave() { process?.happened(.left) }

    /// Ends the process. The rules decide what is preserved of its managers.
    func end(_ end: AppEnd) {
        guard let process else {
            if end == .forceQuit {
                device.model.personEnds(number, declaration)
                device.system.apps.preservation.userForceQuit(shape.identity)
            }
            return
        }
        var kept: [ManagerRole: RestorationModel.Kept] = [:]
        if let central, shape.restoresCentral { kept[.central] = keep(central.kept, central.manager, central.expected) }
        if let peripheral, shape.restoresPeripheral {
            kept[.peripheral] = keep(peripheral.kept, peripheral.manager, peripheral.expected)
            if peripheral.asksNow { kept[.peripheral]?.certainty = .none }
        }
        // Requests to the previous service may be in effect as well as those to this one.
        if let reopening, world.now - reopening <= PreservedApp.reclaimTimeout {
            for role in kept.keys { kept[role]?.certainty = .none }
        }
        device.model.processEnded(number, end, declaration, kept)
        if device.model.kept[number]?[.central]?.certainty != .all { memory.lostAll() }
        process.happened(.ended(end))
        letGo()
    }

    /// Undelivered events are lost with the process.
    private func keep(
        _ view: (manager: RestorationModel.Manager, isQuiet: Bool),
        _ manager: TestManager,
        _ expected: RestorationModel.Kept?
    ) -> RestorationModel.Kept {
        var certainty = RestorationModel.Certainty.none
        if expected == nil, manager.events.isEmpty, seenChanges == device.changes(for: number) {
            certainty = isRunning && view.isQuiet ? .all : .requests
        }
        return RestorationModel.Kept(manager: view.manager, certainty: certainty, isRecorded: declaration.isManaged)
    }

    private func letGo() { (process, central, peripheral) = (nil, nil, nil) }

    /// The service ends without warning, and the process continues with the next one.
    func reopen() {
        guard let process else { return }
        let inBackground = process.phase != .foreground
        let new = open(inBackground: inBackground)
        if let central { central.reopened(manager(.central, of: new, isReopened: central.hasBegun)) }
        reopening = world.now
        if let peripheral { peripheral.reopened(manager(.peripheral, of: new, isReopened: peripheral.hasBegun)) }
        memory.lostAll()
    }

    /// Notes a change of phase.
    func moved(to phase: AppPhase) {
        guard phase == .suspended else { return }
        central?.witness.hasSlept = true
        peripheral?.witness.hasSlept = true
        awakeSince = world.now
    }

    // MARK: Activity

    /// Reacts to pending events if the app is running, and returns whether there were any.
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

    /// Reports what did not end in time.
    func checkDeadlines() {
        guard isRunning else { return }
        let late =
            (central?.ledger.overdue(now: world.now, awake: awakeSince) ?? [])
            + (central == nil ? [] : memory.overdue(now: world.now, awake: awakeSince))
            + (peripheral?.overdue(awake: awakeSince) ?? [])
        for text in late { world.fault("\(shape.name): \(text)") }
    }

    /// Checks that the last state its managers received is the state of its radio.
    func checkState(_ state: ManagerState) {
        guard isRunning else { return }
        for told in [central?.witness.last, peripheral?.witness.last] where told != nil && told != state {
            world.fault("\(shape.name) was told \(String(describing: told)) while the radio is \(state)")
        }
    }

    var isSettled: Bool { (central?.isSettled ?? true) && (peripheral?.isSettled ?? true) }
}

extension WorldApp {
    /// A description of its state.
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
