package release

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
)

// mediaType and the fields of bundle are those of Sigstore's bundle, version 0.3, for a signature
// with a key: github.com/sigstore/protobuf-specs, protos/sigstore_bundle.proto.
const mediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

type bundle struct {
	MediaType string   `json:"mediaType"`
	Material  material `json:"verificationMaterial"`
	Message   message  `json:"messageSignature"`
}

type material struct {
	PublicKey struct {
		Hint []byte `json:"hint"` // the SHA-256 of the key, as Sigstore's programs have it
	} `json:"publicKey"`
}

type message struct {
	Digest struct {
		Algorithm string `json:"algorithm"`
		Digest    []byte `json:"digest"`
	} `json:"messageDigest"`
	Signature []byte `json:"signature"`
}

const digestAlgorithm = "SHA2_256"

// Sign returns the bundle of a list. The same key and list give the same bundle, so that a release
// can be built again to the byte.
func Sign(list []byte, key *ecdsa.PrivateKey) ([]byte, error) {
	if key.Curve != elliptic.P256() {
		return nil, errors.New("sign the list: the key is not of the curve P-256")
	}
	b := bundle{MediaType: mediaType}
	b.Material.PublicKey.Hint = fingerprint(&key.PublicKey)
	digest := sha256.Sum256(list)
	b.Message.Digest.Algorithm, b.Message.Digest.Digest = digestAlgorithm, digest[:]
	var err error
	if b.Message.Signature, err = key.Sign(nil, digest[:], crypto.SHA256); err != nil { // without chance: RFC 6979
		return nil, fmt.Errorf("sign the list: %w", err)
	}
	text, err := json.Marshal(b)
	return append(text, '\n'), err
}

// verifyBundle returns the key that signed a list. A bundle may have certificates, entries of logs
// and times besides. A release has none, and they are not verified here: a bundle with anything but
// what Sign writes is refused.
func verifyBundle(text, list []byte, trusted []*ecdsa.PublicKey) (*ecdsa.PublicKey, error) {
	var b bundle
	var found bytes.Buffer
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("read %s: %w", BundleFile, err)
	}
	known, err := json.Marshal(b)
	digest := sha256.Sum256(list)
	switch {
	case b.MediaType != mediaType || b.Message.Digest.Algorithm != digestAlgorithm:
		return nil, fmt.Errorf("%s is no bundle of version 0.3 with SHA-256", BundleFile)
	case err != nil || json.Compact(&found, text) != nil || !bytes.Equal(found.Bytes(), known):
		return nil, fmt.Errorf("%s has other fields than a signature with a key", BundleFile)
	case !bytes.Equal(b.Message.Digest.Digest, digest[:]):
		return nil, errors.New("the signature is of another list")
	}
	for _, key := range trusted {
		if bytes.Equal(b.Material.PublicKey.Hint, fingerprint(key)) && ecdsa.VerifyASN1(key, digest[:], b.Message.Signature) {
			return key, nil
		}
	}
	return nil, errors.New("the signature is wrong, or of another key")
}

// PublicKeys reads the ECDSA keys of a file in the format PEM. What else is in it is passed over.
func PublicKeys(text []byte) (keys []*ecdsa.PublicKey, err error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, err
		}
		key, ok := parsed.(*ecdsa.PublicKey)
		if !ok {
			return nil, fmt.Errorf("it is a %T, and has to be of ECDSA", parsed)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// PrivateKey reads the key that signs a release: PKCS #8 in the format PEM.
func PrivateKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("read the private key: the file has none in the format PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the private key: %w", err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read the private key: it is a %T, and has to be of ECDSA", parsed)
	}
	return key, nil
}

// fingerprint is the SHA-256 of a key that was decoded or made here, and so can be encoded.
func fingerprint(key *ecdsa.PublicKey) []byte {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(der)
	return sum[:]
}
