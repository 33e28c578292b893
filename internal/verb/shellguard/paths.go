package shellguard

import (
	"path"
	"strings"
)

// A place is what a path means to the person who would lose it.
type place int

const (
	inOther      place = iota // outside of the project
	inProject                 // a file or folder in the project
	atProject                 // the project itself, or all that is in it
	aboveProject              // a folder that contains the project
	inGit                     // the repository's data
	inTemp                    // a temporary file or folder
	atTemp                    // all temporary files
	atHome                    // the home folder, or a folder directly in it
	inHome                    // deeper in the home folder
	inCache                   // a cache in the home folder
	inSystem                  // the system's files
	atUnknown                 // the beginning of the path is unknown
)

var tempFolders = []string{"/tmp", "/var/tmp", "/private/tmp", "/dev/shm", "/var/folders", "/private/var/folders", "/tmp/tmpdir"}

// systemFolders are the folders of a system. All other folders directly in / count only themselves.
var systemFolders map[string]bool

const systemNames = "bin boot dev etc lib lib32 lib64 opt proc root run sbin srv sys usr var System Library Applications private Windows nix snap cores"

func words2set(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// under reports whether a path is in a folder or is the folder.
func under(file, folder string) bool {
	return folder != "" && (file == folder || folder == "/" || strings.HasPrefix(file, folder+"/"))
}

// target returns the path that a word means: unknown names in it count as empty, and a pattern for
// all files means their folder. all reports such a pattern, ok whether the beginning is known.
func (s *shell) target(word string) (file string, all, ok bool) {
	if word == "" || isUnknown(word[0]) {
		return "", false, false
	}
	var parts []string
	for _, part := range strings.Split(strings.ReplaceAll(word, "//", "/"), "/") {
		if hasUnknown(part) {
			part = strings.Map(func(r rune) rune {
				if r < 0x80 && isUnknown(byte(r)) {
					return -1
				}
				return r
			}, part)
			if part != "" {
				part += "x"
			} else if len(parts) > 0 {
				continue
			}
		}
		parts = append(parts, part)
	}
	if last := parts[len(parts)-1]; last != "" && strings.Trim(last, "*?.{,}[!]") == "" && strings.Contains(last, "*") {
		all, parts = true, parts[:len(parts)-1]
	}
	file = strings.Join(parts, "/")
	if file == "" && strings.HasPrefix(word, "/") {
		file = "/"
	}
	switch {
	case strings.HasPrefix(file, "/"):
		return path.Clean(file), all, true
	case s.dir != "":
		return path.Join(s.dir, file), all, true
	}
	clean := path.Clean(file)
	if clean == "." || strings.HasPrefix(clean, "..") || s.Project == "" {
		return "", all, clean != "." && !strings.HasPrefix(clean, "..")
	}
	return path.Join(s.Project, "folder", clean), all, true
}

// place classifies a path.
func (s *shell) place(word string) place {
	file, _, ok := s.target(word)
	switch {
	case !ok:
		return atUnknown
	case file == "": // a plain name in an unknown folder
		return inProject
	case file == "/":
		return inSystem
	case s.Project != "" && s.Project != "/" && file == s.Project:
		return atProject
	case s.Home != "" && under(s.Home, file):
		return atHome
	case s.Project != "" && s.Project != "/" && under(s.Project, file):
		return aboveProject
	case s.Project != "" && s.Project != "/" && under(file, s.Project):
		return s.inProjectPlace(strings.TrimPrefix(file, s.Project+"/"))
	}
	return s.outside(file)
}

func (s *shell) inProjectPlace(name string) place {
	first, rest, _ := strings.Cut(name, "/")
	if first == ".git" && (rest == "" || under(rest, "objects") || under(rest, "refs") || under(rest, "logs") || rest == "HEAD" || rest == "packed-refs" || rest == "config") {
		return inGit
	}
	if s.Project == s.Home && rest == "" {
		return atHome
	}
	return inProject
}

func (s *shell) outside(file string) place {
	for _, temp := range tempFolders {
		if file == temp {
			return atTemp
		}
		if under(file, temp) {
			return inTemp
		}
	}
	if s.Env != nil {
		if temp, ok := s.Env("TMPDIR"); ok && len(temp) > 1 && under(file, path.Clean(temp)) {
			return inTemp
		}
	}
	if s.Home != "" && s.Home != "/" && under(file, s.Home) {
		name := strings.TrimPrefix(file, s.Home+"/")
		switch {
		case !strings.Contains(name, "/"):
			return atHome
		case under(name, ".cache") || under(name, "Library/Caches") || under(name, ".npm/_cacache"):
			return inCache
		}
		return inHome
	}
	first, rest, _ := strings.Cut(file[1:], "/")
	if rest == "" || systemFolders[first] || strings.Contains(first, "*") || first == "home" && !strings.Contains(rest, "/") || first == "Users" && !strings.Contains(rest, "/") {
		return inSystem
	}
	return inOther
}

// remove judges the removal of what a word means.
func (s *shell) remove(word string, recursive bool) {
	if what := s.ownRemoved(word); what != "" {
		s.deny(Ralph, "it removes "+what+". Leave it; the loop needs it.")
		return
	}
	file, all, _ := s.target(word)
	everything := recursive || all
	if s.isRecord(file) {
		s.deny(Tracks, "it removes a log or a record of commands. Leave it.")
		return
	}
	switch s.place(word) {
	case inSystem:
		s.deny(Files, "it removes "+word+", which belongs to the system. Remove only what the task made, by its path in the project.")
	case atHome, aboveProject:
		if everything {
			s.deny(Files, "it removes "+word+" with all that the person keeps there. Remove only what the task made, by its path in the project.")
			return
		}
		s.ask(Files, "it removes "+word+", which is outside of the project. Ask the person.")
	case atProject:
		if everything {
			s.deny(Files, "it removes the complete project. Name the files that the task made.")
		}
	case inGit:
		s.deny(History, "it removes the repository's history. Use git for what you want to change.")
	case inHome, inOther:
		if everything {
			s.ask(Files, "it removes "+word+", which is outside of the project. Ask the person.")
		}
	case atTemp:
		s.ask(Files, "it removes the temporary files of all programs. Name those that you made.")
	case atUnknown:
		if everything || strings.Contains(word, splitting) || all {
			s.cannotJudge("what it removes is in a variable or comes from another command")
		}
	}
}

// write judges that a file is written, however.
func (s *shell) write(word string) {
	if s.network(word) {
		return
	}
	if what := s.own(word); what != "" {
		s.deny(Ralph, "it changes "+what+". Only a person may do that; describe in the loop's task file what you would change.")
		return
	}
	file, _, ok := s.target(word)
	if !ok || file == "" {
		return
	}
	for _, rule := range writeRules {
		if s.named(file, rule.files) {
			s.deny(rule.category, "it changes "+word+": "+rule.what+". Keep changes in the project, or ask the person.")
			return
		}
	}
	if s.place(word) == inSystem && !harmlessDevice(file) {
		s.deny(Files, "it writes to "+word+", which belongs to the system. Write into the project or into a temporary folder.")
	}
	if s.place(word) == inGit {
		s.deny(History, "it writes into the repository's own data. Use git for what you want to change.")
	}
}

// isRecord reports whether a file is a log of the system or a history of commands.
func (s *shell) isRecord(file string) bool {
	return file != "" && s.named(file, records)
}

func harmlessDevice(file string) bool {
	if !strings.HasPrefix(file, "/dev/") {
		return strings.HasPrefix(file, "/proc/self/fd/")
	}
	name := strings.TrimPrefix(file, "/dev/")
	return under(name, "fd") || under(name, "pts") || under(name, "shm") || words2set("null zero stdout stderr stdin tty full random urandom ptmx")[name]
}

// named reports whether a file is one of those that words name, or is below one: absolute, or ~/…
// in the home folder, or ./… in the project; "…*" is any ending.
func (s *shell) named(file, words string) bool {
	for _, pattern := range strings.Fields(words) {
		if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
			if s.Home == "" {
				continue
			}
			pattern = path.Join(s.Home, rest)
		} else if rest, ok := strings.CutPrefix(pattern, "./"); ok {
			pattern = path.Join("/", s.Project, rest)
		}
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(file, prefix) || !ok && under(file, pattern) {
			return true
		}
	}
	return false
}

