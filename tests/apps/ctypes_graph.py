#!/usr/bin/env python3
"""ctypes_graph: a program without a compiler: Python calls the driver library through ctypes.

It loads PTX text, builds a graph of two kernel nodes, sends them other arguments before each launch,
reads the result back and compares it with its own. It knows nothing of libvaremap or the fake GPU.
"""
import argparse
import ctypes
import sys

PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry scale(.param .u64 to, .param .u64 from, .param .u32 factor, .param .u32 count)
{
    .reg .pred %p;
    .reg .b32 %r<7>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [to];
    ld.param.u64 %d2, [from];
    ld.param.u32 %r1, [factor];
    ld.param.u32 %r2, [count];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mad.lo.u32 %r3, %r4, %r5, %r3;
    setp.ge.u32 %p, %r3, %r2;
    @%p bra done;
    mul.wide.u32 %d3, %r3, 4;
    add.u64 %d1, %d1, %d3;
    add.u64 %d2, %d2, %d3;
    ld.global.u32 %r5, [%d1];
    ld.global.u32 %r6, [%d2];
    mad.lo.u32 %r5, %r5, %r1, %r6;
    st.global.u32 [%d1], %r5;
done:
    ret;
}
"""

COUNT = 1000
BLOCK = 128
DEVICE_POINTER = ctypes.c_uint64


class KernelNodeParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""

    _fields_ = [
        ("func", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("params", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.POINTER(ctypes.c_void_p)),
        ("kern", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


class Driver:
    """The driver library; a call that fails ends the program."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")

    def __getattr__(self, name):
        function = getattr(self.driver, name)
        function.restype = ctypes.c_int

        def call(*arguments):
            error = function(*arguments)
            if error:
                sys.exit(f"ctypes_graph: {name} failed: {error}")

        return call


def random_numbers(state):
    """A splitmix64 sequence, as the other sample programs use."""
    mask = (1 << 64) - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        x = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        yield x ^ (x >> 31)


def checksum(data):
    """FNV-1a, 64 bits."""
    total = 0xCBF29CE484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001B3 & ((1 << 64) - 1)
    return total


class Arguments:
    """The arguments of one kernel node; what the node's parameters point to lives as long as this."""

    def __init__(self, function, to, source, factor):
        self.values = [
            DEVICE_POINTER(to.value),
            DEVICE_POINTER(source.value),
            ctypes.c_uint32(factor),
            ctypes.c_uint32(COUNT),
        ]
        self.pointers = (ctypes.c_void_p * 4)(*[ctypes.addressof(v) for v in self.values])
        self.node = KernelNodeParams(
            func=function.value,
            grid=(ctypes.c_uint * 3)((COUNT + BLOCK - 1) // BLOCK, 1, 1),
            block=(ctypes.c_uint * 3)(BLOCK, 1, 1),
            params=self.pointers,
        )


class Program:
    def __init__(self, seed):
        self.cuda = Driver()
        self.random = random_numbers(seed)
        self.context = ctypes.c_void_p()
        self.module = ctypes.c_void_p()
        self.function = ctypes.c_void_p()
        self.stream = ctypes.c_void_p()
        device = ctypes.c_int()
        self.cuda.cuInit(0)
        self.cuda.cuDeviceGet(ctypes.byref(device), 0)
        self.device = device
        self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), device)
        self.cuda.cuCtxSetCurrent(self.context)
        self.cuda.cuModuleLoadData(ctypes.byref(self.module), PTX)
        self.cuda.cuModuleGetFunction(ctypes.byref(self.function), self.module, b"scale")
        self.cuda.cuStreamCreate(ctypes.byref(self.stream), 1)
        self.buffers = [self.new_buffer() for _ in range(3)]

    def new_buffer(self):
        """Device memory and what it must hold."""
        model = [next(self.random) & 0xFFFFFFFF for _ in range(COUNT)]
        data = (ctypes.c_uint32 * COUNT)(*model)
        device = DEVICE_POINTER()
        self.cuda.cuMemAlloc_v2(ctypes.byref(device), ctypes.c_size_t(ctypes.sizeof(data)))
        self.cuda.cuMemcpyHtoD_v2(device, data, ctypes.c_size_t(ctypes.sizeof(data)))
        return device, model

    def arguments(self, step, node):
        """The arguments of a node in a step, and their effect on the model."""
        to = self.buffers[(step + node) % 3]
        source = self.buffers[(step + node + 1) % 3]
        factor = next(self.random) & 0xFFFFFFFF
        for i in range(COUNT):
            to[1][i] = (to[1][i] * factor + source[1][i]) & 0xFFFFFFFF
        return Arguments(self.function, to[0], source[0], factor)

    def build(self):
        """Two nodes, one after the other; every step sends them arguments before it launches."""
        self.graph = ctypes.c_void_p()
        self.executable = ctypes.c_void_p()
        self.nodes = [ctypes.c_void_p(), ctypes.c_void_p()]
        first = Arguments(self.function, self.buffers[0][0], self.buffers[1][0], 1)
        self.cuda.cuGraphCreate(ctypes.byref(self.graph), 0)
        for i, node in enumerate(self.nodes):
            behind = (ctypes.c_void_p * 1)(self.nodes[0])
            self.cuda.cuGraphAddKernelNode_v2(
                ctypes.byref(node), self.graph, behind, ctypes.c_size_t(i), ctypes.byref(first.node)
            )
        self.cuda.cuGraphInstantiateWithFlags(
            ctypes.byref(self.executable), self.graph, ctypes.c_uint64(0)
        )

    def step(self, number):
        for i, node in enumerate(self.nodes):
            arguments = self.arguments(number, i)
            self.cuda.cuGraphExecKernelNodeSetParams_v2(
                self.executable, node, ctypes.byref(arguments.node)
            )
        self.cuda.cuGraphLaunch(self.executable, self.stream)
        self.cuda.cuStreamSynchronize(self.stream)

    def check(self):
        """The checksum over all buffers, which must hold what the model says."""
        data = b""
        for index, (device, model) in enumerate(self.buffers):
            got = (ctypes.c_uint32 * COUNT)()
            self.cuda.cuMemcpyDtoH_v2(got, device, ctypes.c_size_t(ctypes.sizeof(got)))
            for i, (left, right) in enumerate(zip(got, model)):
                if left != right:
                    sys.exit(f"ctypes_graph: buffer {index}[{i}]: the device says {left}, not {right}")
            data += bytes(got)
        return checksum(data)

    def clean_up(self):
        self.cuda.cuGraphExecDestroy(self.executable)
        self.cuda.cuGraphDestroy(self.graph)
        for device, _ in self.buffers:
            self.cuda.cuMemFree_v2(device)
        self.cuda.cuStreamDestroy_v2(self.stream)
        self.cuda.cuModuleUnload(self.module)
        self.cuda.cuDevicePrimaryCtxRelease_v2(self.device)


def main():
    parser = argparse.ArgumentParser(description="a graph driven from Python through ctypes")
    parser.add_argument("--steps", type=int, default=20, help="updates and launches of the graph")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers")
    options = parser.parse_args()
    program = Program(options.seed)
    program.build()
    for number in range(options.steps):
        program.step(number)
    total = program.check()
    program.clean_up()
    print(f"updates {2 * options.steps}\nlaunches {options.steps}\nchecksum {total:016x}")


if __name__ == "__main__":
    main()
