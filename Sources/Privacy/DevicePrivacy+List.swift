import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import HCIHost
import SMP

/// The controller's resolving list.
extension DevicePrivacy {
    /// The bonds or the controller are others: whether the list has to follow.
    func reviewList() {
        list.choose(from: listable)
        if list.isBehind {
            handle(.need(.list))
        } else {
            connector?.reviewRoutes()
        }
    }

    /// Brings the list up to date, in the quiet.
    func workOnList() {
        take(list.steps[...])
    }

    private func take(_ steps: ArraySlice<ResolvingList.Step>) {
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

    private func send(_ step: ResolvingList.Step, _ completion: @escaping (HCICommandError?) -> Void) {
        switch step {
        case .setTimeout: sendTimeout(completion)
        case .remove(let identity): send(LERemoveDeviceFromResolvingList(peerIdentity: identity), completion)
        case .add(let peer):
            send(
                LEAddDeviceToResolvingList(
                    peerIdentity: peer.identity,
                    peerIRK: PacketBuffer((peer.key ?? .zero).littleEndianBytes),
                    // Of zero, for a device that has no private addresses itself.
                    localIRK: PacketBuffer((identity?.key ?? .zero).littleEndianBytes)
                ),
                completion
            )
        case .showIdentity(let identity): send(LESetPrivacyMode(peerIdentity: identity, mode: .device), completion)
        case .enable: send(LESetAddressResolutionEnable(isEnabled: true), completion)
        }
    }

    /// Where the controller can draw the time of each address, it does, in the proportion of the specification's own
    /// times, 480 s to 900 s (Core Vol 4 Part E 7.8.45): that addresses change at the same time says that they are the
    /// same device's.
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