const records = "/var/log ~/.bash_history ~/.zsh_history ~/.python_history ~/.mysql_history ~/.psql_history ~/.node_repl_history /var/run/utmp"

// writeRules say why files must not be written.
var writeRules = []struct {
	category    Category
	what, files string
}{
	{Disks, "a disk, where it destroys the file systems", "/dev/sd* /dev/hd* /dev/nvme* /dev/vd* /dev/xvd* /dev/disk* /dev/rdisk* /dev/mmcblk* /dev/md* /dev/dm-* /dev/mapper/* /dev/loop* /dev/mem /dev/kmem /dev/port"},
	{System, "the kernel reads it as an order", "/proc/sysrq-trigger /proc/sys /sys /etc/sysctl.conf /etc/sysctl.d /etc/modprobe.d /etc/modules /boot /etc/fstab /etc/hosts /etc/resolv.conf /etc/selinux /etc/hostname"},
	{Privilege, "it says who may do what on this machine", "/etc/sudoers /etc/sudoers.d /etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/pam.d /etc/security /etc/doas.conf"},
	{Persistence, "programs in it start by themselves later", "~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile ~/.zshrc ~/.zprofile ~/.zshenv ~/.zlogin ~/.zlogout ~/.kshrc ~/.cshrc ~/.tcshrc ~/.inputrc ~/.xinitrc ~/.xprofile ~/.pam_environment ~/.config/fish ~/.config/autostart ~/.config/systemd ~/.config/environment.d ~/Library/LaunchAgents ~/.ssh ~/.vimrc ~/.emacs ~/.tmux.conf /etc/cron* /var/spool/cron /etc/systemd /lib/systemd /usr/lib/systemd /etc/init.d /etc/rc.local /etc/rc.d /etc/profile /etc/profile.d /etc/bash.bashrc /etc/bashrc /etc/zsh /etc/environment /etc/ld.so.preload /etc/ld.so.conf* /Library/LaunchDaemons /Library/LaunchAgents /etc/xdg /etc/udev /etc/anacrontab /var/spool/at"},
	{GitConfig, "git runs programs that it names", "~/.gitconfig ~/.config/git /etc/gitconfig ./.git/config ./.git/hooks ./.git/info/attributes"},
	{Credentials, "it contains credentials", "~/.aws/credentials ~/.netrc ~/.git-credentials ~/.docker/config.json ~/.kube/config ~/.npmrc ~/.pypirc ~/.gnupg"},
	{Tracks, "it is a log or a record of commands", records},
	{Firewall, "it says who may reach this machine", "/etc/iptables /etc/nftables.conf /etc/ufw /etc/firewalld /etc/hosts.allow /etc/hosts.deny /etc/pf.conf"},
}
