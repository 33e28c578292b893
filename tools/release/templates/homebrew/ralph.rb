# Formula of Homebrew, for the tap of the project.
class Ralph < Formula
  desc "{{.Summary}}"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{.URL "darwin/arm64"}}"
      sha256 "{{.SHA256 "darwin/arm64"}}"
    end
    on_intel do
      url "{{.URL "darwin/amd64"}}"
      sha256 "{{.SHA256 "darwin/amd64"}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.URL "linux/arm64"}}"
      sha256 "{{.SHA256 "linux/arm64"}}"
    end
    on_intel do
      url "{{.URL "linux/amd64"}}"
      sha256 "{{.SHA256 "linux/amd64"}}"
    end
  end

  def install
    bin.install "ralph", "ralph-pool"
    (share/"ralph").install Dir["programs.txt*"]
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/ralph"
    zsh_completion.install "completions/_ralph"
    fish_completion.install "completions/ralph.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/ralph version")
  end
end
