import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import ServiceMessages
import Testing

@testable import AppAdvice

/// Neither apps nor peers make an advisor grow without bound.
@Suite struct BoundsTests {
    private static func peer(_ number: Int) -> UUID {
        let (high, low) = (UInt8(number >> 8), UInt8(number & 0xFF))
        return UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low))
    }

    @Test("AB-G05: findings of too many causes are counted only")
    func findings() {
        var app = AdvisedApp(.central)
        for number in 0..<1_000 {
            app.ask(.peer(Self.peer(number), .connect(ConnectOptions())))
            app.ask(.peer(Self.peer(number), .forget))
        }
        #expect(app.advice.count == Findings.maximum)
    }

    @Test("AB-G05: a manager with too many peers is followed for those that there is room for")
    func peers() {
        var picture = CentralPicture()
        for number in 0..<1_000 {
            picture.accept(.peer(Self.peer(number), .connect(ConnectOptions())), at: .zero)
        }
        #expect(picture.peers.count == CentralPicture.maximumPeers)
        // Peers without a connection make room.
        for number in 0..<CentralPicture.maximumPeers {
            picture.accept(.peer(Self.peer(number), .cancelConnection), at: .zero)
        }
        picture.accept(.peer(Self.peer(5_000), .connect(ConnectOptions())), at: .zero)
        #expect(picture[Self.peer(5_000)].link == .pending)
        #expect(picture.peers.count == 1)
    }

    @Test("AB-G05: apps and managers beyond the maximum get no advice")
    func apps() {
        var advisor = AppAdvisor(name: "app", since: .zero)
        for number in 1...1_000 {
            advisor.accept(.managerOpened(.central), of: ManagerID(UInt32(number)), at: .zero)
            advisor.accept(
                .requested(.central(.startScan(ScanRequest()))),
                of: ManagerID(UInt32(number)),
                at: .zero
            )
        }
        #expect(advisor.advice.count == AppAdvisor.maximumManagers)
    }

    @Test("a process that ends takes its managers with it, and keeps its advice")
    func endOfProcess() {
        var app = AdvisedApp(.central)
        app.scan(nil)
        app.note(.appMoved(.notRunning(.crashed)))
        app.wait(1_000)
        #expect(app.rules == ["12.3"])
    }

    @Test("an advice is one line with rule, app, what was done, and what to do instead")
    func words() {
        var app = AdvisedApp(.central)
        app.scan(nil)
        app.ask(.stopScan)
        app.scan(nil)
        #expect(
            app.advice.map(\.description) == [
                "12.3 app scanned without naming a service; this happened 2 times. "
                    + "Name the services to scan for; in the background, a scan that names none finds nothing."
            ]
        )
        #expect(Duration.seconds(0.32).words == "0.3 s")
        #expect(Duration.seconds(75.9).words == "75 s")
        #expect(Duration.seconds(600).words == "10 min")
        #expect(Set(AdviceRule.allCases.map(\.instead)).count == AdviceRule.allCases.count)
    }
}
