package rules

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	fakes "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	defaults "k8s.io/kubernetes/pkg/apis/batch/v1"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	jobs "k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// golden returns the documents of a manifest.
func golden(t *testing.T, name string) [][]byte {
	t.Helper()
	text, err := os.ReadFile("../../../pool/manifest/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(text, []byte("\n---\n"))
}

var strategies = map[string]rest.RESTCreateStrategy{
	"Job": job.Strategy, "Deployment": deployment.Strategy, "PodDisruptionBudget": poddisruptionbudget.Strategy,
}

// create does what the API server does before it stores a new object.
func create(t *testing.T, text []byte) (kind string, warnings []string, err error) {
	t.Helper()
	object, is, err := legacyscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	strategy := strategies[is.Kind]
	info := &request.RequestInfo{APIGroup: is.Group, APIVersion: is.Version}
	ctx := request.WithRequestInfo(request.WithNamespace(t.Context(), "loops"), info)
	m := object.(meta.Object)
	m.SetNamespace("loops")
	rest.FillObjectMetaSystemFields(m)
	err = rest.BeforeCreate(strategy, ctx, object)
	return is.Kind, strategy.WarningsOnCreate(ctx, object), err
}

func TestServerAcceptsManifests(t *testing.T) {
	seen := 0
	for _, text := range append(golden(t, "job.yaml"), golden(t, "workers.yaml")...) {
		kind, warnings, err := create(t, text)
		if err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v, %v", kind, warnings, err)
		}
		seen++
	}
	if seen != 3 {
		t.Errorf("%d objects", seen)
	}
	wrong := bytes.Replace(golden(t, "job.yaml")[0], []byte("- 130\n"), []byte("- 75\n"), 1)
	if _, _, err := create(t, wrong); err == nil || !strings.Contains(err.Error(), "must be ordered") {
		t.Errorf("codes out of order: %v", err)
	}
}

// A namespace with the strictest profile takes the pods.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, name := range []string{"job.yaml", "workers.yaml"} {
		var object struct {
			Spec struct{ Template core.PodTemplateSpec }
		}
		if err := yaml.Unmarshal(golden(t, name)[0], &object); err != nil {
			t.Fatal(err)
		}
		pod := &object.Spec.Template
		for _, loosened := range []bool{false, true} {
			refused := 0
			for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
				if !result.Allowed {
					refused++
				}
			}
			if loosened != (refused > 0) {
				t.Errorf("%s, loosened %v: %d checks refuse it", name, loosened, refused)
			}
			pod.Spec.Containers[0].SecurityContext.Capabilities = nil
		}
	}
}

