package kubernetes

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A namespace is that of one test.
type namespace struct {
	t    *testing.T
	name string
}

// newNamespace makes one with the strictest of the profiles that the API server knows.
func newNamespace(t *testing.T, name string) *namespace {
	t.Helper()
	n := &namespace{t, name}
	n.kubectl("create namespace " + name)
	n.kubectl("label namespace " + name + " pod-security.kubernetes.io/enforce=restricted pod-security.kubernetes.io/warn=restricted")
	n.kubectl("wait --for=create serviceaccount/default --timeout=2m")
	t.Cleanup(func() { n.kubectl("delete namespace " + name + " --wait=false") })
	return n
}

// kubectl runs a command in the namespace that has to succeed.
func (n *namespace) kubectl(words string) string {
	n.t.Helper()
	return n.with("", words)
}

// with runs a command with a text as its input.
func (n *namespace) with(input, words string) string {
	n.t.Helper()
	out, err := theCluster.kubectl(input, append(strings.Fields(words), "--namespace", n.name)...)
	if err != nil {
		n.t.Fatalf("kubectl %s: %v\n%s", words, err, out)
	}
	return out
}

// await waits until a field of an object, or of all objects of a kind, has a value.
func (n *namespace) await(object, field, value string) {
	n.t.Helper()
	n.kubectl(fmt.Sprintf("wait --for=jsonpath={.status.%s}=%s %s --timeout=5m", field, value, object))
}

// manifest is what 'ralph pool manifest' prints.
func manifest(t *testing.T, words string) string {
	t.Helper()
	out, err := exec.Command("../../bin/ralph-pool", append([]string{"manifest"}, strings.Fields(words)...)...).Output()
	if err != nil {
		t.Fatalf("ralph-pool manifest %s: %v", words, err)
	}
	return string(out)
}

// loop is the ID of a loop.
func loop(number int) string { return fmt.Sprintf("01JZ8V5C3M9Q2W4X6Y8Z0%05d", number) }

func jobOf(number int) string { return "ralph-" + strings.ToLower(loop(number)) }

// jobs applies the manifests of loops in a new namespace, and waits for a pod of each that runs.
func (n *namespace) jobs(first, many int) {
	n.t.Helper()
	var all strings.Builder
	for i := range many {
		all.WriteString("---\n" + manifest(n.t, "--loop "+loop(first+i)))
	}
	n.with(all.String(), "apply --validate=strict -f -")
	n.await("job --all", "ready", "1")
}

// exit lets the pods of a Job that run end with a code.
func (n *namespace) exit(number, code int) {
	n.t.Helper()
	n.kubectl(fmt.Sprintf("annotate pod -l batch.kubernetes.io/job-name=%s --field-selector=status.phase=Running exit=%d", jobOf(number), code))
}

// pods are those of a label that still exist.
func (n *namespace) pods(selector string) []pod {
	n.t.Helper()
	var list struct{ Items []pod }
	if err := json.Unmarshal([]byte(n.kubectl("get pods -o json -l "+selector)), &list); err != nil {
		n.t.Fatal(err)
	}
	return list.Items
}

type pod struct {
	Metadata struct {
		Name                       string
		DeletionTimestamp          string
		DeletionGracePeriodSeconds int
	}
	Spec   struct{ NodeName string }
	Status struct {
		Phase      string
		Conditions []struct{ Type, Reason string }
	}
}

