package sandbox

import "path/filepath"

// shown are the files and folders of a person's home folder that an agent may read: programs,
// libraries and who commits. Everything else there is hidden, since any of it may hold a login.
var shown = []string{
	".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".gitattributes", ".editorconfig", ".tool-versions", ".config/mise",
	"bin", ".local/bin", ".local/lib", ".local/opt", ".local/pipx", ".local/share/pipx", ".local/share/uv",
	".local/share/mise", ".local/share/pnpm", ".local/share/fnm", ".local/share/claude",
	"go", "sdk", ".cargo/bin", ".cargo/env", ".cargo/registry", ".cargo/git", ".rustup", ".nvm", ".volta", ".fnm",
	".asdf", ".mise", ".bun", ".deno", ".pyenv", ".rbenv", ".rvm", ".nodenv",
	".goenv", ".jenv", ".sdkman", ".ghcup", ".cabal/bin", ".cabal/packages", ".stack", ".juliaup", ".julia", ".dotnet",
	".pub-cache/bin", ".pub-cache/hosted", ".npm-global", ".npm-packages", ".yarn/bin",
	".nix-profile", ".local/state/nix", ".linuxbrew", ".m2/repository", ".m2/wrapper", ".gradle/caches", ".gradle/wrapper", "Library",
}

// secrets are the files and folders that hold logins or keys, from the home folder. They are hidden
// too where a person works in the home folder itself, or shows all of it.
var secrets = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pypirc", ".git-credentials", ".pgpass",
	".password-store", ".vault-token", ".terraform.d",
	".npmrc", ".yarnrc.yml", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml",
	".m2/settings-security.xml", ".gradle/gradle.properties", ".gem/credentials",
	".composer/auth.json", ".config/composer/auth.json", ".huggingface", ".cache/huggingface/token", ".stack/credentials",
	".config/gcloud", ".config/gh", ".config/glab-cli", ".config/op", ".config/rclone", ".config/hub", ".config/git/credentials", ".local/share/keyrings",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
	"Library/Keychains", "Library/Application Support", "Library/Cookies", "Library/Mail", "Library/Messages", "Library/Safari",
	".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".lesshst",
}

// HideHome hides a person's home folder but for what is listed. Parts of it that the policy allows
// stay as they are.
func (p *Policy) HideHome(home string) {
	if home == "" || home == "/" {
		return
	}
	p.Hide = append(p.Hide, home)
	for _, name := range shown {
		p.Show = append(p.Show, filepath.Join(home, name))
	}
	for _, name := range secrets {
		p.Hide = append(p.Hide, filepath.Join(home, name))
	}
	if p.Git.Common != "" { // a work tree needs all of its repository
		p.Show = append(p.Show, p.Git.Common)
	}
}
