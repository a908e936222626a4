import BluetoothService
import CoreBluetooth

extension CBPeripheral {
    /// Opens an L2CAP channel to what the device takes them for under this number. It belongs to the caller, and no delegate is told
    /// of it (behaviour 15.23).
    public func openChannel(_ psm: CBL2CAPPSM, deadline: Duration? = nil) async throws -> CBL2CAPChannel {
        let wait = Wait<CBL2CAPChannel>()
        return try await wait.value {
            limit(wait, to: deadline)
            ask(.openChannel(psm: psm)) { [self] outcome in
                switch outcome {
                case .failure(let error): wait.end(.failure(error))
                case .success(.channelOpened(_, .failure(let error))): wait.end(.failure(error.apiError))
                case .success(.channelOpened(_, .success(let channel))):
                    if wait.isOver { return refuse(channel) }
                    wait.end(.success(takeOver(channel, psm: psm)))
                case .success(let event): wait.end(.failure(event.isNoAnswer))
                }
            }
        }
    }
}
