import EventLoops
import HCI
import HCIHost
import L2CAP

/// The HCI commands that concern one link.
struct LinkCommands {
    let connection: HCIConnection
    let host: HCIHost
    let loop: any EventLoop
    let stackEvents: StackEventSink

    /// Disconnects the link. If the controller refuses, reports an ``AccessEvent``.
    func disconnect() {
        let command = Disconnect(handle: connection.handle, reason: .remoteUserTerminated)
        host.send(command) { [stackEvents, handle = connection.handle] result in
            guard case .failure(let error) = result else { return }
            stackEvents.report(AccessEvent.cannotDisconnect(handle, error))
        }
    }

    func readRSSI(_ completion: @escaping (Result<Int, HCICommandError>) -> Void) {
        host.send(ReadRSSI(handle: connection.handle)) { result in completion(result.map { Int($0.rssi) }) }
    }

    /// Requests a PHY for both directions. The connection reports the result.
    func setPHY(_ phy: LEPHY) {
        let phys = LEPHYs(rawValue: 1 << (phy.rawValue - 1))
        let coding = LECodedPHYOption(rawValue: 0)
        host.send(
            LESetPHY(handle: connection.handle, preference: [], txPHYs: phys, rxPHYs: phys, codedOption: coding)
        )
    }

    /// Updates the parameters of the link as central, or requests an update by the link layer as peripheral (Core Vol 4
    /// Part E 7.8.18). Calls `refused` if the controller refuses the command. Otherwise LE Connection Update Complete
    /// reports the outcome.
    func update(_ parameters: ConnectionParameters, refused: @escaping (GAPError) -> Void = { _ in }) {
        host.send(
            LEConnectionUpdate {
                $0.handle = connection.handle
                $0.intervalMin = parameters.intervalMinimum
                $0.intervalMax = parameters.intervalMaximum
                $0.maxLatency = parameters.latency
                $0.supervisionTimeout = parameters.timeout
            }
        ) { [stackEvents, handle = connection.handle] result in
            guard case .failure(let error) = result else { return }
            stackEvents.report(AccessEvent.cannotUpdate(handle, error))
            refused(GAPError(error))
        }
    }

    /// Requests the longest packets that the controller can send, on a new link in either role. Some controllers never
    /// start the data length update procedure by themselves, whatever the suggested default.
    func requestLongPackets(_ controller: ControllerInformation, attempts: Int = 3) {
        guard controller.maxTxOctets > connection.maxTxOctets, connection.isOpen,
            controller.supports(LESetDataLength.self)
        else { return }
        let request = LESetDataLength(
            handle: connection.handle,
            txOctets: controller.maxTxOctets,
            txTime: controller.maxTxTime
        )
        host.send(request) { result in
            guard case .failure(let error) = result, !error.isOfHost else { return }
            stackEvents.report(AccessEvent.cannotLengthen(connection.handle, error))
            guard error.status?.isPassing == true, attempts > 1 else { return }
            loop.schedule(after: ConnectorMachine.retryDelay) {
                requestLongPackets(controller, attempts: attempts - 1)
            }
        }
    }
}
