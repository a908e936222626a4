import BluetoothService
import CoreMetrics
import Testing

@testable import ServiceProcess

/// The estimated charge of apps as metrics.
@Suite struct EnergyMetricsTests {
    private func status(_ apps: [(String, Double)], others: Double = 0) -> EnergyStatus {
        EnergyStatus(
            profile: "chip",
            isEstimate: true,
            elapsedSeconds: 60,
            microampereHours: apps.reduce(others + 3) { $0 + $1.1 },
            averageMicroamperes: 1,
            sleepMicroampereHours: 1,
            systemMicroampereHours: 2,
            otherAppsMicroampereHours: others,
            apps: apps.map {
                AppEnergyStatus(app: $0, microampereHours: $1, sendingSeconds: 0, listeningSeconds: 0, uses: [])
            }
        )
    }

    private func values(in text: MetricsText) -> [String: Double] {
        text.text.split(separator: "\n").reduce(into: [:]) { values, line in
            guard !line.hasPrefix("#"), let space = line.lastIndex(of: " ") else { return }
            values[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
    }

    @Test("each app has a value with its name, and the values add up to the charge of the device")
    func apps() {
        let text = MetricsText()
        let metrics = EnergyMetrics(factory: text)
        metrics.record(status([("one", 5), ("t\"w\\o\n", 4)]))
        metrics.record(status([("one", 7), ("t\"w\\o\n", 4.5)]))
        let lines = text.text.split(separator: "\n").map(String.init)
        #expect(lines.first == "# TYPE harald_estimated_charge_microampere_hours gauge")
        #expect(lines.count { $0.hasPrefix("#") } == 1)
        #expect(lines.contains(#"harald_estimated_charge_microampere_hours{part="app",app="one"} 7"#))
        #expect(lines.contains(#"harald_estimated_charge_microampere_hours{part="app",app="t\"w\\o\n"} 4.5"#))
        #expect(lines.contains(#"harald_estimated_charge_microampere_hours{part="system"} 2"#))
        #expect(lines.contains(#"harald_estimated_charge_microampere_hours{part="sleep"} 1"#))
        #expect(values(in: text).values.reduce(0, +) == 14.5)
    }

    @Test("apps that come and go take no more values than there are apps in a status, and lose nothing of the sum")
    func bounds() {
        let text = MetricsText()
        let metrics = EnergyMetrics(factory: text)
        for number in 0..<200 {
            let shown = (number..<number + EnergyStatus.maximumApps).map { ("app \($0)", 1.0) }
            metrics.record(status(shown, others: Double(number)))
            #expect(values(in: text).values.reduce(0, +) == Double(EnergyStatus.maximumApps + number + 3))
        }
        #expect(values(in: text).count == EnergyStatus.maximumApps + 3)
    }
}
