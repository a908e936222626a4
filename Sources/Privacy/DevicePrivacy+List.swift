import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP

/// Maintenance of the controller's resolving list.
extension DevicePrivacy {
    /// Requests an update of the resolving list if the change of bonds or controller requires one.
    func reviewList() {
        list.choose(from: listable)
        if list.isBehind {
            handle(.need(.list))
        } else {
            connector?.reviewRoutes()
        }
    }

    /// Updates the resolving list. Called while the radio is quiet.
    func workOnList() {
        take(list.steps[...])
    }

    private func take(_ steps: ArraySlice<ResolvingListPlan.Step>) {
        guard let step = steps.first else {
            connector?.reviewRoutes()
            return handle(.done)
        }
        let life = life
        send(step) { [weak self] error in
            guard let self, self.life == life else { return }
            if let error { happenings.tell(PrivacyHappening.listRefused(error)) }
            list.finished(step, isDone: error == nil)
            take(steps.dropFirst())
        }
    }

    private func send(_ step: ResolvingListPlan.Step, _ completion: @escaping (HCICommandError?) -> Void) {
        switch step {
        case .setTimeout: sendTimeout(completion)
        case .remove(let identity): send(LERemoveDeviceFromResolvingList(peerIdentity: identity), completion)
        case .add(let peer):
            send(
                LEAddDeviceToResolvingList(
                    peerIdentity: peer.identity,
                    peerIRK: PacketBuffer((peer.key ?? .zero).littleEndianBytes),
                    // Zero for a device without private addresses.
                    localIRK: PacketBuffer((identity?.key ?? .zero).littleEndianBytes)
                ),
                completion
            )
        case .showIdentity(let identity): send(LESetPrivacyMode(peerIdentity: identity, mode: .device), completion)
        case .enable: send(LESetAddressResolutionEnable(isEnabled: true), completion)
        }
    }

    /// Sets the interval between address changes.
    ///
    /// If addresses changed in step, their timing would link them to one device. So where the controller supports a
    /// random interval, the minimum is 8/15 of the maximum, the proportion of the specification's own values of 480 s
    /// and 900 s (Core Vol 4 Part E 7.8.45).
    private func sendTimeout(_ completion: @escaping (HCICommandError?) -> Void) {
        let seconds = UInt16(clamping: interval.components.seconds)
        guard list.drawsTimes else {
            return send(LESetResolvablePrivateAddressTimeout(timeout: seconds), completion)
        }
        let least = max(1, UInt16(UInt32(seconds) * 8 / 15))
        send(LESetResolvablePrivateAddressTimeoutV2(timeoutMin: least, timeoutMax: seconds), completion)
    }

    private func send<C: HCICommand>(_ command: C, _ completion: @escaping (HCICommandError?) -> Void) {
        host.send(command) { result in
            if case .failure(let error) = result { completion(error) } else { completion(nil) }
        }
    }
}
