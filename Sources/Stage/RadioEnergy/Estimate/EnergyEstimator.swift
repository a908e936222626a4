import BluetoothService
import BluetoothTypes
import EventLoops
import HCI
import ServiceEvents
import ServiceMessages

/// Estimates what the apps of a system cost the battery, while a real controller keeps to itself what its radio does.
///
/// It follows the packets between the host and its controllers, and attributes the estimated time like that of a
/// virtual controller. Used on the system's loop.
package final class EnergyEstimator: EnergySource {
    private let profile: RadioProfile
    private let loop: any EventLoop
    private var radio = EstimatedRadio()
    private var tracker: EnergyTracker
    private var line = 0
    /// The number of times that a radio began without links and settings.
    private var beginnings = 0

    /// Creates an estimator that starts now.
    ///
    /// - Parameters:
    ///   - profile: The currents of the controller's radio.
    ///   - loop: The loop of the system.
    package init(_ profile: RadioProfile, loop: any EventLoop) {
        (self.profile, self.loop) = (profile, loop)
        tracker = EnergyTracker(from: [:], of: 0, at: loop.now)
    }

    /// Returns a transport that forwards to one of a new controller, and follows its packets from now on.
    package func wrap(_ transport: any HCITransport) -> any HCITransport {
        beginAgain()
        line += 1
        let number = line
        return SnoopingTransport(transport, end: .host, loop: loop) { [weak self] packet, direction, _ in
            self?.accept(packet, direction, of: number)
        }
    }

    /// Follows the apps of a system.
    package func follow(_ system: BluetoothSystem) {
        system.observers.add(EnergyTracker.kinds.union(.state)) { [weak self] observation in
            guard let self else { return }
            settle(before: observation)
            tracker.accept(observation)
            // A controller that is gone says nothing any more.
            guard case .stateChanged(let state) = observation.content else { return }
            if [.unsupported, .resetting, .unknown].contains(state) { beginAgain() }
        }
    }

    private func beginAgain() {
        settle()
        radio = EstimatedRadio()
        beginnings += 1
    }

    private func accept(_ packet: HCIPacket, _ direction: HCIDirection, of number: Int) {
        guard number == line else { return }
        if let link = packet.endedLink {
            settle()
            radio.accept(packet, direction, at: loop.now)
            return tracker.retire(link)
        }
        radio.accept(packet, direction, at: loop.now)
    }

    private func settle(before observation: Observation? = nil) {
        let times = radio.times(at: loop.now)
        tracker.settle(times, of: beginnings, powers: radio.powers, before: observation)
    }

    /// The estimate so far.
    package var report: EnergyReport {
        settle()
        return tracker.report(profile, at: loop.now, isEstimate: true)
    }

    /// See ``ServiceEvents/EnergySource/status``.
    package var status: EnergyStatus { EnergyStatus(report) }
}

extension HCIPacket {
    fileprivate var endedLink: ConnectionHandle? {
        guard kind == .event, let event = try? EventPacket(reading: bytes),
            event.code == DisconnectionComplete.eventCode,
            let ended = try? DisconnectionComplete.reading(event.eventParameters), ended.status == .success
        else { return nil }
        return ended.handle
    }
}