// cluster is a store in memory with the controller of Jobs. It names pods, as the API server does.
func cluster(t *testing.T) kubernetes.Interface {
	t.Helper()
	client := fake.NewSimpleClientset()
	var last atomic.Int64
	client.PrependReactor("create", "pods", func(action fakes.Action) (bool, runtime.Object, error) {
		pod := action.(fakes.CreateAction).GetObject().(*core.Pod)
		number := last.Add(1)
		pod.Name, pod.UID = fmt.Sprint(pod.GenerateName, number), types.UID(fmt.Sprint("pod-", number))
		pod.Namespace, pod.CreationTimestamp, pod.Status.Phase = action.GetNamespace(), meta.Now(), core.PodPending
		return false, nil, nil
	})
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := jobs.NewController(t.Context(), client, factory.Core().V1().Pods(), factory.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	go controller.Run(t.Context(), 2)
	return client
}

// submit makes the Job of the manifest under another name, with what the API server adds to it.
func submit(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	var j batch.Job
	if err := yaml.UnmarshalStrict(golden(t, "job.yaml")[0], &j); err != nil {
		t.Fatal(err)
	}
	defaults.SetObjectDefaults_Job(&j)
	j.Name, j.UID, j.Namespace, j.CreationTimestamp = name, types.UID("uid-"+name), "loops", meta.Now()
	j.Spec.Selector = &meta.LabelSelector{MatchLabels: map[string]string{batch.ControllerUidLabel: string(j.UID)}}
	j.Spec.Template.Labels[batch.ControllerUidLabel] = string(j.UID)
	if _, err := client.BatchV1().Jobs("loops").Create(t.Context(), &j, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// await returns a Job and its pods once they are what is waited for.
func await(t *testing.T, client kubernetes.Interface, name string, is func(*batch.Job, []core.Pod) bool) (*batch.Job, []core.Pod) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) { // polling a store
		j, err := client.BatchV1().Jobs("loops").Get(context.Background(), name, meta.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := client.CoreV1().Pods("loops").List(context.Background(), meta.ListOptions{LabelSelector: batch.ControllerUidLabel + "=uid-" + name})
		if err != nil {
			t.Fatal(err)
		}
		if is(j, all.Items) {
			return j, all.Items
		}
		if time.Now().After(deadline) {
			t.Fatalf("Job %s: %+v, %d pods", name, j.Status, len(all.Items))
		}
	}
}

// end ends a pod as a kubelet reports it.
func end(t *testing.T, client kubernetes.Interface, pod core.Pod, code int, conditions ...core.PodCondition) {
	t.Helper()
	pod.Status.Phase = core.PodFailed
	if code == 0 {
		pod.Status.Phase = core.PodSucceeded
	}
	pod.Status.Conditions = conditions
	pod.Status.ContainerStatuses = []core.ContainerStatus{{Name: "ralph", State: core.ContainerState{
		Terminated: &core.ContainerStateTerminated{ExitCode: int32(code), FinishedAt: meta.Now()},
	}}}
	if _, err := client.CoreV1().Pods("loops").UpdateStatus(t.Context(), &pod, meta.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// condition is that of a Job which has ended.
func condition(j *batch.Job) string {
	for _, c := range j.Status.Conditions {
		if c.Status == core.ConditionTrue && (c.Type == batch.JobComplete || c.Type == batch.JobFailed) {
			return string(c.Type) + " " + c.Reason
		}
	}
	return ""
}

// What a Job does after the end of its pod, as the guide says it.
func TestJobFollowsExitCodes(t *testing.T) {
	client := cluster(t)
	codes := []int{0, 1, 2, 3, 4, 80, 130, 75, 126, 137, 143}
	one := func(_ *batch.Job, all []core.Pod) bool { return len(all) == 1 }
	for _, code := range codes {
		submit(t, client, strconv.Itoa(code))
	}
	submit(t, client, "evicted")
	for _, code := range codes {
		_, all := await(t, client, strconv.Itoa(code), one)
		end(t, client, all[0], code)
	}
	_, all := await(t, client, "evicted", one)
	end(t, client, all[0], 143, core.PodCondition{Type: core.DisruptionTarget, Status: core.ConditionTrue, Reason: "EvictionByEvictionAPI"})

	ended := func(j *batch.Job, _ []core.Pod) bool { return condition(j) != "" }
	for _, code := range codes[:7] {
		want := "Failed PodFailurePolicy"
		if code == 0 {
			want = "Complete CompletionsReached"
		}
		if j, all := await(t, client, strconv.Itoa(code), ended); condition(j) != want || len(all) != 1 {
			t.Errorf("code %d: %s after %d pods, want %s", code, condition(j), len(all), want)
		}
	}
	again := func(_ *batch.Job, all []core.Pod) bool { return len(all) == 2 }
	for _, code := range codes[7:] {
		if j, _ := await(t, client, strconv.Itoa(code), again); j.Status.Failed != 1 || condition(j) != "" {
			t.Errorf("code %d: %+v", code, j.Status)
		}
	}
	if j, _ := await(t, client, "evicted", again); j.Status.Failed != 0 || condition(j) != "" {
		t.Errorf("evicted: %+v", j.Status)
	}
}
