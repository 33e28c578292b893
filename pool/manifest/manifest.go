package manifest

import (
	"bytes"
	_ "embed" // of pod.sh
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-loop/ralph/pool/spec"
	"github.com/ralph-loop/ralph/pool/worker"
)

//go:embed pod.sh
var script string

// Seconds of a pod that is asked to end. The pod is killed when all of it has passed.
const (
	drainTime = 480 // loops may end
	lastTime  = 120 // the mirror writes what they have left
	graceTime = drainTime + lastTime + 60
)

// uid is the user and group of all processes.
const uid = 1000

// Secrets of the namespace: files of the pool, and variables for agents and git.
const (
	poolSecret  = "ralph-pool"
	agentSecret = "ralph-agent"
)

// poolFolder is where a pod has the files of the Secret poolSecret.
const poolFolder = "/etc/ralph-pool"

// Options are those of a manifest.
type Options struct {
	Loop      string // the ID of the Job's loop; empty for a Deployment
	Workers   int    // pods of the Deployment
	Slots     int    // loops at once in each of them
	Labels    []string
	Image     string
	Namespace string // empty for the one of kubectl
}

// An Object is one of the Kubernetes API.
type Object = map[string]any

type list = []any

var (
	namespace = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	image     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,499}$`)
)

// check refuses what a cluster would refuse later, or would read as something else.
func (o *Options) check() error {
	switch {
	case !image.MatchString(o.Image):
		return fmt.Errorf("%.70q is no name of an image, such as ralph:1", o.Image)
	case o.Namespace != "" && !namespace.MatchString(o.Namespace):
		return fmt.Errorf("%.70q is no name of a namespace: 1 to 63 small letters, digits and dashes are possible", o.Namespace)
	case o.Loop == "" && (o.Workers < 1 || o.Slots < 1):
		return errors.New("at least one worker and one loop of each have to run")
	}
	for _, label := range o.Labels {
		if err := spec.CheckWord("label", label); err != nil {
			return err
		}
	}
	if o.Loop != "" {
		id, err := ulid.ParseStrict(o.Loop)
		if err != nil {
			return fmt.Errorf("%.70q is no ID of a loop: 'ralph pool list --json' has it", o.Loop)
		}
		o.Loop = id.String()
	}
	return nil
}

// Make returns the objects.
func Make(o Options) ([]Object, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Loop != "" {
		return []Object{o.job()}, nil
	}
	return []Object{o.deployment(), o.budget()}, nil
}

// YAML writes objects as documents of one file. It quotes whatever needs it.
func YAML(objects []Object) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Before: kubectl create secret generic %s --from-file=pool.json --from-file=pool.trust\n", poolSecret)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	for _, object := range objects {
		if err := encoder.Encode(object); err != nil {
			return nil, fmt.Errorf("write YAML: %w", err)
		}
	}
	return out.Bytes(), encoder.Close()
}

// job runs one loop. The code of a loop that has ended would be that of each further pod as well:
// only a pod that was lost, or did not reach the store, is replaced, and not before it has ended.
func (o *Options) job() Object {
	name := "ralph-" + strings.ToLower(o.Loop)
	return o.object("batch/v1", "Job", name, Object{
		"backoffLimit":         6,
		"podReplacementPolicy": "Failed",
		"podFailurePolicy": Object{"rules": list{
			Object{"action": "Ignore", "onPodConditions": list{Object{"type": "DisruptionTarget", "status": "True"}}},
			Object{"action": "FailJob", "onExitCodes": Object{
				"containerName": "ralph", "operator": "In", "values": worker.FinalCodes,
			}},
		}},
		"template": o.template(name, "Never", 1, "--loop", o.Loop),
	})
}

const workers = "ralph-workers"

func (o *Options) deployment() Object {
	return o.object("apps/v1", "Deployment", workers, Object{
		"replicas": o.Workers,
		"selector": Object{"matchLabels": labels(workers)},
		"template": o.template(workers, "Always", o.Slots, "-n", strconv.Itoa(o.Slots)),
	})
}

// budget lets an emptied node end one worker after another, each with its time.
func (o *Options) budget() Object {
	return o.object("policy/v1", "PodDisruptionBudget", workers, Object{
		"maxUnavailable": 1,
		"selector":       Object{"matchLabels": labels(workers)},
	})
}

func labels(name string) Object {
	return Object{"app.kubernetes.io/name": "ralph", "app.kubernetes.io/instance": name}
}

func (o *Options) object(version, kind, name string, fields Object) Object {
	metadata := Object{"name": name, "labels": labels(name)}
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	return Object{"apiVersion": version, "kind": kind, "metadata": metadata, "spec": fields}
}

// template is that of a pod that runs so many loops at once.
func (o *Options) template(name, restart string, slots int, args ...string) Object {
	for _, label := range o.Labels {
		args = append(args, "--label", label)
	}
	return Object{
		"metadata": Object{"labels": labels(name)},
		"spec": Object{
			"restartPolicy":                 restart,
			"terminationGracePeriodSeconds": graceTime,
			"automountServiceAccountToken":  false,
			"enableServiceLinks":            false,
			"securityContext": Object{
				"runAsNonRoot": true, "runAsUser": uid, "runAsGroup": uid, "fsGroup": uid,
				"seccompProfile": Object{"type": "RuntimeDefault"},
			},
			"containers": list{o.container(slots, args)},
			"volumes": list{
				Object{"name": "work", "emptyDir": Object{}},
				Object{"name": "tmp", "emptyDir": Object{}},
				// With fsGroup, the cluster lets the group read it, too.
				Object{"name": "pool", "secret": Object{"secretName": poolSecret, "defaultMode": 0o400}},
			},
		},
	}
}

func (o *Options) container(slots int, args []string) Object {
	return Object{
		"name":    "ralph",
		"image":   o.Image,
		"command": list{"/bin/sh", "-c", script, "pod.sh"},
		"args":    args,
		"env": list{
			Object{"name": "HOME", "value": "/work/home"},
			Object{"name": "RALPH_HOME", "value": "/work/ralph"},
			Object{"name": "RALPH_POD_POOL", "value": poolFolder},
			Object{"name": "RALPH_POD_DRAIN", "value": strconv.Itoa(drainTime)},
			Object{"name": "RALPH_POD_LAST", "value": strconv.Itoa(lastTime)},
			Object{"name": "RALPH_POOL_HOST", "valueFrom": Object{"fieldRef": Object{"apiVersion": "v1", "fieldPath": "metadata.name"}}},
		},
		"envFrom": list{Object{"secretRef": Object{"name": agentSecret, "optional": true}}},
		// Written as the API server stores them, like the version of the field above: else each
		// apply would differ, and one by the server would conflict.
		"resources": Object{"requests": Object{
			"cpu":               halves(slots),
			"memory":            fmt.Sprintf("%dGi", slots),
			"ephemeral-storage": fmt.Sprintf("%dGi", 2*slots),
		}},
		"securityContext": Object{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": Object{"drop": list{"ALL"}},
		},
		"volumeMounts": list{
			Object{"name": "work", "mountPath": "/work"},
			Object{"name": "tmp", "mountPath": "/tmp"},
			Object{"name": "pool", "mountPath": poolFolder, "readOnly": true},
		},
	}
}

// halves is n halves of a processor.
func halves(n int) string {
	if n%2 == 0 {
		return strconv.Itoa(n / 2)
	}
	return strconv.Itoa(500*n) + "m"
}
