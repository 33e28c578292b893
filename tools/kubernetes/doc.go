// Package kubernetes applies the manifests of 'ralph pool manifest' to the control plane of a real
// cluster: etcd, the API server with its admission, the controllers and the scheduler, at the
// versions of go.mod. It contains tests only, in a module of its own:
//
//	make test-kubernetes    # the first run builds the programs, which takes some 20 minutes
//
// There are no machines: kwok plays two nodes. It reports a pod as running once it is scheduled,
// and as exited with the code that a test annotates it with (testdata/stages.yaml). So what the
// control plane does with a pod's end is real, and what is in a pod is not. 'make test-image' runs
// the commands of the manifest in a real container.
package kubernetes
