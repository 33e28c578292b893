// Package service lets loops continue after the machine was switched off.
//
// [Install] writes a unit of systemd, or an agent of launchd, that runs 'ralph service resume' when
// the person's session begins. [Resume] continues the loops whose runner died, each as 'ralph start
// --resume' does. No daemon runs meanwhile.
package service
