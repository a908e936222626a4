import Accessories
import AppAdvice
import BluetoothService
import BluetoothSimulation
import CaptureStory
import DequeModule
import Foundation
import ServiceMessages

/// A step of a chain of causes.
struct CauseStep: Hashable, Sendable {
    enum Kind: String, Encodable, Sendable {
        /// A packet of the controller, and a frame on the air.
        case packet
        case air
        /// An event that the app received, or of the system.
        case event
        /// A call of the app.
        case call
        /// Something that the person did to the world.
        case act
        /// The usual cause of what the app has left undone.
        case hint
    }

    let kind: Kind
    /// The number of the packet or of the event; 0 for others.
    var number: UInt64 = 0
    /// The time in the world.
    let time: Duration
    /// The step in words; nil for packets, which the page knows.
    var text: String?
    /// A clause that tells what led from the next step to this one.
    var reason: String?
    var section: String?
    /// The place of a call in the app.
    var site: CallSite?
}

/// Finds the way from an event or a packet back to what began it.
///
/// A packet that the host sent for a call leads to the call. A call leads to the callback that it was made in, and that
/// to the packet which brought it. Where something is unusual, and something was done to the world before that has such
/// consequences, the way ends there.
struct CauseWalk {
    let packets: Deque<CausedPacket>
    let events: Deque<CausedEvent>
    let deeds: [LiveWorld.Deed]
    let hints: [WorldHint]
    /// The present.
    let now: Duration
    private var steps: [CauseStep] = []
    /// The request that the last event on the way answers, for packets that were sent later than the call.
    private var request: UInt64?
    private var isEnded = false

    init(
        packets: Deque<CausedPacket>,
        events: Deque<CausedEvent>,
        deeds: [LiveWorld.Deed],
        hints: [WorldHint],
        at now: Duration
    ) {
        (self.packets, self.events, self.deeds, self.hints, self.now) = (packets, events, deeds, hints, now)
    }

    mutating func steps(from subject: WorldCauses.Subject) -> [CauseStep] {
        var next: WorldCauses.Subject? = subject
        while let place = next, steps.count < WorldCauses.maximumSteps, !isEnded {
            switch place {
            case .event(let number): next = event(number).flatMap { walk($0) }
            case .packet(let number): next = packet(number).flatMap { walk($0) }
            }
        }
        if case .event(let number) = subject { addHint(number) }
        return steps
    }

    // MARK: Events

    private func event(_ number: UInt64) -> CausedEvent? {
        let index = place(of: number, in: events, \.number)
        return index < events.count && events[index].number == number ? events[index] : nil
    }

    private mutating func walk(_ event: CausedEvent) -> WorldCauses.Subject? {
        let (reason, next) = origin(of: event)
        let kind = event.site == nil && !event.isRequest ? CauseStep.Kind.event : .call
        var step = CauseStep(kind: kind, number: event.number, time: event.time, text: event.text, reason: reason)
        step.site = event.site
        steps.append(step)
        if event.isRequest { request = nil } else if let own = event.request { request = own }
        if isUnanswered(event) { end(with: .late, at: now) } else { end(with: event.symptom, at: event.time) }
        return next
    }

    /// Returns what an event follows from, and how.
    private func origin(of event: CausedEvent) -> (reason: String?, next: WorldCauses.Subject?) {
        if !event.isRequest, packet(event.packet) != nil {
            return ("the system made it of this packet", .packet(event.packet))
        }
        if let use = event.use, self.event(use) != nil {
            let end = events.last { $0.endsProcess && $0.app == event.app && $0.time == event.time }
            if let end { return ("the process of the app ended", .event(end.number)) }
            return ("the app kept no reference to what it used here", .event(use))
        }
        if !event.isRequest, let cause = event.cause ?? event.request, self.event(cause) != nil {
            return ("it follows from this", .event(cause))
        }
        guard event.isRequest || event.site != nil else { return ("nothing that the world knows caused it", nil) }
        guard let callback = callback(of: event) else { return ("the app called it by itself", nil) }
        return ("the app called it when it received this", .event(callback.number))
    }

    /// Whether a request waits for its answer for too long.
    private func isUnanswered(_ event: CausedEvent) -> Bool {
        event.wantsAnswer && now - event.time > CausedEvent.lateAfter && !events.contains { $0.request == event.number }
    }

