#!/usr/bin/env python3
"""ctypes_v1: bindings written for CUDA 10: Python's ctypes, the un-suffixed symbols of the driver library,
kernel arguments packed into one buffer that is used again for every call.

Every node is sent before each launch; each tenth step one argument of one node differs. The results are
compared with the program's own. It knows nothing of libvaremap or the fake GPU.
"""
import argparse
import ctypes
import struct
import sys

PTX = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry mix(.param .u64 to, .param .u64 from, .param .u32 factor, .param .u32 count)
{
    .reg .pred %p;
    .reg .b32 %r<7>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [to];
    ld.param.u64 %d2, [from];
    ld.param.u32 %r1, [factor];
    ld.param.u32 %r2, [count];
    mov.u32 %r3, %tid.x;
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

COUNT = 64
EXTRA_END, EXTRA_BUFFER, EXTRA_SIZE = 0, 1, 2
MASK = (1 << 32) - 1


class KernelNodeParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v1: 56 bytes, without kernel and context."""

    _fields_ = [
        ("func", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("params", ctypes.c_void_p),
        ("extra", ctypes.c_void_p),
    ]


assert ctypes.sizeof(KernelNodeParams) == 56

library = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    error = getattr(library, name)(*arguments)
    if error:
        sys.exit(f"ctypes_v1: {name} failed: {error}")


class Packed:
    """One buffer for the packed arguments of all calls, and the node parameters that point to it."""

    def __init__(self, function):
        self.buffer = ctypes.create_string_buffer(24)
        self.size = ctypes.c_size_t(24)
        self.extra = (ctypes.c_void_p * 5)(
            EXTRA_BUFFER, ctypes.addressof(self.buffer), EXTRA_SIZE, ctypes.addressof(self.size), EXTRA_END
        )
        one = (ctypes.c_uint * 3)(1, 1, 1)
        block = (ctypes.c_uint * 3)(COUNT, 1, 1)
        self.params = KernelNodeParams(
            func=function.value, grid=one, block=block, extra=ctypes.addressof(self.extra)
        )

    def of(self, to, source, factor):
        struct.pack_into("=QQII", self.buffer, 0, to, source, factor, COUNT)
        return ctypes.byref(self.params)


class Program:
    def __init__(self, nodes):
        context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.device, self.graph, self.executable = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDeviceGet", ctypes.byref(self.device), 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        call("cuCtxSetCurrent", context)
        call("cuModuleLoadData", ctypes.byref(module), PTX)
        call("cuModuleGetFunction", ctypes.byref(function), module, b"mix")
        self.packed = Packed(function)
        self.factors = [3 * k + 1 for k in range(nodes)]
        self.buffers = [self.new_buffer(k + 1) for k in range(nodes + 1)]
        self.nodes = [ctypes.c_void_p() for _ in range(nodes)]
        call("cuGraphCreate", ctypes.byref(self.graph), 0)
        for k, node in enumerate(self.nodes):
            behind = (ctypes.c_void_p * 1)(self.nodes[k - 1] if k else None)
            call(
                "cuGraphAddKernelNode", ctypes.byref(node), self.graph, behind,
                ctypes.c_size_t(min(k, 1)), self.arguments(k),
            )
        call("cuGraphInstantiateWithFlags", ctypes.byref(self.executable), self.graph, ctypes.c_uint64(0))

    @staticmethod
    def new_buffer(first):
        """Device memory, and what it must hold."""
        model = [(first * 7919 + i * 104729) & MASK for i in range(COUNT)]
        data = (ctypes.c_uint32 * COUNT)(*model)
        device = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(device), ctypes.c_size_t(ctypes.sizeof(data)))
        call("cuMemcpyHtoD_v2", device, data, ctypes.c_size_t(ctypes.sizeof(data)))
        return device, model

    def arguments(self, k):
        return self.packed.of(self.buffers[k + 1][0].value, self.buffers[k][0].value, self.factors[k])

    def step(self, number):
        if number % 10 == 9:
            self.factors[number // 10 % len(self.nodes)] += number
        for k, node in enumerate(self.nodes):
            call("cuGraphExecKernelNodeSetParams", self.executable, node, self.arguments(k))
            to, source = self.buffers[k + 1][1], self.buffers[k][1]
            to[:] = [(to[i] * self.factors[k] + source[i]) & MASK for i in range(COUNT)]
        call("cuGraphLaunch", self.executable, None)

    def check(self):
        """A checksum over all buffers, which must hold what the model says."""
        total = 0xCBF29CE484222325
        for device, model in self.buffers:
            got = (ctypes.c_uint32 * COUNT)()
            call("cuMemcpyDtoH_v2", got, device, ctypes.c_size_t(ctypes.sizeof(got)))
            if list(got) != model:
                sys.exit("ctypes_v1: a buffer does not hold what it must")
            for byte in bytes(got):
                total = (total ^ byte) * 0x100000001B3 & ((1 << 64) - 1)
        return total

    def clean_up(self):
        call("cuGraphExecDestroy", self.executable)
        call("cuGraphDestroy", self.graph)
        for device, _ in self.buffers:
            call("cuMemFree_v2", device)
        call("cuDevicePrimaryCtxRelease_v2", self.device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=8)
    options = parser.parse_args()
    program = Program(options.nodes)
    for number in range(options.steps):
        program.step(number)
    total = program.check()
    program.clean_up()
    print(f"updates {options.steps * options.nodes}\nlaunches {options.steps}\nchecksum {total:016x}")


main()
