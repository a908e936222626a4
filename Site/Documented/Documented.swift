// Names the products whose documentation the plugin builds. See Package.swift.
