import BluetoothService
import BluetoothTypes
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// Each rule about scans fires on the app that breaks it, and is silent about one that looks like it.
@Suite struct ScanAdviceTests {
    @Test("behaviour 12.1: a scan that goes on after the connection is noticed")
    func scanAfterConnection() {
        var app = AdvisedApp(.central)
        app.scan()
        app.discover(.sensor)
        app.connect(.sensor)
        app.subscribe(18, of: .sensor)
        app.wait(11)
        #expect(app.rules == ["12.1"])
        #expect(app.advice[0].found == "still scanned 11 s after it had connected, and used no other device")
    }

    @Test("behaviour 12.1: a scan that ends soon after the connection, or finds another device, is right")
    func scanThatEnds() {
        var soon = AdvisedApp(.central)
        soon.scan()
        soon.connect(.sensor)
        soon.subscribe(18, of: .sensor)
        soon.wait(9)
        soon.ask(.stopScan)
        soon.wait(20)
        #expect(soon.rules == [])

        var several = AdvisedApp(.central)
        several.scan()
        several.connect(.sensor)
        several.subscribe(18, of: .sensor)
        several.wait(9)
        several.connect(.other)
        several.subscribe(18, of: .other)
        several.wait(9)
        several.ask(.stopScan)
        #expect(several.rules == [])
    }

    @Test("behaviour 12.2: duplicates without a connection are noticed once for a scan")
    func duplicates() {
        var app = AdvisedApp(.central)
        app.scan(duplicates: true)
        for _ in 0..<80 {
            app.wait(0.5)
            app.discover(.sensor)
        }
        // The interval of 500 ms is another hint.
        #expect(app.rules.filter { $0 != "12.30" } == ["12.2"])
        let advice = app.advice.filter { $0.rule == .duplicates }
        #expect(advice[0].isHint)
        #expect(advice[0].found.hasPrefix("received 62 reports of \"Sensor\" in 30 s"))
    }

    @Test("behaviour 12.2: many devices, and one that is connected to in time, are right")
    func usedDuplicates() {
        var app = AdvisedApp(.central)
        app.scan(duplicates: true)
        for number in 0..<100 {
            app.wait(0.5)
            app.discover(number % 2 == 0 ? .sensor : .other)
            if number == 50 {
                app.ask(.peer(.sensor, .connect(ConnectOptions())))
                app.ask(.peer(.other, .connect(ConnectOptions())))
            }
        }
        #expect(app.rules.filter { $0 != "12.30" } == [])
        // The scan may go on while the app connects, and while it is connected. Afterwards it is looked at again.
        var connected = AdvisedApp(.central)
        connected.scan(duplicates: true)
        connected.discover(.sensor)
        connected.connect(.sensor)
        for _ in 0..<100 {
            connected.wait(0.5)
            connected.discover(.sensor)
        }
        #expect(!connected.rules.contains("12.2"))
        connected.report(.disconnected(nil, isReconnecting: false, timestamp: nil), of: .sensor)
        for _ in 0..<100 {
            connected.wait(0.5)
            connected.discover(.sensor)
        }
        #expect(connected.rules.contains("12.2"))
        // Without the option, reports of one device may be as many: names and services come in several.
        var plain = AdvisedApp(.central)
        plain.scan()
        for _ in 0..<80 {
            plain.wait(0.5)
            plain.discover(.sensor)
        }
        #expect(plain.rules == [])
    }

    @Test("behaviour 12.2: duplicates in the background are noticed")
    func duplicatesInTheBackground() {
        var app = AdvisedApp(.central)
        app.note(.appMoved(.background))
        app.scan(duplicates: true)
        #expect(app.rules == ["12.2"])
        // With the privileges of a Live Activity they are reported, until it ends (behaviour 9.17).
        for isPrivileged in [false, true] {
            var active = AdvisedApp(.central)
            active.note(.liveActivity(isShown: true, isPrivileged: isPrivileged))
            active.note(.appMoved(.background))
            active.scan(duplicates: true)
            #expect(active.rules.contains("12.2") != isPrivileged)
            active.note(.liveActivity(isShown: false, isPrivileged: isPrivileged))
            active.scan(duplicates: true)
            #expect(active.rules.contains("12.2"))
        }
    }

    @Test(
        "behaviour 12.2: a process that is started after the end of another one is in the foreground, unless it is not"
    )
    func duplicatesOfANewProcess() {
        for isHidden in [false, true] {
            var app = AdvisedApp(.central)
            app.note(.appMoved(.notRunning(.crashed)))
            if isHidden { app.note(.appMoved(.background)) }
            app.note(.managerOpened(.central))
            app.scan(duplicates: true)
            #expect(app.rules == (isHidden ? ["12.2"] : []))
        }
    }

