import BluetoothTesting
import CoreBluetooth
import FileTransfer
import HealthThermometer
import HeartRate
import TestBasics
import TextTransfer

/// The examples follow the good practices.
@Suite struct ExampleAdviceTests {
    /// Expects that the apps of a device got no advice.
    private func expectNoAdvice(of app: String) {
        #expect(world.advice.filter { $0.app == app && !$0.isHint }.map(\.description) == [])
    }

    @Test("the heart-rate monitor gets no advice, from the scan to its end", .world)
    func heartRate() async {
        let heard = Notes<HeartRateMonitor.Report>()
        let belt = world.addDevice(named: "Belt")
        let sensor = belt.launch("sensor") { _ in StrapSensor() }
        let phone = world.addDevice(named: "Phone")
        let monitor = phone.launch("monitor") { _ in
            HeartRateMonitor(queue: DispatchQueue(label: "monitor"), report: heard.add)
        }
        await world.until { heard.has(.heartRate(300)) && heard.has(.sensorLocation("chest")) }
        await world.run(for: .seconds(120))
        monitor.stop()
        await world.until { heard.has(.disconnected) }
        expectNoAdvice(of: "monitor")
        withExtendedLifetime(sensor) {}
    }

    @Test("the sender and the receiver of a text get no advice", .world)
    func textTransfer() async {
        let (sent, received) = (Notes<TextSender.Report>(), Notes<TextReceiver.Report>())
        let sender = world.addDevice(named: "Sender").launch("sender") { _ in
            TextSender(text: "hello", queue: DispatchQueue(label: "sender"), report: sent.add)
        }
        let receiver = world.addDevice(named: "Receiver").launch("receiver") { _ in
            TextReceiver(queue: DispatchQueue(label: "receiver"), report: received.add)
        }
        await world.until { received.has(.disconnected) }
        await world.run(for: .seconds(60))
        expectNoAdvice(of: "sender")
        expectNoAdvice(of: "receiver")
        withExtendedLifetime((sender, receiver)) {}
    }

    @Test("the two ends of a file transfer get no advice", .world)
    func fileTransfer() {
        let (offered, fetched) = (Notes<FileOffer.Report>(), Notes<FileFetch.Report>())
        let offer = world.addDevice(named: "Station").launch("offer") { _ in
            let queue = DispatchQueue(label: "offer")
            return FileOffer(content: Data(count: 50_000), queue: queue, runLoop: .current, report: offered.add)
        }
        let fetch = world.addDevice(named: "Phone", at: Position(x: 1)).launch("fetch") { _ in
            FileFetch(queue: DispatchQueue(label: "fetch"), runLoop: .current, report: fetched.add)
        }
        // The streams run in the run loop of the test.
        let simulation = world.simulation
        while !fetched.has(.disconnected), simulation.now < .seconds(60) { simulation.run(for: .milliseconds(5)) }
        simulation.run(for: .seconds(60))
        #expect(fetched.has(.received(Data(count: 50_000))))
        #expect(offered.all.count == 4)
        expectNoAdvice(of: "offer")
        expectNoAdvice(of: "fetch")
        withExtendedLifetime((offer, fetch)) {}
    }

    @Test("the thermometer gets no advice while a central is subscribed", .world)
    func thermometer() async {
        let heard = Notes<Thermometer.Report>()
        let thermometer = world.addDevice(named: "Thermometer").launch("thermometer") { _ in
            let queue = DispatchQueue(label: "thermometer")
            return Thermometer(name: "Kitchen", queue: queue, celsius: { 36.64 }, report: heard.add)
        }
        let phone = world.addDevice(named: "Phone")
        let reader = phone.launch("reader") { _ in
            TemperatureReader(intervals: [], answer: { _ in })
        }
        await world.until { heard.has(.watched(by: 1)) }
        await world.run(for: .seconds(60))
        expectNoAdvice(of: "thermometer")
        withExtendedLifetime((thermometer, reader)) {}
    }
}
