// Package rules tries the golden files of the manifests on code of Kubernetes, at the version of
// go.mod, without a cluster: what the API server does with a new object, the profile "restricted"
// of its admission, and the controller of Jobs, on a store in memory. It contains tests only.
package rules
