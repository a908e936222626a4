import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages

// MARK: - Activity

extension WorldCentral {
    func setNotify(_ isEnabled: Bool, _ handle: AttributeHandle, of peer: UUID) {
        guard !ledger.changesNotification(of: handle, of: peer) else { return }
        ask(.setNotify(handle, isEnabled: isEnabled), .notify, at: handle, of: peer)
    }

    func connect(_ peer: UUID) {
        guard isOn, uses[peer] == nil else { return }
        uses[peer] = Use()
        send(.peer(peer, .connect(ConnectOptions())))
    }

    func look(at peer: UUID) {
        guard isOn, uses[peer]?.isConnected == true else { return }
        uses[peer]?.lastLook = now
        ask(.discoverServices(targets.map(\.service)), .services, of: peer)
    }

    /// Continues with the remaining steps (behaviour 10.13), at intervals.
    func goOn() {
        guard isOn else { return }
        for (peer, use) in connected where !use.isCancelling && !use.isComplete && ledger.isIdle(peer) {
            if use.lastLook.map({ now - $0 > .seconds(5) }) ?? true { look(at: peer) }
        }
        let found = Set(uses.values.flatMap(\.services.values))
        let missing = targets.filter { !found.contains($0) }
        let wanted = missing.isEmpty ? nil : ScanRequest(services: missing.map(\.service))
        guard wanted != scan else { return }
        scan = wanted
        send(wanted.map { .startScan($0) } ?? .stopScan)
    }

    /// Restarts its scan, and explores its peripherals once more.
    func lookAgain() {
        guard isOn else { return }
        if let scan {
            send(.stopScan)
            send(.startScan(scan))
        }
        for (peer, use) in connected where !use.isCancelling { look(at: peer) }
    }

    /// The connected peripherals, always in the same order.
    var connected: [(UUID, Use)] {
        uses.filter(\.value.isConnected).sorted { $0.key.uuidString < $1.key.uuidString }
    }

    /// Sends a random request.
    func ask(_ random: RandomSource) {
        guard isOn, let (peer, use) = connected.first(where: { !$0.1.isCancelling && !$0.1.services.isEmpty }) else {
            return
        }
        switch random.below(8) {
        case 0: ask(.readRSSI, .rssi, of: peer)
        case 1: cancel(peer)
        case 2, 3: toggle(use, of: peer)
        case 4, 5: exchange()
        default: for _ in 0..<3 { exchange() }
        }
    }

    /// Reads and writes every characteristic it has discovered.
    func exchange() {
        for (peer, use) in connected where !use.isCancelling {
            for (handle, found) in use.characteristics.sorted(by: { $0.key < $1.key }) {
                switch found.uuid {
                case found.target.reading: ask(.readCharacteristic(handle), .read, at: handle, of: peer)
                case found.target.note:
                    let value = PacketBuffer(found.target.signature + name.signature)
                    ask(.writeCharacteristic(handle, value: value), .write, at: handle, of: peer)
                default: break
                }
            }
        }
    }

    private func cancel(_ peer: UUID) {
        uses[peer]?.isCancelling = true
        _ = ledger.add(.cancel, of: peer, now: now)
        send(.peer(peer, .cancelConnection))
    }

    private func toggle(_ use: Use, of peer: UUID) {
        for (handle, found) in use.characteristics where found.uuid == found.target.measurement {
            let isMuted = muted.remove(found.target) == nil
            if isMuted { muted.insert(found.target) }
            setNotify(!isMuted, handle, of: peer)
        }
    }

    /// Resubscribes to all targets.
    func unmute() {
        muted = []
        for (peer, use) in connected where !use.isCancelling && !use.isComplete { look(at: peer) }
    }
}

// MARK: - Observable state

extension WorldCentral {
    /// The state to preserve.
    var kept: (manager: RestorationModel.Manager, isQuiet: Bool) {
        let peers = uses.mapValues { use in
            RestorationModel.Peer(
                isConnected: use.isConnected,
                found: Set(use.services.keys).union(use.characteristics.keys),
                notifying: use.notifying
            )
        }
        return (.central(scan: scan, peers: peers), ledger.entries.isEmpty)
    }

    /// Whether a subscription to this target is about to change.
    func isChanging(_ target: WorldName) -> Bool {
        uses.contains { peer, use in
            use.isCancelling
                || use.characteristics.contains {
                    $0.value.target == target && ledger.changesNotification(of: $0.key, of: peer)
                }
        }
    }

    /// Whether it is subscribed to all its targets, with nothing pending.
    var isSettled: Bool { isOn && memory.subscriptions == Set(targets) && ledger.entries.isEmpty && scan == nil }
}
