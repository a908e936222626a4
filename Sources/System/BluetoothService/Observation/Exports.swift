// What the service reports is part of its interface.
@_exported import ServiceEvents
@_exported import enum ServiceMessages.AppEnd
@_exported import enum ServiceMessages.AppPhase