// evict asks for the end of a pod as emptying a node does.
func (n *namespace) evict(name string) error {
	eviction := fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q,"namespace":%q}}`, name, n.name)
	_, err := theCluster.kubectl(eviction, "create", "--raw", "/api/v1/namespaces/"+n.name+"/pods/"+name+"/eviction", "-f", "-")
	return err
}

// missing names the fields that were applied and are not stored as they were.
func missing(path string, want, got any) (all []string) {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for key, value := range want {
			all = append(all, missing(path+"."+key, value, got[key])...)
		}
		return all
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			return []string{fmt.Sprintf("%s has %d elements, want %d", path, len(got), len(want))}
		}
		for i, value := range want {
			all = append(all, missing(fmt.Sprintf("%s[%d]", path, i), value, got[i])...)
		}
		return all
	}
	if !reflect.DeepEqual(want, got) {
		all = append(all, fmt.Sprintf("%s is %v, want %v", path, got, want))
	}
	return all
}

// 200 loops are 200 Jobs, whose pods all run at once on two nodes, and complete.
func TestManyJobs(t *testing.T) {
	const many = 200
	n := newNamespace(t, "many")
	begun := time.Now()
	n.jobs(4000, many)
	t.Logf("%d pods run after %v", many, time.Since(begun).Round(100*time.Millisecond))
	on := map[string]int{}
	for _, p := range n.pods("app.kubernetes.io/name=ralph") {
		on[p.Spec.NodeName]++
	}
	if on["mill"]+on["kiln"] != many || on["mill"] < many*2/5 || on["kiln"] < many*2/5 {
		t.Errorf("pods on nodes: %v", on)
	}
	ending := time.Now()
	n.kubectl("annotate pod --all exit=0")
	n.kubectl("wait --for=condition=Complete --timeout=10m job --all")
	t.Logf("%d Jobs are complete %v after their pods were let go; on nodes: %v", many, time.Since(ending).Round(100*time.Millisecond), on)
	if all := n.pods("app.kubernetes.io/name=ralph"); len(all) != many {
		t.Errorf("%d pods for %d Jobs", len(all), many)
	}
}

// What is applied is admitted without a warning, stored as it is written, and changes nothing when
// it is applied again, by the client or by the server.
func TestManifestsAreAdmitted(t *testing.T) {
	n := newNamespace(t, "admitted")
	for _, words := range []string{
		"--workers 3 -n 4 --label gpu --label on",
		"--workers 1 -n 1 --image ralph@sha256:" + strings.Repeat("0a", 32),
		"--loop " + loop(0) + " --label true",
	} {
		text := manifest(t, words)
		n.with(text, "apply --validate=strict -f -")
		for line := range strings.Lines(n.with(text, "apply --validate=strict -f -")) {
			// kubectl sends the selector of a disruption budget each time, also if it is the same.
			if !strings.HasSuffix(strings.TrimSpace(line), "unchanged") && !strings.HasPrefix(line, "poddisruptionbudget") {
				t.Errorf("%s: applied again: %s", words, line)
			}
		}
		n.with(text, "apply --server-side --validate=strict -f -")
		var list struct{ Items []map[string]any }
		if err := json.Unmarshal([]byte(manifest(t, words+" --json")), &list); err != nil || len(list.Items) == 0 {
			t.Fatalf("%s: %v", words, err)
		}
		for _, want := range list.Items {
			name := fmt.Sprint(want["kind"], "/", want["metadata"].(map[string]any)["name"])
			var got map[string]any
			if err := json.Unmarshal([]byte(n.kubectl("get "+name+" -o json")), &got); err != nil {
				t.Fatal(err)
			}
			for _, problem := range missing("", want, got) {
				t.Errorf("%s: %s", name, problem)
			}
		}
	}
}

// A node is emptied: one worker after the other ends, with all its time, and others run meanwhile.
func TestEmptiedNodeEndsWorkersSingly(t *testing.T) {
	n := newNamespace(t, "workers")
	n.with(manifest(t, "--workers 3"), "apply -f -")
	n.kubectl("rollout status deployment/ralph-workers --timeout=5m")
	n.await("poddisruptionbudget/ralph-workers", "disruptionsAllowed", "1")
	before := n.pods("app.kubernetes.io/name=ralph")
	if len(before) != 3 {
		t.Fatalf("%d pods", len(before))
	}
	n.kubectl("cordon mill")
	n.kubectl("cordon kiln")
	defer n.kubectl("uncordon mill")
	defer n.kubectl("uncordon kiln")
	first, second := before[0].Metadata.Name, before[1].Metadata.Name
	n.kubectl("annotate pod " + first + " hold=")
	if err := n.evict(first); err != nil {
		t.Fatal(err)
	}
	if err := n.evict(second); err == nil || !strings.Contains(err.Error(), "disruption budget") {
		t.Errorf("the second eviction, while no node takes another pod: %v", err)
	}
	for _, p := range n.pods("app.kubernetes.io/name=ralph") {
		if p.Metadata.Name == first && (p.Metadata.DeletionTimestamp == "" || p.Metadata.DeletionGracePeriodSeconds != 660) {
			t.Errorf("%+v", p)
		}
	}
	n.kubectl("annotate pod " + first + " hold-")
	n.kubectl("wait --for=delete pod/" + first + " --timeout=2m")

	node, other := "mill", "kiln"
	n.kubectl("uncordon " + other)
	n.kubectl("drain " + node + " --delete-emptydir-data --timeout=5m")
	n.kubectl("rollout status deployment/ralph-workers --timeout=5m")
	for _, p := range n.pods("app.kubernetes.io/name=ralph") {
		if p.Metadata.DeletionTimestamp == "" && p.Spec.NodeName != other {
			t.Errorf("%s is on %s", p.Metadata.Name, p.Spec.NodeName)
		}
	}
}

// A person removes what was applied: each pod has its grace period, and exists until it has ended.
func TestDeletionWaitsForPods(t *testing.T) {
	n := newNamespace(t, "deleted")
	n.jobs(0, 1)
	n.with(manifest(t, "--workers 2"), "apply -f -")
	n.kubectl("rollout status deployment/ralph-workers --timeout=5m")
	n.kubectl("annotate pod --all hold=")
	n.kubectl("delete deployment/ralph-workers poddisruptionbudget/ralph-workers job/" + jobOf(0) + " --wait=false")
	n.kubectl("wait --for=jsonpath={.metadata.deletionGracePeriodSeconds}=660 pod --all --timeout=2m")
	if held := n.pods("app.kubernetes.io/name=ralph"); len(held) != 3 {
		t.Errorf("%d pods are held, want 3", len(held))
	}
	n.kubectl("annotate pod --all hold-")
	n.kubectl("wait --for=delete pod --all --timeout=2m")
}

// status are the fields of a Job's status that say how it ended.
type status struct {
	Failed, Succeeded, Active, Terminating int
	Conditions                             []struct{ Type, Status, Reason string }
}

func (n *namespace) status(number int) (s struct{ Status status }) {
	n.t.Helper()
	if err := json.Unmarshal([]byte(n.kubectl("get job "+jobOf(number)+" -o json")), &s); err != nil {
		n.t.Fatal(err)
	}
	return s
}

// What a Job does after each exit code of its pod, as the guide says it.
func TestJobFollowsExitCodes(t *testing.T) {
	n := newNamespace(t, "codes")
	final, again := []int{1, 2, 3, 4, 80, 130}, []int{75, 126, 137, 143}
	codes := append(append([]int{0}, final...), again...)
	n.jobs(1000, len(codes))
	for i, code := range codes {
		n.exit(1000+i, code)
	}
	for i, code := range codes {
		job := 1000 + i
		switch {
		case code == 0:
			n.kubectl("wait --for=condition=Complete --timeout=5m job/" + jobOf(job))
		case i <= len(final):
			n.kubectl("wait --for=condition=Failed --timeout=5m job/" + jobOf(job))
			s := n.status(job).Status
			if s.Failed != 1 || s.Active != 0 || !hasReason(s, "Failed", "PodFailurePolicy") {
				t.Errorf("code %d: %+v", code, s)
			}
		default:
			n.await("job/"+jobOf(job), "failed", "1")
			n.await("job/"+jobOf(job), "ready", "1")
			n.exit(job, 0)
			n.kubectl("wait --for=condition=Complete --timeout=5m job/" + jobOf(job))
			if s := n.status(job).Status; s.Failed != 1 || s.Succeeded != 1 {
				t.Errorf("code %d: %+v", code, s)
			}
		}
	}
	// Those that completed are removed as the guide says.
	n.kubectl("delete jobs -l app.kubernetes.io/name=ralph --field-selector status.successful=1")
	if left := strings.Fields(n.kubectl("get jobs -o name")); len(left) != len(final) {
		t.Errorf("%d Jobs are left, want %d: %v", len(left), len(final), left)
	}
}

func hasReason(s status, kind, reason string) bool {
	for _, c := range s.Conditions {
		if c.Type == kind && c.Status == "True" && c.Reason == reason {
			return true
		}
	}
	return false
}

// A pod that is evicted does not count, and there is no other one before it has ended. One that a
// person deletes counts.
func TestLostPodsAreReplaced(t *testing.T) {
	n := newNamespace(t, "lost")
	n.jobs(2000, 2)
	for job, failed := range map[int]int{2000: 0, 2001: 1} {
		selector := "batch.kubernetes.io/job-name=" + jobOf(job)
		name := n.pods(selector)[0].Metadata.Name
		n.kubectl("annotate pod " + name + " hold=")
		if failed == 1 {
			n.kubectl("delete pod " + name + " --wait=false")
		} else if err := n.evict(name); err != nil {
			t.Fatal(err)
		}
		n.await("job/"+jobOf(job), "terminating", "1")
		if all := n.pods(selector); len(all) != 1 {
			t.Errorf("%d pods while one ends: %+v", len(all), all)
		}
		n.kubectl("annotate pod " + name + " hold-")
		n.kubectl("wait --for=delete pod/" + name + " --timeout=2m")
		n.await("job/"+jobOf(job), "ready", "1")
		n.exit(job, 0)
		n.kubectl("wait --for=condition=Complete --timeout=5m job/" + jobOf(job))
		if s := n.status(job).Status; s.Failed != failed || s.Succeeded != 1 {
			t.Errorf("%s: %+v, want %d failed", jobOf(job), s, failed)
		}
	}
}

// A node is gone, with its machine: the pods there are lost, which does not count.
func TestLostNodeIsReplaced(t *testing.T) {
	n := newNamespace(t, "node")
	n.kubectl("cordon kiln")
	defer n.kubectl("uncordon kiln")
	n.jobs(3000, 1)
	n.kubectl("uncordon kiln")
	begun := time.Now()
	n.kubectl("delete node mill")
	defer n.kubectl("apply -f testdata/nodes.yaml")
	selector := "batch.kubernetes.io/job-name=" + jobOf(3000)
	lost := n.pods(selector)[0].Metadata.Name
	n.kubectl("wait --for=delete pod/" + lost + " --timeout=5m")
	n.await("job/"+jobOf(3000), "ready", "1")
	t.Logf("another pod runs %v after the node was removed", time.Since(begun).Round(time.Second))
	n.exit(3000, 0)
	n.kubectl("wait --for=condition=Complete --timeout=5m job/" + jobOf(3000))
	if s := n.status(3000).Status; s.Failed != 0 || s.Succeeded != 1 {
		t.Errorf("%+v", s)
	}
}