    /// The callback in which an app has made a call. The time stands still while it runs.
    private func callback(of call: CausedEvent) -> CausedEvent? {
        let index = place(of: call.number, in: events, \.number)
        for event in events.prefix(index).reversed() {
            guard event.time == call.time else { return nil }
            if event.isDelivered, event.app == call.app { return event }
        }
        return nil
    }

    // MARK: Packets

    private func packet(_ number: UInt64) -> CausedPacket? {
        let index = place(of: number, in: packets, \.cause.packet)
        return index < packets.count && packets[index].cause.packet == number ? packets[index] : nil
    }

    private mutating func walk(_ packet: CausedPacket) -> WorldCauses.Subject? {
        let (cause, time) = (packet.cause, Duration.microseconds(packet.cause.time))
        var step = CauseStep(kind: packet.isAir ? .air : .packet, number: cause.packet, time: time)
        let call = packet.isSent ? call(of: packet) : nil
        if let call {
            step.reason = "it was sent for this call" + (call == packet.event ? "" : ", when its turn had come")
        } else {
            (step.reason, step.section) = (cause.rule.text, cause.rule.section)
        }
        steps.append(step)
        end(with: packet.symptom, at: time)
        return call.map { .event($0) } ?? cause.cause.map { .packet($0.packet) }
    }

    private func call(of packet: CausedPacket) -> UInt64? {
        if packet.event > 0, event(packet.event) != nil { return packet.event }
        switch packet.cause.rule {
        case .isOnLink, .hostDecides, .wantsReported, .continues:
            guard let request = callOfAnswer(to: packet) ?? request, let call = event(request),
                call.time <= .microseconds(packet.cause.time)
            else { return nil }
            return request
        default: return nil
        }
    }

    /// Returns the call that the answer to a request on a link was made an event for.
    private func callOfAnswer(to packet: CausedPacket) -> UInt64? {
        let later = packets[place(of: packet.cause.packet, in: packets, \.cause.packet)...]
        guard let answer = later.first(where: { !$0.isAir && $0.cause.request == packet.cause.packet }) else {
            return nil
        }
        return events.first { $0.packet == answer.cause.packet && $0.request != nil }?.request
    }

    // MARK: Ends

    /// Ends the way with an act that has such consequences, the last one before.
    private mutating func end(with symptom: CauseSymptom?, at time: Duration) {
        guard let symptom, !isEnded, let deed = deed(with: symptom, before: time) else { return }
        steps[steps.count - 1].reason = "this can be the reason, and is the last one before it"
        steps.append(
            CauseStep(kind: .act, time: .milliseconds(deed.milliseconds), text: deed.act.words)
        )
        isEnded = true
    }

    /// Returns the last act before a time with these consequences that has not ended since.
    private func deed(with symptom: CauseSymptom, before time: Duration) -> LiveWorld.Deed? {
        let earlier = deeds.filter { .milliseconds($0.milliseconds) <= time }
        return earlier.enumerated().last { index, deed in
            guard symptom.follows(from: deed.act) else { return false }
            guard case .begin(let fault) = deed.act, fault.kind.lasts else { return true }
            return !earlier[index...].contains { $0.act == .end(fault) && .milliseconds($0.milliseconds) < time }
        }?.element
    }

    /// Adds what the app has left undone, if nothing has happened to it since.
    private mutating func addHint(_ number: UInt64) {
        guard let hint = hints.first, let app = event(number)?.app,
            !events.contains(where: { $0.number > number && $0.app == app && $0.isMessage })
        else { return }
        var step = CauseStep(kind: .hint, time: steps.first?.time ?? .zero, text: hint.text)
        step.site = hint.site
        steps.append(step)
    }

    private func place<Item>(of number: UInt64, in items: Deque<Item>, _ key: (Item) -> UInt64) -> Int {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if key(items[middle]) < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension WorldAct {
    /// The act in words.
    var words: String {
        switch self {
        case .move(let device, let position):
            "the \(device.rawValue) was moved to (\(position.x.written), \(position.y.written))"
        case .begin(let fault): "the sensor began to have the fault \(fault.text): \(fault.kind.summary)"
        case .end(let fault): "the fault \(fault.text) of the sensor ended"
        case .app(let verb): "the app was told to \(verb.rawValue)"
        case .setNoise(let noise):
            noise.map { "noise of \($0.written) dBm was switched on" } ?? "the noise was switched off"
        case .addWall(let wall): "a wall of \(wall.attenuation.written) dB was built"
        case .removeWall: "a wall was removed"
        }
    }
}
