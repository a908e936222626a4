import BluetoothSimulation
import CoreBluetooth
import EventLoops
import Foundation
import Synchronization
import TestBasics
import Testing

@testable import CoreBluetoothExtras

@Suite struct PeripheralStreamTests {
    @Test("behaviour 15.22: states arrive as a sequence, each once, and end with the manager")
    func states() {
        let world = SimulatedWorld(seed: 1)
        let device = world.addDevice(named: "Sensor")
        let notes = Lines()
        let holder = Mutex<CBPeripheralManager?>(nil)
        device.launch("sensor") { app in
            let manager = CBPeripheralManager(delegate: nil, queue: DispatchQueue(label: "sensor"))
            for name in ["a", "b"] {
                app.task { [states = manager.states] in
                    for try await state in states { notes.add("\(name)\(state.rawValue)") }
                    notes.add("\(name) over")
                }
            }
            holder.withLock { $0 = manager }
        }
        world.run(for: .seconds(1))
        device.setPower(false)
        world.run(for: .seconds(1))
        holder.withLock { $0 = nil }
        world.run(for: .seconds(1))
        #expect(notes.all.filter { $0.hasPrefix("a") } == ["a0", "a5", "a4", "a over"])
        #expect(notes.all.filter { $0.hasPrefix("b") } == ["b0", "b5", "b4", "b over"])
    }

    @Test("behaviour 7.40: subscriptions arrive as a sequence, and all end with the power")
    func subscriptions() {
        let world = PeripheralWorld().published()
        world.app.task {
            for try await change in world.manager.subscriptions {
                world.notes.add("\(change.central.maximumUpdateValueLength > 19) \(change.isSubscribed)")
            }
        }
        let phone = world.phone()
        world.world.run(for: .seconds(10)) { phone.notes.all == ["subscribed"] }
        world.run(1)
        #expect(world.notes.all == ["advertising", "true true"])
        world.sensor.setPower(false)
        world.run(1)
        #expect(world.notes.all.last == "true false")
    }

    @Test("behaviour 7.31: reads and writes arrive as a sequence, and a whole value answers a read at any offset")
    func requests() {
        let world = PeripheralWorld().published()
        let long = String(repeating: "long ", count: 100)
        world.app.task {
            for try await request in world.manager.requests {
                switch request.operation {
                case .read(_, let offset):
                    world.notes.add("read \(offset > 0)")
                    request.respond(with: Data(long.utf8))
                case .write(let writes):
                    let value = String(decoding: writes[0].value, as: UTF8.self)
                    world.notes.add("write \(value) \(request.needsResponse)")
                    if value == "bad" { request.reject(.invalidAttributeValueLength) } else { request.respond() }
                }
            }
        }
        let phone = world.phone(subscribes: false)
        world.world.run(for: .seconds(10)) { phone.notes.all == ["connected"] }
        phone.read()
        world.run(1)
        phone.write(Data("good".utf8))
        phone.write(Data("bad".utf8))
        world.run(1)
        phone.write(Data("command".utf8), .withoutResponse)
        world.run(1)
        #expect(phone.notes.all.dropFirst() == ["value \(long)", "written", "write failed: CBATTError 13"])
        #expect(
            world.notes.all.dropFirst() == [
                "read false", "read true", "read true", "write good true", "write bad true", "write command false",
            ]
        )
    }

    @Test(
        "behaviour 7.37: a request released without a response is refused, so that the central need not wait"
    )
    func unanswered() {
        let world = PeripheralWorld().published()
        let stream = world.manager.requests
        world.app.task { for try await _ in stream { world.notes.add("request") } }
        let phone = world.phone(subscribes: false)
        world.world.run(for: .seconds(10)) { phone.notes.all == ["connected"] }
        phone.read()
        world.run(1)
        #expect(phone.notes.all.last == "value failed: CBATTError 14")
        #expect(world.notes.all.last == "request")
    }

    @Test(
        "behaviour 7.33: while a stream receives the requests, the delegate does not; only one stream exists at a time"
    )
    func streamsReplaceTheDelegate() {
        let delegate = Hearer(answer: Data("delegate".utf8))
        let world = PeripheralWorld(delegate: delegate).published()
        let answering = world.app.task {
            for try await request in world.manager.requests {
                request.respond(with: Data("stream".utf8))
                // The second response is one too many.
                request.reject(.unlikelyError)
            }
        }
        let phone = world.phone(subscribes: false)
        world.world.run(for: .seconds(10)) { phone.notes.all == ["connected"] }
        world.app.task {
            await world.notes.end("second") { for try await _ in world.manager.requests {} }
        }
        phone.read()
        world.run(1)
        #expect(phone.notes.all.last == "value stream")
        #expect(!delegate.calls.contains("read"))
        #expect(world.notes.all.last == "second failed: requestsTaken")
        answering.cancel()
        world.run(1)
        phone.read()
        world.run(1)
        #expect(phone.notes.all.last == "value delegate")
        #expect(delegate.calls.contains("read"))
    }

    @Test("requests buffered in a stream are refused once the stream is abandoned")
    func abandonedStream() {
        let world = PeripheralWorld().published()
        let held = Mutex(Optional(world.manager.requests))
        let phone = world.phone(subscribes: false)
        world.world.run(for: .seconds(10)) { phone.notes.all == ["connected"] }
        phone.read()
        world.run(1)
        #expect(phone.notes.all == ["connected"])
        held.withLock { $0 = nil }
        world.run(1)
        #expect(phone.notes.all.last == "value failed: CBATTError 14")
    }
}
