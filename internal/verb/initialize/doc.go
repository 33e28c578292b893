// Package initialize asks a person for the settings of a project and writes settings.json.
package initialize
