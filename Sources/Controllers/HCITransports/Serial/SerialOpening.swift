import HCI

enum SerialOpening {
    /// Opens a port, finds its rate unless one is given, and starts the protocol on it. Call this on the loop.
    /// `completion` is called there, once.
    static func open(
        _ options: SerialOptions,
        loop: NIOEventLoop,
        completion: @escaping (Result<any HCITransport, HCITransportError>) -> Void
    ) {
        let place = "serial:\(options)"
        let port: SerialPort
        do throws(SerialPort.Failure) {
            port = try SerialPort(path: options.path, hasFlowControl: !options.isThreeWire)
            if let rate = options.rate { try port.set(rate: rate) }
        } catch {
            return completion(.failure(.unreachable(address: place, reason: "\(error)")))
        }
        ChannelLine.device(port.descriptor, place: place, loop: loop) { result in
            guard case .success(let line) = result, options.rate == nil else {
                return completion(result.map { transport(on: $0, options, loop: loop) })
            }
            let set = { (rate: Int) in (try? port.set(rate: rate)) != nil }
            _ = RateProbe(line, rates: SerialOptions.probed, isThreeWire: options.isThreeWire, loop: loop, set: set) {
                guard $0 != nil else {
                    line.close()
                    let reason = "no controller answers at any common rate; check the wiring, or specify the rate"
                    return completion(.failure(.unreachable(address: place, reason: reason)))
                }
                completion(.success(transport(on: line, options, loop: loop)))
            }
        }
    }

    private static func transport(
        on line: ChannelLine,
        _ options: SerialOptions,
        loop: NIOEventLoop
    ) -> any HCITransport {
        // The wires may still carry data for a previous host.
        options.isThreeWire ? ThreeWireTransport(line, loop: loop) : H4Transport(line, isResynchronizing: true)
    }
}
