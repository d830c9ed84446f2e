"""Tries in pods, which every kind has, each with the class that it is of and what it is about."""

from __future__ import annotations

from make import IMAGE
from tenant_crossings import (
    CLAIM,
    DIGEST,
    ELSEWHERE,
    MANAGED,
    RIGHTS,
    SIDE,
    Try,
    avoiding,
    disk,
    more,
    noted,
    pod,
    volume,
)

PODS: dict[str, Try] = {
    "processes of the node": pod("C3", "host", hostPID=True),
    "its shared memory": pod("C3", "host", hostIPC=True),
    "its network": pod("C3", "host", hostNetwork=True),
    "its resolver by the network's policy": pod("C3", "host", dnsPolicy="ClusterFirstWithHostNet"),
    "other resolvers": pod("C3", "host", dnsConfig={"nameservers": ["198.51.100.1"]}),
    "its root folder": volume("C3", hostPath={"path": "/"}),
    "the container runtime's socket": volume("C3", hostPath={"path": "/run/containerd/containerd.sock"}),
    "a privileged container": more("C3", "security", securityContext={**RIGHTS, "privileged": True}),
    "escalation": more("C3", "security", securityContext={**RIGHTS, "allowPrivilegeEscalation": True}),
    "escalation left to the default": more("C3", "security", securityContext={"capabilities": {"drop": ["ALL"]}}),
    "capabilities kept": more("C3", "security", securityContext={"allowPrivilegeEscalation": False}),
    "a capability more": more(
        "C3",
        "security",
        securityContext={**RIGHTS, "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}},
    ),
    "root": more("C3", "security", securityContext={**RIGHTS, "runAsUser": 0}),
    "root of the whole pod": pod("C3", "security", securityContext={"runAsUser": 0, "runAsNonRoot": False}),
    "a user that may be root": more("C3", "security", securityContext={**RIGHTS, "runAsNonRoot": False}),
    "no seccomp": more("C3", "security", securityContext={**RIGHTS, "seccompProfile": {"type": "Unconfined"}}),
    "no seccomp of the pod": pod("C3", "security", securityContext={"seccompProfile": None}),
    "no AppArmor": more("C3", "security", securityContext={**RIGHTS, "appArmorProfile": {"type": "Unconfined"}}),
    "all of /proc": more("C3", "security", securityContext={**RIGHTS, "procMount": "Unmasked"}),
    "another SELinux type": more("C3", "security", securityContext={**RIGHTS, "seLinuxOptions": {"type": "spc_t"}}),
    "a process of Windows' host": more(
        "C3", "security", securityContext={**RIGHTS, "windowsOptions": {"hostProcess": True}}
    ),
    "a setting of the node's kernel": pod(
        "C3", "security", securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}
    ),
    "a port of the node": more("C3", "host", ports=[{"containerPort": 80, "hostPort": 80}]),
    "an address of the node": more("C3", "host", ports=[{"containerPort": 80, "hostIP": "10.0.0.1"}]),
    "mounts that reach the node": more(
        "C3",
        "volume",
        volumeMounts=[{"name": "shared-memory", "mountPath": "/x", "mountPropagation": "Bidirectional"}],
    ),
    "a node's name": pod("C3", "place", nodeName="node-1"),
    "a probe that asks another": more(
        "C3", "host", livenessProbe={"httpGet": {"path": "/", "port": 80, "host": "169.254.169.254"}}
    ),
    "a hook that asks another": more(
        "C3", "host", lifecycle={"postStart": {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}}
    ),
    "a container for debugging": pod("C3", "image", ephemeralContainers=[{"name": "d", "image": IMAGE}]),
    "a field that nobody knows yet": pod("C3", "field", hostSomething=True),
    "the class of system pods": pod("H1", "priority", priorityClassName="system-cluster-critical"),
    "the class of nodes' pods": pod("H1", "priority", priorityClassName="system-node-critical"),
    "a number for a class": pod("H1", "priority", priority=2_000_000_000),
    "whom pods preempt": pod("H1", "priority", preemptionPolicy="PreemptLowerPriority"),
    "anti-affinity against teams": pod("H2", "affinity", affinity=avoiding(namespaces=["ads", "vision"])),
    "anti-affinity against all": pod("H2", "affinity", affinity=avoiding(namespaceSelector={})),
    "anti-affinity that is preferred": pod(
        "H2",
        "affinity",
        affinity={
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "podAffinityTerm": {"topologyKey": "x", "namespaces": ["ads"]}}
                ]
            }
        },
    ),
    "affinity to another team": pod(
        "H2",
        "affinity",
        affinity={
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "x", "namespaces": ["ads"]}]
            }
        },
    ),
    "every taint borne": pod("H2", "place", tolerations=[{"operator": "Exists"}]),
    "the control plane's taint borne": pod(
        "H2", "place", tolerations=[{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]
    ),
    "a scheduler that is not there": pod("H2", "place", schedulerName="mine"),
    "a gate that holds pods": pod("H2", "place", schedulingGates=[{"name": "example.com/wait"}]),
    "nfs": volume("H4", nfs={"server": "nfs.example.com", "path": "/export"}),
    "cephfs": volume("H4", cephfs={"monitors": ["10.0.0.1"]}),
    "iscsi": volume("H4", iscsi={"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:x", "lun": 0}),
    "rbd": volume("H4", rbd={"monitors": ["10.0.0.1"], "image": "x"}),
    "fibre channel": volume("H4", fc={"wwids": ["x"]}),
    "a flex volume": volume("H4", flexVolume={"driver": "example.com/x"}),
    "Azure's files": volume("H4", azureFile={"secretName": "tokens", "shareName": "x"}),
    "a driver's inline volume": volume(
        "H4", csi={"driver": "nfs.csi.k8s.io", "volumeAttributes": {"server": "nfs.example.com", "share": "/"}}
    ),
    "secrets by a driver": volume("H4", csi={"driver": "secrets-store.csi.k8s.io"}),
    "a claim of any class": volume(
        "H4", ephemeral={"volumeClaimTemplate": {"spec": {**CLAIM, "storageClassName": "shared"}}}
    ),
    "a claim of the default class": volume("H4", ephemeral={"volumeClaimTemplate": {"spec": CLAIM}}),
    "a claim on somebody's volume": volume(
        "H4", ephemeral={"volumeClaimTemplate": {"spec": {**CLAIM, "storageClassName": "x", "volumeName": "pv-7"}}}
    ),
    "a claim that is not the team's": volume("H4", persistentVolumeClaim={"claimName": "other"}),
    "a repository": volume("H4", gitRepo={"repository": "https://example.com/x"}),
    "an image as a volume": volume("H7", "image", image={"reference": ELSEWHERE}),
    "an image volume by tag": volume("H7", "digest", image={"reference": "registry.example.com/x:1"}),
    "an image from elsewhere": more("H7", "image", image=ELSEWHERE),
    "a registry whose name begins alike": more(
        "H7", "image", image=ELSEWHERE.replace("evil", "registry.example.com.evil")
    ),
    "an image by tag": more("H7", "digest", image="registry.example.com/x:1"),
    "an init container from elsewhere": pod("H7", "image", initContainers=[{**SIDE, "image": ELSEWHERE}]),
    "a sync option": noted("M1", annotations=MANAGED),
    "all GPUs by a variable": more("M2", "device", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]),
    "one GPU by a variable": more("M2", "device", env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "0"}]),
    "GPUs by a Secret": more(
        "M2",
        "device",
        env=[{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"secretKeyRef": {"name": "tokens", "key": "x"}}}],
    ),
    "AMD's variable": more("M2", "device", env=[*SIDE["env"], {"name": "AMD_VISIBLE_DEVICES", "value": "all"}]),
    "Habana's variable": more("M2", "device", env=[*SIDE["env"], {"name": "HABANA_VISIBLE_DEVICES", "value": "all"}]),
    "Ascend's variable": more("M2", "device", env=[*SIDE["env"], {"name": "ASCEND_VISIBLE_DEVICES", "value": "0-7"}]),
    "adapters by a variable": more("M2", "device", env=[*SIDE["env"], {"name": "NVIDIA_MOFED", "value": "enabled"}]),
    "channels by a variable": more(
        "M2", "device", env=[*SIDE["env"], {"name": "NVIDIA_IMEX_CHANNELS", "value": "all"}]
    ),
    "MIG by a variable": more(
        "M2", "device", env=[*SIDE["env"], {"name": "NVIDIA_MIG_CONFIG_DEVICES", "value": "all"}]
    ),
    "the variable left to the image": more("M2", "device", env=[]),
    "the variable left to the image, wherever the pod lands": pod(
        "M2", "device", nodeSelector=None, containers=[{**SIDE, "env": []}]
    ),
    "the runtime of NVIDIA": pod("M2", "device", runtimeClassName="nvidia"),
    "a Secret as a volume": volume("M3", "secret", secret={"secretName": "other"}),
    "a Secret as files among others": volume("M3", "secret", projected={"sources": [{"secret": {"name": "other"}}]}),
    "a Secret as a variable": more(
        "M3", "secret", env=[*SIDE["env"], {"name": "X", "valueFrom": {"secretKeyRef": {"name": "other", "key": "x"}}}]
    ),
    "a Secret as variables": more("M3", "secret", envFrom=[{"secretRef": {"name": "other"}}]),
    "a Secret without a name as variables": more("M3", "secret", envFrom=[{"secretRef": {}}]),
    "a Secret without a name in a variable": more(
        "M3", "secret", env=[*SIDE["env"], {"name": "A", "valueFrom": {"secretKeyRef": {"key": "a"}}}]
    ),
    "a Secret of a registry without a name": pod("M3", "secret", imagePullSecrets=[{}]),
    "a Secret of a registry": pod("M3", "secret", imagePullSecrets=[{"name": "other"}]),
    "another's ConfigMap": volume("M3", "config", configMap={"name": "other"}),
    "an account that is not listed": pod("M3", "account", serviceAccountName="someone"),
    "an account by its old name": pod("M3", "account", serviceAccount="someone"),
    "a token of nobody in particular": pod("M3", "account", automountServiceAccountToken=True),
    "a token by default": pod("M3", "account", automountServiceAccountToken=None),
    "kube2iam": noted("M4", annotations={"iam.amazonaws.com/role": "ads-production"}),
    "Vault": noted("M4", annotations={"vault.hashicorp.com/role": "ads"}),
    "Calico": noted("M4", annotations={"cni.projectcalico.org/ipAddrs": '["10.0.0.1"]'}),
    "Multus' default network": noted("M4", annotations={"v1.multus-cni.io/default-network": "kube-system/x"}),
    "a network that is not the fabric's": noted("M4", annotations={"k8s.v1.cni.cncf.io/networks": "ads/rail-0"}),
    "devices of CRI-O": noted("M4", annotations={"io.kubernetes.cri-o.Devices": "/dev/sda"}),
    "a profile by annotation": noted(
        "M4", annotations={"container.apparmor.security.beta.kubernetes.io/side": "unconfined"}
    ),
    "Istio": noted("M4", labels={"sidecar.istio.io/inject": "true"}),
    "Grafana": noted("M4", labels={"grafana_dashboard": "1"}),
    "an identity of Azure's by a plain word": noted("M4", labels={"aadpodidbinding": "ads"}),
    "another's workload": noted("M4", labels={"kueue.x-k8s.io/prebuilt-workload-name": "ads"}),
    "another team's label": noted("M4", labels={"trainyard.dev/team": "ads"}),
    "another run's label": noted("M4", labels={"trainyard.dev/run": "other-aaaaaaaa"}),
    "files with a token of nobody in particular": volume(
        "M3", "account", projected={"sources": [{"serviceAccountToken": {"path": "token", "audience": "vault"}}]}
    ),
    "no GPUs that are said to be some": more(
        "M2",
        "device",
        env=[],
        resources={**SIDE["resources"], "limits": {**SIDE["resources"]["limits"], "nvidia.com/gpu": 0}},
    ),
    "another device of NVIDIA's": more(
        "M2",
        "device",
        env=[],
        resources={**SIDE["resources"], "limits": {**SIDE["resources"]["limits"], "nvidia.com/hostdev": 1}},
    ),
    "a pool by affinity alone": pod("M2", "device", nodeSelector=None, containers=[{**SIDE, "env": []}]),
    "a digest with a line after it": more("H7", "digest", image=IMAGE + "\n"),
    "a policy of names that is a map": pod("C3", "host", dnsPolicy={}),
    "a taint whose name is a list": pod("H2", "place", tolerations=[{"key": ["x"], "operator": "Exists"}]),
    "a probe of the node itself": more(
        "C3", "host", readinessProbe={"httpGet": {"path": "/", "port": 10248, "host": "127.0.0.1"}}
    ),
    "a port of the node that a probe knocks at": more(
        "C3", "host", startupProbe={"tcpSocket": {"port": 22, "host": "localhost"}}
    ),
    "a hook that asks the node": more(
        "C3", "host", lifecycle={"preStop": {"httpGet": {"path": "/", "port": 10248, "host": "::1"}}}
    ),
    "no folder of the node in particular": volume("C3", hostPath={}),
    "a variable of devices in two parts": more(
        "M2", "device", envFrom=[{"prefix": "NVIDIA_", "secretRef": {"name": "tokens"}}]
    ),
    "a variable of another vendor's in two parts": more(
        "M2", "device", envFrom=[{"prefix": "HABANA_VISIBLE_", "secretRef": {"name": "tokens"}}]
    ),
    "a claim of devices by its name": pod("M2", "device", resourceClaims=[{"name": "c", "resourceClaimName": "all"}]),
    "a claim from nobody's template": pod(
        "M2", "device", resourceClaims=[{"name": "c", "resourceClaimTemplateName": "all-gpus"}]
    ),
    "another run's channel": pod(
        "M2", "device", resourceClaims=[{"name": "c", "resourceClaimTemplateName": "other-aaaaaaaa-channel"}]
    ),
    "a claim of nothing": pod("M2", "device", resourceClaims=[{"name": "c"}]),
    "31 years to end": pod("M5", "grace", terminationGracePeriodSeconds=1_000_000_000),
    "a hook that sleeps": more("M5", "grace", lifecycle={"preStop": {"sleep": {"seconds": 1_000_000}}}),
    "a probe that ends late": more(
        "M5", "grace", livenessProbe={"exec": {"command": ["true"]}, "terminationGracePeriodSeconds": 10_000_000}
    ),
    "an owner": noted("M5", "controller", ownerReferences=[{"name": "x"}]),
    "a finalizer": noted("M5", "controller", finalizers=["example.com/stay"]),
    "no resources": more("M5", "resources", resources=None),
    "requests of nothing": more(
        "M5",
        "resources",
        resources={"requests": {"cpu": "0", "memory": "0"}, "limits": {"cpu": "500", "memory": "1Ti"}},
    ),
    "requests of little": more(
        "M5",
        "resources",
        resources={"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "500", "memory": "1Ti"}},
    ),
    "memory without a limit": more("M5", "resources", resources={"requests": {"cpu": "1", "memory": "1Gi"}}),
    "no CPU": more("M5", "resources", resources={"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}),
    "more disk than it requests": more("M5", "resources", resources=disk(requests="1Gi", limits="100Ti")),
    "an empty folder that is larger than the pod may be": volume("M5", "resources", emptyDir={"sizeLimit": "100Ti"}),
    "memory that is larger than the pod may be": volume(
        "M5", "resources", emptyDir={"medium": "Memory", "sizeLimit": "100Ti"}
    ),
    "an image of the folder above": more("H7", "digest", image=f"registry.example.com/../evil{DIGEST}"),
    "an image of a folder above, further on": more("H7", "digest", image=f"registry.example.com/a/../../evil{DIGEST}"),
    "an image with an empty part": more("H7", "digest", image=f"registry.example.com//evil{DIGEST}"),
    "an image in capitals": more("H7", "digest", image=f"registry.example.com/Evil{DIGEST}"),
    "an image with two digests": more("H7", "digest", image=f"registry.example.com/x{DIGEST}{DIGEST}"),
    "an image with another digest": more("H7", "digest", image=f"registry.example.com/x@sha512:{'a' * 128}"),
    "an image with digits in capitals": more("H7", "digest", image=f"registry.example.com/x{DIGEST.upper()}"),
    "an image with a name without end": more("H7", "digest", image=f"registry.example.com/{'a' * 300}{DIGEST}"),
    "a registry for a user": more("H7", "image", image=f"registry.example.com@evil.example.net/x{DIGEST}"),
    "a registry by another port": more("H7", "image", image=f"registry.example.com:443/x{DIGEST}"),
    "a registry in capitals": more("H7", "image", image=f"REGISTRY.example.com/x{DIGEST}"),
    "an image without a registry": more("H7", "image", image=f"python{DIGEST}"),
    "an image volume of the folder above": volume(
        "H7", "digest", image={"reference": f"registry.example.com/../evil{DIGEST}"}
    ),
    "devices by Google's injector": noted(
        "M2", annotations={"devices.gke.io/container.side": "- path: /dev/nvidia0\n"}
    ),
    "networks by Google's webhook": noted("M4", annotations={"networking.gke.io/interfaces": "[]"}),
    "an image on the host's own folder": more("H7", "digest", image=f"registry.example.com/..{DIGEST}"),
    "an image with an escape": more("H7", "digest", image=f"registry.example.com/%2e%2e/x{DIGEST}"),
    "an image with a space before it": more("H7", "image", image=f" registry.example.com/x{DIGEST}"),
    "an image with a tag after its digest": more("H7", "digest", image=f"registry.example.com/x{DIGEST}:v1"),
    "a registry with a dot at its end": more("H7", "image", image=f"registry.example.com./x{DIGEST}"),
    "disk of a container before the others": pod(
        "M5", "resources", initContainers=[{**SIDE, "resources": disk(requests="1m", limits="100Ti")}]
    ),
    "an empty folder by its exponent": volume("M5", "resources", emptyDir={"sizeLimit": "1e18"}),
    "devices by CDI": noted("M2", annotations={"cdi.k8s.io/x": "nvidia.com/gpu=all"}),
    "devices by an injector of NRI": noted("M2", annotations={"devices.nri.io/container.side": "- path: /dev/sda\n"}),
    "mounts by an injector of NRI": noted("M2", annotations={"mounts.nri.io/container.side": "- source: /\n"}),
    "limits by an adjuster of NRI": noted(
        "M2", annotations={"ulimits.nri.containerd.io/container.side": "- type: memlock\n"}
    ),
    "networks as JSON": noted("M4", annotations={"k8s.v1.cni.cncf.io/networks": '[{"name": "rail-0"}]'}),
    "a network by the former key": noted("M4", annotations={"kubernetes.v1.cni.cncf.io/networks": "rail-0"}),
    "an interface of Amazon's": noted("M4", annotations={"vpc.amazonaws.com/pod-eni": "[]"}),
    "a gang of the scheduler's": pod("C3", "field", schedulingGroup={"podGroupName": "x"}),
    "resources of the pod alone": pod("M5", "resources", resources={"limits": {"cpu": "500"}}),
}
"""Tries in pods, which every kind has."""
