"""What charts are assembled from; importing it makes Node ready, since cdk8s starts Node when it is imported."""

from trainyard.system.node import point_jsii_at_node

point_jsii_at_node()
