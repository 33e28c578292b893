// Package manifest writes what a Kubernetes cluster needs to be hosts of a pool: a Deployment of
// workers, or a Job for one loop.
//
// A pod is a host of the pool, under its own name, and has one container, which runs a mirror and a
// worker (pod.sh). Two containers would share the files and not the processes: a mirror has to end
// the agent of a loop that was taken over, and locks name processes. The pod keeps nothing: journal
// and tree are in the store, so an emptyDir is enough, and another pod resumes when it is lost.
//
// A pod that ends does not drain its host by 'ralph pool drain': no worker takes loops of a host
// that drains, and a host of this name never comes back. Its worker ends by a signal instead.
package manifest