    @Test("behaviour 12.3: a scan for everything is noticed, with nil as with an empty list")
    func scanForEverything() {
        var app = AdvisedApp(.central)
        app.scan(nil)
        app.ask(.stopScan)
        app.scan([])
        #expect(app.rules == ["12.3", "12.3"])
        #expect(app.advice.count == 1 && app.advice[0].count == 2)
        var named = AdvisedApp(.central)
        named.scan([0x180D])
        #expect(named.rules == [])
    }

    @Test("behaviour 12.4: a scan of more than 60 s is noticed once, while it runs")
    func longScan() {
        var app = AdvisedApp(.central)
        app.scan()
        app.wait(30)
        // Replacing the scan is no pause.
        app.scan([0x180F])
        app.wait(31)
        #expect(app.rules == ["12.4"])
        app.wait(300)
        #expect(app.rules == ["12.4"])
    }

    @Test("behaviour 12.4: two shorter scans, a scan in the background and one that ended are right")
    func shortScans() {
        var app = AdvisedApp(.central)
        app.scan()
        app.wait(59)
        app.ask(.stopScan)
        app.wait(2)
        app.scan()
        app.wait(59)
        app.report(.stateChanged(.poweredOff))
        app.wait(100)
        #expect(app.rules == [])

        var hidden = AdvisedApp(.central)
        hidden.scan()
        hidden.wait(50)
        hidden.note(.appMoved(.background))
        hidden.wait(3_600)
        hidden.discover(.other)
        hidden.note(.appMoved(.foreground))
        hidden.wait(59)
        #expect(hidden.rules == [])
    }

    @Test("behaviour 12.4: a scan that led to a connection counts again when the app wants another device")
    func longScanForMore() {
        var app = AdvisedApp(.central)
        app.scan()
        app.discover(.sensor)
        app.connect(.sensor)
        app.subscribe(18, of: .sensor)
        app.wait(100)
        #expect(app.rules == ["12.1"])
        app.ask(.peer(.other, .connect(ConnectOptions())))
        app.wait(61)
        #expect(app.rules == ["12.1", "12.4"])
    }

    @Test("behaviour 12.11: a scan for a device that was connected before is noticed")
    func scanForKnown() {
        var app = AdvisedApp.connected()
        app.disconnect(.sensor)
        app.scan()
        app.discover(.sensor)
        app.ask(.stopScan)
        app.connect(.sensor)
        #expect(app.rules == ["12.11"])
        #expect(app.advice[0].isHint)
    }

    @Test("behaviour 12.11: a first connection, and one to a retrieved device beside a scan, are right")
    func retrieved() {
        var app = AdvisedApp(.central)
        app.scan()
        app.discover(.sensor)
        app.ask(.stopScan)
        app.connect(.sensor)
        app.disconnect(.sensor)
        // Retrieved by its identifier.
        app.connect(.sensor)
        #expect(app.rules == [])
        app.scan()
        app.discover(.other)
        app.disconnect(.sensor)
        app.connect(.sensor)
        app.ask(.stopScan)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.13: the same scan and the same connection again are noticed")
    func repeatedCalls() {
        var app = AdvisedApp(.central)
        app.scan()
        app.scan()
        app.ask(.stopScan)
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        app.ask(.peer(.sensor, .connect(ConnectOptions())))
        #expect(app.rules == ["12.13", "12.13"])
    }

    @Test("behaviour 12.13: another scan, a scan after a stop, and a connection after the end of one are right")
    func otherCalls() {
        var app = AdvisedApp(.central)
        app.scan()
        app.scan([0x180F])
        app.ask(.stopScan)
        app.scan([0x180F])
        app.ask(.stopScan)
        app.connect(.sensor)
        app.disconnect(.sensor)
        app.connect(.sensor)
        #expect(app.rules == [])
    }

    @Test("behaviour 12.23: a call before poweredOn is noticed by the words of the app's own log")
    func earlyCall() {
        var app = AdvisedApp(.central, isOn: false)
        let text = "<CBCentralManager> can only accept this command while in the powered on state: scanForPeripherals"
        app.note(.misused(text, isToldToApp: true))
        #expect(app.rules == ["12.23"])
        #expect(app.advice[0].found == "called scanForPeripherals before it was told that Bluetooth is on")
        app.note(.misused("Discovering services while delegate is nil", isToldToApp: true))
        #expect(app.rules == ["12.23"])
    }
}
