import Administration
import BluetoothService
import Dispatch
import EventLoops
import Foundation
import HCI
import HCIHost
import HCITransports
import Logging
import ServiceMessages
import ServiceProcess
import Synchronization

// Facts from a service and from a controller.

extension MachineFacts {
    /// The time limit for bringing up a controller: its driver may load firmware, and a reset takes up to 10 s.
    private static let bringUpTimeout = DispatchTimeInterval.seconds(30)

    /// Queries the service that the tool's commands would use.
    mutating func queryService(at options: ServiceOptions) {
        let places = ServicePath.places(named: options.service)
        guard let path = places.first(where: ServicePath.isListening) else {
            guard let path = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else { return }
            service = FileManager.default.isWritableFile(atPath: path) ? .dead(path: path) : .closed(path: path)
            return
        }
        do throws(ToolError) {
            let status = try options.ask(.status, for: SystemStatus.self)
            service = .answers(
                path: path,
                state: status.state,
                failure: status.failure,
                advice: status.recovery?.advice
            )
            controller = status.controller.map(ControllerFacts.init)
        } catch {
            service = .silent(path: path, reason: error.description)
        }
    }

    /// Queries the capabilities of the named controller, or else of a free adapter. A controller in use is left alone.
    mutating func ask(_ named: ControllerAddress?) {
        guard let address = named ?? freeAdapter else { return }
        askedController = address
        switch Self.bringUp(address) {
        case .success(let information): controller = ControllerFacts(information, at: "\(address)")
        case .failure(let error): controllerError = "\(address): \(error)"
        }
    }

    private var freeAdapter: ControllerAddress? {
        guard mayTakeAdapters, controller == nil, case .found(let adapters) = adapters,
            !switches.contains(where: { $0.isSoft || $0.isHard }),
            let free = adapters.first(where: { $0.holder == .nobody })
        else { return nil }
        return AdapterChoice(free.name).map(ControllerAddress.adapter)
    }

    /// The reason why a controller could not be queried.
    enum BringUpFailure: Error, Hashable, CustomStringConvertible {
        case host(HCIHostError)
        /// The time limit passed. The host was still waiting for the controller, or retrying.
        case late

        var description: String {
            switch self {
            case .host(let error): "\(error)"
            case .late: "the controller did not become ready in time"
            }
        }
    }

    static func bringUp(
        _ address: ControllerAddress,
        bringUpTimeout: DispatchTimeInterval = MachineFacts.bringUpTimeout
    ) -> Result<ControllerInformation, BringUpFailure> {
        let loop = NIOEventLoop()
        let outcome = Mutex<Result<ControllerInformation, BringUpFailure>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let host = loop.make {
            let line = ControllerTransport(address, loop: loop)
            let host = HCIHost(transport: line, loop: loop, stackEvents: .log(Logger(label: "harald")))
            host.onStateChange = { state in
                switch state {
                case .down, .starting: return
                case .ready(let information): outcome.withLock { $0 = .success(information) }
                case .failed(let error): outcome.withLock { $0 = .failure(.host(error)) }
                }
                line.close()
                isDone.signal()
            }
            host.start()
            return host
        }
        let isInTime = isDone.wait(timeout: .now() + bringUpTimeout) == .success
        host.with { $0.onStateChange = nil }
        return isInTime ? outcome.withLock { $0 } ?? .failure(.late) : .failure(.late)
    }
}

extension ControllerFacts {
    init(_ information: ControllerInformation, at name: String) {
        self.init(
            name: name,
            version: Int(information.version.rawValue),
            company: Int(information.companyIdentifier),
            hasExtendedAdvertising: information.supportsExtendedAdvertising,
            hasLongPackets: information.maxTxOctets > 27,
            buffers: information.aclBufferCount,
            resolvingListSize: information.resolvingListSize
        )
    }

    init(_ status: ControllerStatus) {
        self.init(
            name: status.place.isEmpty ? "the controller" : status.place,
            version: status.version,
            company: status.company,
            hasExtendedAdvertising: status.hasExtendedAdvertising ?? true,
            hasLongPackets: status.hasLongPackets ?? true,
            buffers: status.buffers ?? 8,
            resolvingListSize: status.resolvingListSize ?? 8
        )
    }
}
