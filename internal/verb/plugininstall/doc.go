// Package plugininstall puts ralph's plugin into coding agents, and takes it out again.
//
//	r := plugininstall.Request{Agent: "claude", Yes: true}
//	err := r.Install(e) // and r.Uninstall(e)
//	err = plugininstall.Show(e, false)
//
// The files of the plugin are written to a folder in ralph's home, one for each agent. That folder
// is a marketplace, as agents call a list of plugins. The agent's own program then adds the
// marketplace and installs the plugin, so that only the agent edits its settings. pi has packages
// in place of marketplaces; the folder is one.
//
// # Guarantees
//
//   - Everything that will be written or run is shown first. A person is asked; without a terminal
//     it needs a flag.
//   - What is installed is read from the agent each time. A call that was killed is finished by the
//     next one, and a call with nothing to do changes nothing.
//   - A marketplace of the same name that comes from elsewhere is left alone: that is an error.
//   - To uninstall removes one installation. The marketplace and the folder go with the last one.
//
// # Not here
//
// The plugin itself (package plugin), and what its hooks answer (internal/verb/hook).
package plugininstall
