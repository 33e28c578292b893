package shellguard

import "strings"

// A judge reports what is dangerous about a simple command.
type judge func(*command)

// rules are the judges of commands by name. See [fill].
var rules map[string]judge

type ruleRow struct {
	names string
	judge judge
}

// ruleTable groups the judges by what they are about.
func ruleTable() []ruleRow {
	return []ruleRow{
		{"rm unlink rmdir srm trash", judgeRemove},
		{"shred wipe scrub", judgeShred},
		{"mv", judgeMove},
		{"cp install ln", judgeCopy},
		{"truncate", judgeTruncate},
		{"dd", judgeDD},
		{"sed gsed", judgeSed},
		{"rsync", judgeRsync},
		{"zip", judgeZip},
		{"make gmake", judgeMake},
		{"mkfs mke2fs mkswap mkntfs newfs newfs_hfs", judgeFormat},
		{"fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard hdparm badblocks nvme cryptsetup mdadm lvremove vgremove pvremove lvreduce zpool zfs btrfs diskutil format diskpart sg_format fsck tune2fs", judgeDisk},
		{"chmod chown chgrp setfacl chattr chflags setcap icacls umask takeown cacls", judgePermissions},

		{"bat less more nl tac strings xxd od hexdump hd sort uniq cut paste fold rev head tail view nano emacs pr column jq yq diff comm zip 7z 7za gzip bzip2 xz bzcat iconv fmt", judgeReader},
		{"cat base64 base32", judgeReader},
		{"vim vi nvim ex", judgeEditor},
		{"less more man", judgePager},
		{"tar", judgeTar},
		{"grep egrep fgrep rg ag ack zgrep", judgeGrep},
		{"awk gawk mawk", judgeAwk},
		{"curl wget aria2c http https xh fetch", judgeTransfer},
		{"nc ncat netcat socat telnet openssl cryptcat", judgeSocket},
		{"scp sftp ftp lftp rclone mail mailx sendmail mutt pastebinit croc magic-wormhole wormhole ffsend transfer termbin sprunge gist sz uuencode tftp smbclient ngrok cloudflared localtunnel lt bore frpc chisel tmate ssh-copy-id autossh sshuttle pwncat msfconsole msfvenom gs-netcat", judgeNetwork},
		{"dig nslookup host ping", judgeLookup},

		{"npm yarn pnpm bun cargo twine poetry uv hatch flit gem mvn gradle gradlew mvnw dotnet nuget helm docker podman vsce ovsx goreleaser lerna nx semantic-release pod dart flutter hex mix jsr deno crane skopeo np release-it setup python luarocks conda-build anaconda cpan-upload sbt lein stack cabal opam puppet ansible-galaxy charmcraft snapcraft twine3 rush oras cosign gh glab nerdctl changeset", judgePublish},
		{"aws gcloud gsutil bq az terraform tofu terragrunt pulumi kubectl oc k helm helmfile eksctl kops heroku fly flyctl vercel netlify firebase supabase railway doctl linode-cli hcloud vultr-cli cdk serverless sls sam gh glab oci ibmcloud s3cmd mc cf nomad consul wrangler amplify eb copilot minikube rancher openstack ovhcloud scw render argocd flux crossplane", judgeCloud},
		{"psql mysql mariadb mongosh mongo sqlite3 sqlcmd cqlsh clickhouse-client duckdb usql pgcli mycli cockroach bq influx", judgeSQL},
		{"dropdb dropuser mysqladmin redis-cli valkey-cli rails rake prisma sequelize typeorm knex mix artisan php manage.py alembic flyway liquibase dbmate django-admin etcdctl drizzle-kit sequelize-cli migrate goose pg_ctl", judgeDatabase},

		{"kill", judgeKill},
		{"killall pkill skill slay xkill taskkill killall5 fuser", judgeKillByName},
		{"shutdown reboot halt poweroff init telinit systemctl service rc-service launchctl sysctl modprobe insmod rmmod swapoff mount umount hostnamectl timedatectl date kexec grub-install update-grub efibootmgr setenforce loginctl nvram csrutil spctl apt apt-get dpkg yum dnf rpm zypper apk pacman hostname hwclock bcdedit scutil systemsetup pmset defaults tccutil bless update-alternatives ldconfig depmod", judgeSystem},
		{"useradd userdel usermod groupadd groupdel groupmod gpasswd adduser deluser passwd chpasswd chsh visudo vipw dscl sysadminctl newgrp dseditgroup net", judgeAccounts},
		{"crontab at batch update-rc.d chkconfig", judgeSchedule},
		{"iptables ip6tables iptables-restore nft ufw firewall-cmd ipset pfctl route ip ifconfig nmcli netsh iwconfig tc arptables ebtables socketfilterfw networksetup", judgeFirewall},
		{"history fc auditctl journalctl logrotate wevtutil lastlog utmpdump touch dmesg aureport log ausearch", judgeTracks},
		{"ralph", judgeRalph},
		{"ctr crictl kubeadm lxc lxc-attach runc machinectl docker-compose debugfs", judgeContainerTools},
		{"security secret-tool pass gopass op bw vault lpass keyring doppler infisical sops ansible-vault chamber gpg heroku ssh-keygen credstash age", judgeSecretTools},
		{"bfg", judgeHistoryTools},
		{"apply_patch applypatch", judgePatch},
		{"test [ [[ : true false", func(*command) {}},
	}
}

func fillRules() {
	rules = map[string]judge{}
	for _, row := range ruleTable() {
		for _, name := range strings.Fields(row.names) {
			if before := rules[name]; before != nil {
				after := row.judge
				rules[name] = func(c *command) { before(c); after(c) }
				continue
			}
			rules[name] = row.judge
		}
	}
}
