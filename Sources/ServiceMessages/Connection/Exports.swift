// Connections name the places of calls.
@_exported import struct CallSites.CallSite
