// Package strict decodes the golden files of the manifests with the types of Kubernetes. It is a
// module of its own, so that the pool requires none of them.
package strict

import (
	"bytes"
	"os"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// documents returns the documents of a golden file.
func documents(t *testing.T, name string, want int) [][]byte {
	t.Helper()
	text, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.Split(text, []byte("\n---\n"))
	if len(all) != want {
		t.Fatalf("%s has %d documents, want %d", name, len(all), want)
	}
	return all
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatal(err)
	}
}

func TestJob(t *testing.T) {
	var job batch.Job
	decode(t, documents(t, "job.yaml", 1)[0], &job)
	s := job.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || *s.PodReplacementPolicy != batch.Failed || *s.BackoffLimit != 6 {
		t.Errorf("%+v", job)
	}
	rules := s.PodFailurePolicy.Rules
	if len(rules) != 2 || rules[0].Action != batch.PodFailurePolicyActionIgnore || rules[0].OnPodConditions[0].Type != core.DisruptionTarget {
		t.Fatalf("%+v", rules)
	}
	codes := rules[1].OnExitCodes
	if rules[1].Action != batch.PodFailurePolicyActionFailJob || codes.Operator != batch.PodFailurePolicyOnExitCodesOpIn ||
		*codes.ContainerName != s.Template.Spec.Containers[0].Name {
		t.Errorf("%+v", rules[1])
	}
	// The API server demands that they are in order, and that 0 is none of them.
	for i, code := range codes.Values {
		if code <= 0 || i > 0 && code <= codes.Values[i-1] {
			t.Errorf("the codes %v are not in order", codes.Values)
		}
	}
	pod(t, s.Template, core.RestartPolicyNever)
}

func TestWorkers(t *testing.T) {
	all := documents(t, "workers.yaml", 2)
	var deployment apps.Deployment
	decode(t, all[0], &deployment)
	if deployment.APIVersion != "apps/v1" || deployment.Kind != "Deployment" || *deployment.Spec.Replicas != 3 || deployment.Namespace != "007" {
		t.Errorf("%+v", deployment)
	}
	pod(t, deployment.Spec.Template, core.RestartPolicyAlways)
	var budget policy.PodDisruptionBudget
	decode(t, all[1], &budget)
	if budget.APIVersion != "policy/v1" || budget.Kind != "PodDisruptionBudget" {
		t.Errorf("%+v", budget)
	}
	for key, value := range deployment.Spec.Selector.MatchLabels {
		if deployment.Spec.Template.Labels[key] != value || budget.Spec.Selector.MatchLabels[key] != value {
			t.Errorf("the label %s selects other pods", key)
		}
	}
}

// pod holds what the profile "restricted" of Kubernetes demands, and more.
func pod(t *testing.T, template core.PodTemplateSpec, restart core.RestartPolicy) {
	t.Helper()
	s, c := template.Spec, template.Spec.Containers[0]
	if s.RestartPolicy != restart || *s.AutomountServiceAccountToken || *s.TerminationGracePeriodSeconds <= 480+120 {
		t.Errorf("%+v", s)
	}
	if !*s.SecurityContext.RunAsNonRoot || *s.SecurityContext.RunAsUser == 0 || s.SecurityContext.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%+v", s.SecurityContext)
	}
	if *c.SecurityContext.AllowPrivilegeEscalation || !*c.SecurityContext.ReadOnlyRootFilesystem || c.SecurityContext.Capabilities.Drop[0] != "ALL" {
		t.Errorf("%+v", c.SecurityContext)
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() {
		t.Errorf("%+v", c.Resources)
	}
	for _, volume := range s.Volumes {
		if volume.EmptyDir == nil && *volume.Secret.DefaultMode != 0o400 {
			t.Errorf("%+v", volume)
		}
	}
}
