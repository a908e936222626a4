import HCI

// The events of Channel Sounding.

extension VirtualController {
    func reportSounding(_ report: LinkControl.SoundingReport, on link: Link) {
        switch report {
        case .capabilities(let status, let capabilities):
            host.send(
                LECSReadRemoteSupportedCapabilitiesComplete {
                    ($0.status, $0.handle, $0.capabilities) = (status, link.handle, capabilities)
                }
            )
        case .errorTable(let status, let table):
            host.send(
                LECSReadRemoteFAETableComplete { ($0.status, $0.handle, $0.table) = (status, link.handle, table) }
            )
        case .security(let status): host.send(LECSSecurityEnableComplete(status: status, handle: link.handle))
        case .configuration(let status, let config, let settings):
            host.send(link.soundingConfigured(status, config, settings))
        case .started(let status, let config, let schedule):
            host.send(link.soundingEnabled(status, config, schedule, power: configuration.transmitPower))
        case .ended(let status, let config):
            host.send(link.soundingEnabled(status, config, nil, power: configuration.transmitPower))
        }
    }

    /// Sends the results of a subevent, as many steps in each event as fit.
    func reportSounding(_ report: Sounder.Report, config: UInt8, on link: Link) {
        var rest = report.steps[...]
        var event = LECSSubeventResult()
        (event.handle, event.config) = (link.handle, config)
        (event.startEvent, event.procedureCounter) = (report.startEvent, report.procedure)
        event.frequencyCompensation = 0xC000
        (event.referencePower, event.antennaPaths) = (report.referencePower, report.antennaPaths)
        event.steps = Self.take(&rest, octets: LECSSubeventResult.stepOctets)
        event.progress = report.progress(isLast: rest.isEmpty)
        host.send(event)
        while !rest.isEmpty {
            var more = LECSSubeventResultContinue()
            (more.handle, more.config, more.antennaPaths) = (link.handle, config, report.antennaPaths)
            more.steps = Self.take(&rest, octets: LECSSubeventResultContinue.stepOctets)
            more.progress = report.progress(isLast: rest.isEmpty)
            host.send(more)
        }
    }

    private static func take(_ steps: inout ArraySlice<LESoundingStep>, octets: Int) -> [LESoundingStep] {
        var (taken, room): ([LESoundingStep], Int) = ([], octets)
        while let step = steps.first, step.octets <= room {
            room -= step.octets
            taken.append(steps.removeFirst())
        }
        return taken
    }
}

extension Sounder.Report {
    /// Returns the state for one of the events; before the last one, more follows.
    fileprivate func progress(isLast: Bool) -> LESoundingProgress {
        isLast ? progress : LESoundingProgress(procedure: .partial, subevent: .partial)
    }
}

extension Link {
    fileprivate func soundingConfigured(
        _ status: HCIStatus,
        _ config: UInt8,
        _ settings: LESoundingConfiguration?
    ) -> LECSConfigComplete {
        .init {
            ($0.status, $0.handle, $0.config) = (status, handle, config)
            guard let settings else { return }
            ($0.isCreated, $0.configuration) = (true, settings)
            ($0.ip1Time, $0.ip2Time) = (UInt8(SoundingPlan.ip1), UInt8(SoundingPlan.ip2))
            ($0.fcsTime, $0.pmTime) = (UInt8(SoundingPlan.fcs), UInt8(SoundingPlan.pm))
        }
    }

    fileprivate func soundingEnabled(
        _ status: HCIStatus,
        _ config: UInt8,
        _ schedule: SoundingSchedule?,
        power: Int8
    ) -> LECSProcedureEnableComplete {
        .init {
            ($0.status, $0.handle, $0.config, $0.txPower) = (status, handle, config, power)
            guard let schedule else { return }
            $0.isEnabled = true
            let subevents = schedule.indication.subevents
            ($0.subeventLength, $0.subeventsPerEvent) = (subevents.length, subevents.perEvent)
            ($0.subeventInterval, $0.eventInterval) = (subevents.interval, subevents.eventInterval)
            ($0.procedureInterval, $0.procedureCount) = (schedule.procedureInterval, schedule.procedureCount)
            $0.maxProcedureLength = schedule.maxProcedureLength
            $0.antennaConfiguration = schedule.antennas.rawValue
        }
    }
}
