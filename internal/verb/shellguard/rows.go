package shellguard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A group is what is refused of programs for one reason.
type group struct {
	decision Decision
	category Category
	reason   string // "%s" is the program's name
	unless   string // arguments with which no row of the group counts
	rows     []ruleRow
}

// A row refuses commands by their words. The patterns match complete words. A row without verbs and
// args refuses every use of its programs.
type ruleRow struct {
	names  string // of programs; "git-push" is the verb of git
	verbs  string // the first words that are no options
	args   string // words anywhere
	unless string // words anywhere, with which the row does not count
}

// A rule is a row that is ready for use.
type rule struct {
	group               *group
	verbs, args, unless func() *regexp.Regexp
}

func (g *group) rule(r ruleRow) rule {
	pattern := func(before, text, after string) func() *regexp.Regexp {
		if text == "" {
			return nil
		}
		return units.Pattern(before + "(?:" + text + ")" + after)
	}
	unless := strings.Trim(g.unless+"|"+r.unless, "|")
	return rule{g, pattern("^", r.verbs, "(?: |$)"), pattern(" ", r.args, "(?: |$)"), pattern(" ", unless, " ")}
}

// ordered are programs that take orders from their input too.
const ordered = "redis-cli valkey-cli sftp ftp lftp tftp smbclient"

func (r rule) judge(c *command) {
	if r.unless != nil && r.unless().MatchString(" "+joinWords(c.args)+" ") {
		return
	}
	line := strings.Join(c.args, " ")
	if words2set(ordered)[c.name] && c.in.given {
		line += " " + c.orders()
	}
	line = " " + strings.Join(strings.Fields(line), " ") + " "
	o := c.options("prefix", "C", "cwd", "dir", "workspace", "w", "filter", "F", "manifest-path", "p", "package", "directory", "D", "R", "repo")
	verbs := func(words []string) bool { return r.verbs != nil && r.verbs().MatchString(joinWords(words)+" ") }
	if r.verbs == nil && r.args == nil || r.args != nil && r.args().MatchString(line) || verbs(o.operands) || verbs(c.subcommand()) {
		if r.group.category == Unknown {
			c.cannotJudge(r.group.reason)
			return
		}
		c.find(r.group.decision, r.group.category, strings.ReplaceAll(r.group.reason, "%s", c.name))
	}
}

// joinWords joins words so that a blank is between words only.
func joinWords(words []string) string {
	words = slices.Clone(words)
	for i, word := range words {
		words[i] = strings.Map(func(r rune) rune {
			if r == ' ' || r == '\n' || r == '\t' {
				return '_'
			}
			return r
		}, word)
	}
	return strings.Join(words, " ")
}

// both matches two words in any order.
func both(a, b string) string { return a + " (?:.* )?" + b + "|" + b + " (?:.* )?" + a }

// shared matches a branch that others are likely to work on.
const shared = `(?:\S*:)?\+?(?:refs/heads/)?(?:main|master|trunk|develop|development|production|prod|release|stable|staging|gh-pages|release/\S*)`

const (
	prepares  = "--dry-run|--dryrun|-n|--help|--snapshot|--skip=publish|--skip-publish"
	looks     = "--help|-h|--dry-run|--dry-run=client|--dry-run=server|--dryrun|help|-dry-run"
	nearFront = `(?:\S+ ){0,3}` // values of options may be before a verb
)

