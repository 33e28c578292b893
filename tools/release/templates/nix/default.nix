# Package of Nix: nix-build, or callPackage of this file.
{ pkgs ? import <nixpkgs> { }, lib ? pkgs.lib, stdenv ? pkgs.stdenv, fetchurl ? pkgs.fetchurl }:

let
  sources = {
    x86_64-linux = { url = "{{.URL "linux/amd64"}}"; sha256 = "{{.SHA256 "linux/amd64"}}"; };
    aarch64-linux = { url = "{{.URL "linux/arm64"}}"; sha256 = "{{.SHA256 "linux/arm64"}}"; };
    x86_64-darwin = { url = "{{.URL "darwin/amd64"}}"; sha256 = "{{.SHA256 "darwin/amd64"}}"; };
    aarch64-darwin = { url = "{{.URL "darwin/arm64"}}"; sha256 = "{{.SHA256 "darwin/arm64"}}"; };
  };
in
stdenv.mkDerivation {
  pname = "ralph";
  version = "{{.Version}}";
  src = fetchurl sources.${stdenv.hostPlatform.system};
  dontStrip = true; # the signed list has the programs as they are

  installPhase = ''
    install -Dm755 -t $out/bin ralph ralph-pool
    install -Dm644 -t $out/share/ralph programs.txt*
    install -Dm644 -t $out/share/man/man1 man/*.1
    install -Dm644 -t $out/share/bash-completion/completions completions/ralph
    install -Dm644 -t $out/share/zsh/site-functions completions/_ralph
    install -Dm644 -t $out/share/fish/vendor_completions.d completions/ralph.fish
  '';

  meta = {
    description = "{{.Summary}}";
    homepage = "{{.Homepage}}";
    license = lib.licenses.mit;
    mainProgram = "ralph";
    platforms = builtins.attrNames sources;
  };
}
