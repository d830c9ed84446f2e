"""Pods and pod templates: what the API server says of a pod's specification wherever one is embedded.

Source: k8s.io/kubernetes v1.35.4 pkg/apis/core/validation/validation.go, compared with v1.34.4 and v1.36.3.
"""
