package spec

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// domain begins all that is signed, so that the signature of something else is none of a
// specification.
const domain = "ralph pool specification 1\n"

// signed returns the bytes of a specification that are signed: all but the signature.
func (s Spec) signed() ([]byte, error) {
	s.Signature, s.Withdrawn = "", ""
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode what is signed: %w", err)
	}
	return append([]byte(domain), text...), nil
}

// Sign signs the specification with a person's key.
func (s *Spec) Sign(key ed25519.PrivateKey) error {
	s.Key = hex.EncodeToString(key.Public().(ed25519.PublicKey))
	text, err := s.signed()
	if err == nil {
		s.Signature = hex.EncodeToString(ed25519.Sign(key, text))
	}
	return err
}

// Verify refuses a specification that its key did not sign. Whether the key is trusted is another
// question.
func (s Spec) Verify() error {
	key, keyErr := hex.DecodeString(s.Key)
	signature, err := hex.DecodeString(s.Signature)
	if s.Key == "" || s.Signature == "" {
		return errors.New("it is not signed")
	}
	if keyErr != nil || err != nil || len(key) != ed25519.PublicKeySize {
		return errors.New("its key or its signature is none")
	}
	text, err := s.signed()
	if err != nil {
		return err
	}
	if !ed25519.Verify(key, text, signature) {
		return errors.New("its signature is wrong: it was changed after it was signed, or another version of ralph wrote it")
	}
	return nil
}