// groups has what is refused by the words of a command. Rules that are code are in [judges].
var groups = []group{
	{Deny, Disks, "%s changes disks or volumes and can destroy what is on them. Leave disks alone.", "", []ruleRow{
		{"fdisk sfdisk cfdisk gdisk sgdisk parted", `[^-]\S*`, "", `-[^-tsb ]*[lpVd]\S*|--list|--print|--version|--dump|print`},
		{"mkfs mke2fs mkswap mkntfs newfs newfs_hfs", "", `/dev/\S*|\S*[` + unknowns + `]\S*|r?disk\d\S*`, ""},
		{"blkdiscard lvremove vgremove pvremove lvreduce format diskpart sg_format", "", `\S.*`, ""},
		{"wipefs", "", `-\w*[aof]\S*|--all|--force`, ""},
		{"hdparm", "", `--(?:security|trim|make-bad)\S*`, ""},
		{"badblocks", "", `-\w*w\S*`, ""},
		{"fsck", "", `-\w*[yap]\S*`, ""},
		{"nvme", "", "format|sanitize|delete-ns|write-zeroes", ""},
		{"cryptsetup", "", "luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt", ""},
		{"mdadm", "", "--stop|--zero-superblock|--fail|--remove|--create|-S|-C", ""},
		{"zpool zfs", "", "destroy|labelclear|rollback", ""},
		{"btrfs", `subvolume delete\S*`, `subvolume delete\S*`, ""},
		{"diskutil", "", `(?i:erase)\S*|partitionDisk|secureErase|zeroDisk|reformat|apfs`, "list|info"},
		{"debugfs", "", "", ""},
	}},
	{Deny, System, "%s stops or restarts the machine. Leave the machine as it is, or ask the person.", "", []ruleRow{
		{"shutdown reboot halt poweroff telinit kexec", "", "", "--help|-c"},
		{"init", "[0-6sS]", "", ""},
	}},
	{Deny, System, "%s changes the machine's services. Leave the machine as it is, or ask the person.", "", []ruleRow{
		{"systemctl", "poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency|isolate|stop|disable|mask|kill|" +
			"daemon-reexec|set-default|restart|reload-or-restart|revert", "", ""},
		{"service rc-service", `\S+ (?:stop|restart|reload)`, "", ""},
		{"launchctl", "unload|bootout|disable|remove|kill|reboot", "", ""},
		{"loginctl", `terminate\S*|kill\S*|enable-linger`, "", ""},
	}},
	{Deny, System, "%s changes what the kernel runs and mounts, or its settings. Leave the machine as it is, or ask the person.", "", []ruleRow{
		{"modprobe insmod rmmod swapoff umount setenforce update-grub grub-install bless depmod bcdedit tccutil", "", "", ""},
		{"mount", `\S+ \S+`, `-a|\S*remount\S*`, ""},
		{"sysctl", "", `-\w*[wp]\S*|--system|--load\S*|\S*=\S*`, ""},
		{"csrutil spctl nvram efibootmgr", "", "disable|--master-disable|--global-disable|-[cdBo]", ""},
	}},
	{Deny, System, "%s changes settings of the machine. Leave the machine as it is, or ask the person.", "", []ruleRow{
		{"hostnamectl timedatectl", `set\S*`, "", ""},
		{"date", "", `-[a-zA-Z]*s\S*|--set\S*`, ""},
		{"hwclock", "", `-\w*[ws]\S*|--systohc|--hctosys|--set\S*`, ""},
		{"defaults", "delete", "", `delete [^- ]\S* [^- ]\S*`},
		{"update-alternatives", "", "--set|--install|--remove|--remove-all", ""},
	}},
	{Deny, System, "%s removes or replaces packages of the system. Leave the machine as it is, or ask the person.", "", []ruleRow{
		{"apt apt-get yum dnf zypper apk", "remove|purge|autoremove|autopurge|erase|del|dist-upgrade|full-upgrade|do-release-upgrade", "", ""},
		{"pacman", "remove|purge|erase|del", `-R\S*`, ""},
		{"dpkg", "remove|purge|erase|del", `-\w*[rP]\S*|--remove|--purge`, ""},
		{"rpm", "remove|purge|erase|del", `-\w*e\S*|--erase`, ""},
	}},
	{Deny, Privilege, "%s changes the users of the machine and what they may do. Leave that to the person.", "", []ruleRow{
		{"useradd userdel usermod groupadd groupdel groupmod gpasswd adduser deluser chpasswd chsh visudo vipw sysadminctl newgrp dseditgroup", "", "", ""},
		{"passwd", "", "", "-S|--status|--help"},
		{"dscl", "", "-create|-delete|-append|-passwd", ""},
		{"net", "", "(?:user|localgroup) (?:.* )?/(?:add|delete)", ""},
	}},
	{Deny, Privilege, "%s runs a command with the rights of another user. Do it without, or ask the person.", "", []ruleRow{{"su runuser", "", "", ""}}},
	{Ask, Unknown, "it gives a command another name", "", []ruleRow{{"alias", "", `\S*=.*`, ""}, {"hash", "", `-\w*p\S*`, ""}}},
	{Deny, Persistence, "%s makes a program start by itself from now on. Run it in the foreground for the task only.", "", []ruleRow{
		{"systemctl", "enable|link|edit|preset", "", ""},
		{"launchctl", "load|bootstrap|enable|submit", "", ""},
		{"crontab", "", "", `-\w*[lhVr]\S*`},
		{"update-rc.d chkconfig", "", `\S+ \S.*`, ""},
	}},
	{Deny, Files, "it removes all scheduled commands of the person. Leave them.", "", []ruleRow{{"crontab", "", `-\w*r\S*`, `-\w*[lhV]\S*`}}},
	{Deny, Firewall, "%s changes the machine's firewall or network. Leave it, and test on localhost.", "", []ruleRow{
		{"iptables ip6tables ebtables arptables", "", "-[FXPAIDRNZ]|--flush|--policy|--append|--insert|--delete", ""},
		{"iptables-restore ip6tables-restore", "", "", ""},
		{"nft", "", "flush|add|delete|insert|replace|-f", ""},
		{"ufw", "", "disable|enable|reset|allow|deny|delete|default|reject|limit|route|insert", ""},
		{"firewall-cmd", "", `\S*--(?:add|remove|set)\S*|--reload|--panic-on|--complete-reload|--panic-off`, ""},
		{"ipset", "", "destroy|flush|add|del|create|restore", ""},
		{"pfctl", "", "-[dFfex]", ""},
		{"route ip", "", "add|del|delete|flush|change|set|replace", ""},
		{"ifconfig", "", "down|up|netmask|delete|-alias", ""},
		{"nmcli", "", "off|down|delete|modify|add|disconnect", ""},
		{"netsh networksetup", "", `(?i:\S*set\S*)|delete|add|\S*-remove\S*`, ""},
		{"iwconfig tc", "", "add|del|replace|off|change", ""},
		{"socketfilterfw", "", `\S*--(?:set|add|remove)\S*`, ""},
	}},
	{Deny, Tracks, "it removes a record of what was done. Leave logs and histories as they are.", "", []ruleRow{
		{"history", "", `-[a-z]*[cwd]\S*`, ""},
		{"fc", "", `-\w*p\S*`, ""},
		{"auditctl", "", `-\w*[De]\S*`, ""},
		{"journalctl", "", `\S*--vacuum\S*|--rotate\S*|--flush\S*`, ""},
		{"logrotate", "", `-\w*f\S*|--force`, ""},
		{"wevtutil", "", "cl|clear-log", ""},
		{"dmesg", "", `-\w*[cC]\S*|--clear|--read-clear`, ""},
		{"log", "erase", "", ""},
		{"unset", "", "HISTFILE", ""},
	}},
	{Deny, Processes, "it ends processes by name, also those that you did not start. Keep the number of a process that you start ($!) and end that.",
		"", []ruleRow{
			{"killall skill slay xkill taskkill killall5", "", "", `-[PF]\S* \S+|--parent\S*|--pidfile\S*|-0|-l|--list|--help|-V|--version`},
			{"pkill", "", "", `-[PF]\S* \S+|--parent\S*|--pidfile\S*|-0`},
			{"fuser", "", `-\w*k\S*|--kill`, `\S*/(?:tcp|udp)\S*`},
		}},
	{Deny, Processes, "it ends all terminal sessions of the person. End the session that you started, with tmux kill-session -t NAME.", "", []ruleRow{
		{"tmux", "", "kill-server", ""},
	}},
	{Deny, Permissions, "%s gives or takes rights in a way that is hard to see and to undo. Ask the person.", "", []ruleRow{
		{"setcap chattr chflags takeown cacls", "", "", "-r"},
		{"icacls setfacl", "", `(?i:\S*everyone\S*)|o::?rw\S*`, ""},
		{"umask", "0+", "", ""},
	}},
	{Deny, Ralph, "it decides over a loop or its settings, and that is up to the person. Write DONE or a question instead, as the prompt describes.",
		"--help|-h", []ruleRow{
			{"ralph", "trust|set|kill|stop|clean|pause|resume|archive|merge|rollback|export|service|fleet|" +
				"answer|journal repair|session cancel", "--accept-changes|--trust", ""},
		}},
	{Deny, Database, "it drops or empties a database. Use a database of your own for tests, or ask the person.", "", []ruleRow{
		{"dropdb dropuser", "", `\S.*`, "--help"},
		{"mysqladmin dbmate drizzle-kit migrate", "", `(?i:drop)\S*`, ""},
		{"redis-cli valkey-cli", "", `(?i:\S*flush(?:all|db)\S*|shutdown\S*|config set dir\S*|debug sleep\S*)`, ""},
		{"rails rake", "", `(?i:db:(?:drop|reset|migrate:reset|schema:load|purge|truncate_all)\S*)`, ""},
		{"prisma", "", `(?i:migrate reset\S*|db push (?:.* )?--(?:force-reset|accept-data-loss)\S*)`, ""},
		{"sequelize sequelize-cli", "", `(?i:db:drop\S*|db:migrate:undo:all\S*)`, ""},
		{"typeorm", "", `(?i:schema:drop\S*)`, ""},
		{"knex", "", `(?i:migrate:rollback --all\S*)`, ""},
		{"mix", "", `(?i:ecto\.(?:drop|reset)\S*)`, ""},
		{"artisan php", "", `(?i:migrate:(?:fresh|reset|refresh)\S*|db:wipe\S*|doctrine:(?:database|schema):drop\S*)`, ""},
		{"manage.py django-admin", "", `(?i:flush\S*|reset_db\S*|sqlflush\S*)`, ""},
		{"alembic", "", `(?i:downgrade base\S*)`, ""},
		{"flyway", "", `(?i:clean\S*)`, ""},
		{"liquibase", "", `(?i:drop-?all\S*)`, ""},
		{"etcdctl", "(?i:del)", "", ""},
		{"goose", "", `(?i:reset\S*|down-to 0\S*)`, ""},
	}},
	{Deny, History, "it overwrites or removes commits, branches or tags that others have. Push without force, or use --force-with-lease on a branch of your own.",
		"-n|--dry-run", []ruleRow{
			{"git-push", "", `-[^-o ]*[fd]\S*|--[fd]|--force|--delete|--mirror|--prune\S*|[:+]\S*|` +
				`--force-with-lease\S* (?:-\S+ )*[^- ]\S* (?:.* )?` + shared + `|[^- ]\S* (?:.* )?(?:` + both(`--force-with-lease\S*`, shared) + `)`, ""},
		}},
	{Deny, History, "it removes or overwrites a branch that others use. Use a branch of your own.", "", []ruleRow{
		{"git-branch", "", both(`(?:-\w*[DfM]\S*|--force)`, shared), ""},
	}},
	{Deny, History, "it rewrites the history of the repository. Add commits instead.", "-l|--list|--analyze|--dry-run|-h|--help", []ruleRow{
		{"bfg git-filter-branch git-filter-repo git-replace git-fast-import", "", "", ""},
	}},
	{Deny, History, "it removes all stashed changes, also those of the person. Drop one stash that you made.", "", []ruleRow{{"git-stash", "clear", "", ""}}},
	{Ask, History, "it removes stashed changes that may be those of the person. Leave the stash.", "", []ruleRow{{"git-stash", "drop", "", ""}}},
	{Deny, GitConfig, "it makes git run a program that the command names. Leave the option out.", "", []ruleRow{
		{"git-push", "", `--?(?:receive-pack|exec)(?:[= ].*)?`, ""},
		{"git-clone git-fetch git-pull git-ls-remote git-remote", "", `-\w*u\S*|--upload-pack\S*`, ""},
		{"git-grep", "", `-\w*O\S*|--open-files-in-pager\S*`, ""},
	}},
	{Deny, History, "it removes what lost commits are found by again. Leave the reflog and the references.", "", []ruleRow{
		{"git-reflog", "expire|delete", "", ""},
		{"git-update-ref", "", "-d|--stdin|--delete", ""},
		{"git-gc git-prune", "", `--prune=(?:[^n]\S*|n[^e]\S*|n?)|--expire\S*`, ""},
	}},
	{Ask, History, "it loses changes in that work tree that are not committed. Remove it without --force.", "", []ruleRow{
		{"git-worktree", "", both("remove", `-\S*f\S*`), ""},
	}},
	{Ask, Container, "it removes the volumes with their data. Leave -v out.", "", []ruleRow{
		{"docker-compose", "", both("down", "(?:-v|--volumes)"), ""},
	}},
	{Ask, Container, "it removes a volume with its data. Ask the person.", "", []ruleRow{{"docker-volume", "rm|remove", "", ""}}},
	{Deny, Container, "it gives a container power over the machine. Leave that out, and mount only folders of the project.", "", []ruleRow{
		{"docker-run docker-create docker-exec", "", `--privileged(?:=\S*)?|--(?:pid|ipc|userns|uts|cgroupns)[= ]host|` +
			`--security-opt[= ]\S*(?:unconfined|disable)\S*|` +
			`--cap-add[= ](?i:cap_)?(?i:all|sys_admin|sys_ptrace|sys_module|dac_read_search|sys_rawio|net_admin|bpf)|` +
			`--device[= ](?:[^/n]\S*|n[^v]\S*|/[^d]\S*|/d[^e]\S*|/dev/(?:[^d]|d[^r])\S*)`, ""},
	}},
	{Deny, Container, "it ends or removes containers or data of all programs of the machine, or changes docker itself. Name what you made.", "", []ruleRow{
		{"docker-rm docker-stop docker-kill docker-rmi", "", `--all|-a|\S*` + foreign + `\S*|\S*` + allContainers + `\S*`, ""},
		{"docker-system", "", both("prune", `(?:-\w*a\S*|--all|--volumes)`), ""},
		{"docker-volume", "prune", "", ""},
		{"docker-swarm docker-plugin", "", "", "ls|inspect"},
	}},
	{Deny, Container, "%s controls containers below docker, or makes privileged ones. Use docker.", "", []ruleRow{
		{"ctr crictl runc machinectl lxc-attach", "", "", "ls|list|ps|images|version|--version|info"},
		{"lxc", "", `security\.privileged=true|delete|stop`, ""},
	}},
	{Deny, Credentials, "it prints credentials. Use the program that needs them, without printing them, or ask the person.", "", []ruleRow{
		{"security", "find-generic-password|find-internet-password|dump-keychain|export", "", ""},
		{"secret-tool", "lookup|search", "", ""}, {"pass", "show|ls|grep", "", ""}, {"gopass", "show", "", ""}, {"op", "read|item get|get", "", ""},
		{"bw", "get|export|list", "", ""}, {"vault", "read|kv get|token lookup|print token", "", ""}, {"lpass", "show|export", "", ""}, {"keyring", "get", "", ""},
		{"doppler", "secrets", "", ""}, {"infisical", "secrets|export", "", ""}, {"sops age", "decrypt", "-d|--decrypt", ""},
		{"ansible-vault", "view|decrypt", "", ""},
		{"chamber", "read|export|list", "", ""}, {"gpg", "", "--export-secret-keys|--export-secret-subkeys", ""}, {"heroku", "config|auth:token", "", ""},
		{"ssh-keygen", "", "-y", ""}, {"credstash", "get|getall", "", ""}, {"git-credential git-credential-store git-credential-cache", "", "fill|get", ""},
		{"gh glab", "auth token", `auth status (?:.* )?(?:--show-token|-t)`, ""},
		{"gcloud gsutil", `auth print.*|auth application-default print.*|(?:.* )?secrets versions access`, "", ""},
		{"az", `(?:.* )?(?:\S*get-access-token\S*|keyvault secret show|keys list)`, "", ""},
		{"aws", `(?:secretsmanager get-secret-value|configure get|configure export-credentials|sts get-session-token|` +
			`sts assume-role|ecr get-login-password|kms decrypt|iam create-access-key).*`,
			`ssm get-parameter\S* (?:.* )?--with-decryption|--with-decryption (?:.* )?ssm get-parameter\S*`, ""},
	}},
	{Deny, Publish, "it publishes for others, and that cannot be taken back. Prepare the release and let the person publish it.", prepares, []ruleRow{
		{"npm", "publish|unpublish|deprecate|dist-tag add|access|owner add|token create", "", ""},
		{"yarn", "publish|npm publish|npm tag add", "", ""},
		{"pnpm bun poetry uv hatch flit hex lerna rush changeset jsr deno opam", "publish", "", ""},
		{"cargo", "publish|yank|owner|release", "", ""},
		{"twine twine3 luarocks anaconda stack cabal setup", "upload", "", ""},
		{"setup", `.* upload`, "", ""},
		{"gem", "push|yank|owner", "", ""},
		{"mvn mvnw", `(?:.* )?(?:(?:\S*:)?deploy|release:perform|nexus-staging:release)`, "", ""},
		{"gradle gradlew", `(?:.* )?(?:\S*:)?(?:publish|publishPlugins|uploadArchives|publishToSonatype|` +
			`closeAndReleaseRepository|publishAllPublicationsToMavenRepository)`, "", ""},
		{"sbt", `(?:.* )?(?:\S*:)?(?:publish|publishSigned)`, "", ""},
		{"dotnet", "nuget push|nuget delete", "", ""}, {"nuget", "push|delete", "", ""}, {"helm", "push|cm-push", "", ""},
		{"docker podman nerdctl", "push|image push|manifest push|compose push", "", ""},
		{"vsce ovsx", "publish|unpublish", "", ""}, {"goreleaser", "release", "", ""}, {"nx", "release|release publish", "", ""},
		{"semantic-release np release-it cpan-upload", "", "", ""}, {"pod", "trunk push|repo push", "", ""}, {"dart flutter", "pub publish", "", ""},
		{"mix", `hex\.publish`, "", ""}, {"crane", "push|copy|delete", "", ""}, {"skopeo", "copy|delete|sync", "", ""}, {"lein", "deploy", "", ""},
		{"charmcraft", "upload|release", "", ""}, {"snapcraft", "upload|push|release", "", ""}, {"oras", "push", "", ""}, {"cosign", "sign", "", ""},
		{"ansible-galaxy", "collection publish|role import", "", ""},
		{"gh", "release (?:create|upload|edit)|gist create|workflow run", "", ""}, {"glab", "release (?:create|upload)|snippet create", "", ""},
	}},
	{Deny, Cloud, "it removes or changes what runs elsewhere. Prepare the change and let the person carry it out.", looks, []ruleRow{
		{"aws", `(?:\S+ )*(?:(?:delete|terminate|remove|deregister|purge|disable|revoke|detach|stop|reboot|cancel)(?:-\S*)?|` +
			`put-bucket-policy|schedule-key-deletion|rb|rm|create-access-key|create-user|attach-user-policy|put-bucket-acl|modify-\S*)`,
			`s3 (?:.* )?--delete`, `s3 rm (?:.* )?--endpoint-url[= ](?:https?://)?(?:localhost|127\.0\.0\.1)(?::\d+)?/?`},
		{"gcloud gsutil bq", `(?:\S+ )*(?:delete|remove|rm|rb|destroy|disable|reset|stop|remove-iam-policy-binding|` +
			`add-iam-policy-binding|setIamPolicy|deploy)`, "", ""},
		{"az", `(?:\S+ )*(?:delete|purge|remove|deallocate|stop|restart|revoke)`, "", ""},
		{"terraform tofu terragrunt", "destroy|apply|taint|state-rm|force-unlock|import|apply-all|destroy-all|run-all|state (?:rm|push|mv)|workspace delete", "", ""},
		{"pulumi", "destroy|up|rm|cancel", "", ""},
		{"helm helmfile", "uninstall|delete|rollback|upgrade|install|destroy|apply|sync", "", ""},
		{"eksctl kops", nearFront + "(?:delete|drain|create|upgrade)", "", ""},
		{"heroku", nearFront + `(?:\S*:(?:destroy|delete|remove|reset|kill|stop|unset|transfer|restart)|destroy)`, "", ""},
		{"fly flyctl", nearFront + "(?:destroy|delete|remove|deploy|suspend|restart|unset|detach)", "", ""},
		{"vercel", `rm|remove|delete|\S*:delete|deploy|promote|rollback`, "--prod", ""},
		{"netlify", nearFront + `(?:rm|remove|delete|\S*:delete|deploy|promote|rollback)`, "", ""},
		{"firebase", nearFront + `(?:\S*:(?:delete|remove|disable)|deploy|delete)`, "", ""},
		{"supabase railway render amplify copilot", nearFront + "(?:delete|down|remove|reset|push|deploy|up)", "", ""},
		{"doctl linode-cli hcloud vultr-cli scw ovhcloud openstack oci ibmcloud cf rancher",
			nearFront + `(?:delete|destroy|remove|rm|rebuild|reset|poweroff|power-off|shutdown|terminate|delete-\S*)`, "", ""},
		{"cdk serverless sls sam", "destroy|remove|delete|deploy|terminate|rollback", "", ""},
		{"eb wrangler", nearFront + "(?:destroy|remove|delete|deploy|terminate|rollback)", "", ""},
		{"gh glab", `(?:repo|release|issue|secret|variable|ssh-key|gpg-key|codespace|cache|run|label|ruleset|project|deploy-key) (?:delete|archive|transfer|remove)`,
			`api (?:.* )?(?:-X|--method)[ =]?(?i:delete)`, ""},
		{"s3cmd mc", nearFront + "(?:rb|rm|del|rmdir)", "", ""},
		{"nomad consul", nearFront + "(?:stop|purge|delete|force-leave|drain)", "", ""},
		{"argocd flux crossplane", nearFront + "(?:delete|sync|rollback|uninstall|suspend)", "", ""},
		{"rclone", "purge|delete|deletefile|rmdirs|cleanup", "", ""},
		{"kubeadm", "", "reset|init|join", ""},
	}},
	{Deny, Upload, "it copies files to another machine. Leave that to the person, or to the project's CI.", "", []ruleRow{
		{"sftp ftp lftp tftp smbclient", "", `\S*put|-[46aCfNpqrv]*b\S*|\S*mirror -R\S*`, ""},
		{"rclone", `(?:copy|sync|move|copyto|moveto|rcat) (?:.* )?[^/: ]{2,}:\S* $`, `(?:copy|sync|move|copyto|moveto|rcat) (?:.* )?[^/: ]{2,}:\S* $`, ""},
		{"aws", `s3 (?:cp|sync|mv) (?:[^s]\S*|s(?:[^3]\S*)?|s3(?:[^:]\S*)?) s3://\S*`, "", ""},
		{"gcloud gsutil", `(?:cp|rsync|mv|storage cp) (?:.* )?gs://\S* $`, "", ""},
		{"gist pastebinit croc wormhole magic-wormhole ffsend transfer termbin sprunge", "", "", "--help|receive|--version"},
		{"git-send-email git-daemon git-instaweb", "", "", ""},
	}},
	{Deny, RemoteShell, "it opens this machine to the network or another machine. Test on localhost.", "--version|version|--help|help", []ruleRow{
		{"ngrok cloudflared localtunnel lt bore frpc chisel tmate autossh sshuttle", "", "", ""},
	}},
	{Deny, RemoteShell, "it connects a program with the network and so gives others a shell on this machine. Do not.", "", []ruleRow{
		{"socat", "", `(?i:\S*(?:exec|system|shell):\S*)`, ""},
		{"nc ncat netcat cryptcat", "", `-[^- ]*[ec]\S*|--[ec]|--(?:exec|sh-exec|lua-exec)\S*`, ""},
		{"telnet", "", `-[a-z]*e\S*`, ""},
	}},
	{Deny, RemoteShell, "it opens this machine to the network or another machine. Test on localhost.", "", []ruleRow{
		{"ssh-copy-id pwncat msfconsole msfvenom gs-netcat", "", "", ""},
	}},
}
