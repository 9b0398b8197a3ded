"""Machines of which tables of nccl-tests (or rccl-tests) are published, and the shipped descriptions that stand
for them. For docs/machines.md; of the tables themselves, those named *-aic ship (configs/measurements/).
"""

import typing


class Measured(typing.NamedTuple):
    """Machines that one description stands for."""

    machines: str  # their names, as in the field `machine` of a table
    published: str  # by whom, or in which repository of GitHub
    cluster: str  # empty: none does
    settings: tuple  # of --set, so that the largest of their tables has its nodes
    differs: str  # what their sources do not tell, or tell otherwise


SHARP = "SHARP with `--set fabric.reduction=sharp --set environment.NCCL_COLLNET_ENABLE=1`"

MEASURED = [
    Measured("a100-hdr-sharp-coreweave", "coreweave/nccl-tests",
             "dgx-a100-x4", (), f"its NICs are not told: eight of 200 Gb/s taken; {SHARP}"),
    Measured("a100-ib-crusoe", "dstackai/dstack", "dgx-a100-x4", ("nodes=2",), ""),
    Measured("a100-pcie-simula-local", "thomaslie210/NCCL_Test_Results", "a100-pcie", (), ""),
    Measured("a100-pcie-simula-ib_gdr", "thomaslie210/NCCL_Test_Results",
             "a100-pcie-x2", (), "GPU 1 of each node, the one next to the NIC"),
    Measured("a100-sxm-aic", "ai-dynamo/aiconfigurator", "dgx-a100", (), ""),
    Measured("a100x4-mesh-1node", "chuhan-ouyang/nccl-tests", "perlmutter", ("nodes=1",), ""),
    Measured("a100x8-nvswitch-coreweave a100x8-nvswitch-coreweave-2 a100x8-nvswitch-coreweave-3 "
             "a100x8-nvswitch-coreweave-4 a100x8-nvswitch-coreweave-5 a100x8-nvswitch-coreweave-6 "
             "a100x8-nvswitch-coreweave-7",
             "abhivijay96/nccl-tests",
             "dgx-a100", (), "NCCL 2.7.3, which a log of the publisher names, the tables not: `--nccl 2.7.3`"),
    Measured("a3mega-gcp", "dstackai/dstack, GoogleCloudPlatform/cluster-toolkit, lessizzmore/create-a3mega-ztan-fork",
             "gcp-a3-mega", (), ""),
    Measured("a3ultra-gcp a3ultra-gcp-2", "GoogleCloudPlatform/cluster-toolkit, kubernetes-sigs/dranet",
             "gcp-a3-ultra", (), ""),
    Measured("a4-gcp a4-gcp-2 a4-gcp-3",
             "a public readme on DeepEP/NCCL tests on GKE A4, dstackai/dstack, GoogleCloudPlatform/cluster-toolkit, "
             "kubernetes-sigs/dranet",
             "gcp-a4", (), ""),
    Measured("b200-sxm-aic b200x8-issue333", "ai-dynamo/aiconfigurator, NVIDIA/nccl-tests#333", "dgx-b200", (), ""),
    Measured("b200x8-ndr-together-md1", "togethercomputer/together-nccl-tests",
             "dgx-b200-superpod", ("nodes=16",), "its fabric is not told"),
    Measured("b300x8-eunomia", "eunomia-bpf/nccl-eBPF", "hgx-b300", (), ""),
    Measured("b300x8-oci", "oracle-quickstart/oci-gpu-quickstarts", "oci-b300", ("nodes=2",), ""),
    Measured("dgx1-v100-deepops dgx1-v100-deepops-2", "NVIDIA/deepops",
             "dgx-1v-x2", (), "of the second one: a DGX-1V is likely, not told"),
    Measured("dgx2-v100", "wohlbier/nccl-tests", "dgx-2", (), ""),
    Measured("dgxa100-hdr-deepops", "NVIDIA/deepops", "dgx-a100-x4", ("nodes=2",), "NICs shared with virtual machines"),
    Measured("dgxa100-hdr-deepops-2", "NVIDIA/deepops", "dgx-a100-x4", (), ""),
    Measured("gb200-aic gb200-nvl72-coreweave", "ai-dynamo/aiconfigurator, coreweave/nccl-tests", "gb200-nvl72", (), ""),
    Measured("gb200-nvl72-coreweave-2", "coreweave/nccl-tests",
             "gb200-nvl72-racks", ("nodes=2",), "its NICs, and which trays it used, are not told"),
    Measured("gb200-nvl72-coreweave-3", "coreweave/nccl-tests",
             "gb200-nvl72-racks", ("nodes=20", "fabric.core={ports: 64}"), "its NICs are not told"),
    Measured("gb300-nvl72-oci gb300-nvl72-oci-2", "oracle-quickstart/oci-gpu-quickstarts",
             "oci-gb300", ("nodes=2",), "of the second one, which trays it used is not told"),
    Measured("gh200x4-alps gh200x4-alps-2", "boeschf/nccl-benchmark-on-alps-2025, eth-cscs/cscs-docs",
             "alps", ("nodes=128",), "which nodes it used is not told"),
    Measured("h100-ndr-sharp-coreweave", "coreweave/nccl-tests",
             "dgx-h100-superpod", ("nodes=12",), SHARP),
    Measured("h100-sxm-aic h100x8-together h100x8-wayne h100x8-wayne-2 h100x8-wayne-3",
             "ai-dynamo/aiconfigurator, togethercomputer/together-nccl-tests, waynehacking8/nccl-collectives-bench",
             "dgx-h100", (),
             "the second one's reduce_scatter named NVLS has its Ring's times; "
             "the third one's script launches all tables from one process (`-g 4`)"),
    Measured("h100x8-xxrjun00 h100x8-xxrjun00-2 h100x8-xxrjun00-3", "xxrjun/nccl-tests-cluster",
             "dgx-h100-x4", ("nodes=2",), "its NICs are not told, and are slower: about 100 GB/s a node"),
    Measured("h100pcie-nvlbridge", "NVIDIA/nccl#1161", "h100-pcie-bridge", (), ""),
    Measured("h200x8-azure", "public notes on an Azure H200 driver set-up", "dgx-h200", (), ""),
    Measured("h200x8-bf3-dell", "a public OpenShift/Dell H200 RDMA walkthrough",
             "gcp-a3-ultra", (), "other NICs of the same rate"),
    Measured("h800x8", "Panlichen/nccl-tests", "hgx-h800", (), ""),
    Measured("l40s-aic", "ai-dynamo/aiconfigurator", "l40s", (), "its CPUs are not told: as NCCL's choice and its times say"),
    Measured("l40s-openshift l40s-openshift-2", "a public OpenShift L40S RDMA walkthrough", "", (), "its NIC is not told"),
    Measured("mi300x-aac8", "hisohara/ai-scripts", "mi300x", (), ""),
    Measured("mi300x-aac10", "hisohara/ai-scripts", "mi300x-x8", (), ""),
    Measured("mi355x-oci", "oracle-quickstart/oci-gpu-quickstarts", "oci-mi355x", (), ""),
    Measured("p4de-efa-aws", "aws-samples/awsome-distributed-training", "aws-p4de", (), ""),
    Measured("p5-efa-aws", "aws-samples/aws-do-eks, aws-samples/awsome-distributed-training, KeitaW/p5-nccl-test-2024-07-19",
             "aws-p5-ofi", (), ""),
    Measured("polaris-alcf", "argonne-lcf/alcf-nccl-tests", "polaris", ("nodes=540",), "which nodes it used is not told"),
    Measured("rtx-pro-6000-server-aic", "ai-dynamo/aiconfigurator", "rtx-pro-6000-server", (),
             "its CPUs are not told: as NCCL's choice and its times say"),
    Measured("rtxpro6000x8-wrx90", "voipmonitor/rtx6kpro", "rtx-pro-6000", (), ""),
    Measured("rtx2080ti-nvlbridge", "NVIDIA/nccl-tests#44", "rtx2080ti-bridge", (), ""),
    Measured("rtx3090x8-oneflow", "Panlichen/nccl-tests", "rtx3090", (), "inside a node; its network is not told"),
    Measured("rtx4090x8-paracloud rtx4090x8-paracloud-2", "Panlichen/nccl-tests", "rtx4090", (), ""),
    Measured("rtx6000d-cx8", "a public RTX 6000D + ConnectX-8 test report", "rtx-6000d-cx8", (), ""),
    Measured("rtxa6000-yccl", "zy-uestc/yccl", "", (), "neither its PCIe nor its bridges are told"),
    Measured("v100-nig", "documentation of the NIG supercomputer", "v100-nig", (), ""),
    Measured("v100-p3dn-aws", "zarzen/nccl-tests", "aws-p3dn", ("nodes=4",), "one GPU of each node"),
    Measured("v100x8-sxm2-cubemesh", "a public blog post on NCCL", "dgx-1v", (), ""),
]
