package shellguard

import (
	"slices"
	"strings"
)

// dockerValues are the options of 'docker run' that take a value.
var dockerValues = strings.Fields("v volume mount e env env-file w workdir u user name p publish network net entrypoint h hostname l label m memory cpus cap-add cap-drop device security-opt pid ipc userns uts restart add-host platform ulimit tmpfs log-driver log-opt cgroupns pull gpus c cpu-shares volumes-from link dns runtime shm-size cidfile f filter format")

// runDocker judges containers. What runs in an ordinary container is not judged: it cannot reach
// the machine.
func runDocker(c *command) string {
	if judge := rules[c.name]; judge != nil {
		judge(c)
	}
	words := c.leading("H", "c", "host", "context", "config", "l", "log-level").operands
	if len(words) > 1 && (words[0] == "container" || words[0] == "image") {
		words = words[1:]
	}
	if len(words) == 0 {
		return unknown
	}
	sub := &command{c.shell, c.name, words[1:], c.in}
	if judge := rules["docker-"+words[0]]; judge != nil {
		judge(sub)
	}
	switch words[0] {
	case "exec":
		o := sub.leading("e", "env", "u", "user", "w", "workdir", "env-file")
		sub.inContainer(o.operands[min(1, len(o.operands)):])
		return foreign
	case "logs":
		return foreign
	case "compose":
		if i := slices.Index(sub.args, "exec"); i >= 0 {
			inner := &command{c.shell, c.name, sub.args[i+1:], c.in}
			o := inner.leading("e", "env", "u", "user", "w", "workdir", "index")
			inner.inContainer(o.operands[min(1, len(o.operands)):])
		}
	case "cp":
		c.copyOf(firstOf(sub.options().operands))
	case "ps", "container", "ls", "images":
		if sub.hasWord("-q", "-aq", "-qa", "--quiet") && !slices.ContainsFunc(sub.args, func(w string) bool { return strings.Contains(w, "filter") || strings.HasPrefix(w, "-f") }) {
			return allContainers
		}
	}
	return unknown
}

// inContainer judges a command in a container that runs. It cannot reach the machine, but the data
// of a database is as lost as elsewhere.
func (c *command) inContainer(words []string) {
	s := c.apart()
	s.dir = ""
	s.Off = slices.DeleteFunc(Categories(), func(category Category) bool { return category == Database })
	s.simple(words, c.in)
	c.steps = s.steps
	if s.verdict.Decision != Allow && s.verdict.Category == Database {
		c.deny(Database, s.verdict.Reason)
	}
}

// allContainers is what 'docker ps -q' prints.
const allContainers = unknown + "containers"

// judgeMounts judges the folders of the machine that a container gets.
func judgeMounts(c *command) {
	o := c.leading(dockerValues...)
	for _, text := range o.of("v", "volume") {
		source, _, _ := strings.Cut(text, ":")
		c.mounted(source)
	}
	for _, text := range o.of("mount") {
		for _, part := range strings.Split(text, ",") {
			if name, source, _ := strings.Cut(part, "="); name == "source" || name == "src" {
				c.mounted(source)
			}
		}
	}
}

// mounted judges a folder of the machine that a container gets.
func (c *command) mounted(source string) {
	if !strings.ContainsAny(source, "/~.") { // a named volume
		return
	}
	file, _, _ := c.target(source)
	place := c.place(source)
	switch {
	case strings.HasSuffix(source, "docker.sock") || strings.HasSuffix(source, "podman.sock") || strings.HasSuffix(source, "containerd.sock"):
		c.deny(Container, "with "+source+" the container controls all containers and so the machine. Leave it out.")
	case file != "" && file != "/etc/localtime" && file != "/etc/timezone" && file != "/dev/shm" && (place == inSystem || place == atHome || place == aboveProject):
		if strings.HasPrefix(file, "/etc/ssl") || strings.HasPrefix(file, "/usr/share") {
			return
		}
		c.deny(Container, "it mounts "+source+", so that the container can change the machine. Mount only folders of the project.")
	default:
		c.read(source)
	}
}
