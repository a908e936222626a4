import HCI
import HCITransports

/// Virtual controllers as USB dongles of the kernel.
extension ControllerOffer {
    /// A dongle, plugged in or not.
    final class Dongle {
        let behaviour: DongleTransport.Behaviour
        var transport: DongleTransport?
        /// Whether its transport is being opened.
        var isComing = false

        init(_ behaviour: DongleTransport.Behaviour) { self.behaviour = behaviour }
    }

    func offer(dongles count: Int, _ behaviour: DongleTransport.Behaviour) throws(ToolError) {
        for number in 0..<count {
            var behaviour = behaviour
            behaviour.descriptors.serialNumber = "\(number + 1)"
            behaviour.splitSeed = behaviour.splitSeed.map { $0 &+ UInt64(number) }
            if number + 1 < count { behaviour.muteAfter = nil }
            let dongle = Dongle(behaviour)
            dongles.append(dongle)
            do throws(VirtualPort.Failure) {
                try plug(dongle)
            } catch {
                throw .incomplete("cannot plug in a dongle: \(error)")
            }
        }
    }

    /// Unplugs the last dongle, or plugs it in again.
    func plugOrUnplug() {
        guard let dongle = dongles.last, !dongle.isComing else { return }
        if let transport = dongle.transport {
            // Closing a transport does not call its own `onClose`.
            let gone = transport.onClose
            transport.close()
            gone?(.closedByPeer)
            return
        }
        do throws(VirtualPort.Failure) {
            try plug(dongle)
        } catch {
            Console.problem("harald: cannot plug the dongle in again: \(error)")
        }
    }

    private func plug(_ dongle: Dongle) throws(VirtualPort.Failure) {
        let socket = try VirtualPort.plug()
        dongle.isComing = true
        ChannelLine.device(socket, place: "dongle", loop: loop) { [weak self] result in
            dongle.isComing = false
            guard let self, case .success(let line) = result else { return }
            let transport = DongleTransport(line, behaviour: dongle.behaviour, loop: loop)
            dongle.transport = transport
            transport.onMuteChange = { [report] isMute in
                let what = isMute ? "stopped responding" : "was reset and responds again"
                report.say("dongle \(dongle.behaviour.descriptors.serialNumber) \(what)")
            }
            report.say("dongle \(dongle.behaviour.descriptors.serialNumber) plugged in")
            accept(transport) { [report] in
                dongle.transport = nil
                report.say("dongle \(dongle.behaviour.descriptors.serialNumber) unplugged")
            }
        }
    }
}
