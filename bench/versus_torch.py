#!/usr/bin/python3
"""One round of a reference network in PyTorch on one thread; bench/versus starts it, with the environment that PyTorch is
fastest in. Prints one line of JSON.

    versus_torch.py NETWORK ATTENTION SECONDS

NETWORK is what `posbench speed --reference --format json` says of a network: {"width", "layers", "heads", "len", "batch",
"vocab", "training"}. ATTENTION is `whole` (all scores of a head at once) or `rows` (blocks of rows, each against the keys up to
its last row, so that half of the products is saved and the scores stay in the cache).

The network is that of posbench: decoder, pre-norm, GELU, biases in all linear maps, untied head, AdamW that decays the
matrices; no position encoding, no dropout. Where there is a choice it is what PyTorch is fastest with: GELU by the error
function (its tanh form takes longer), no clipping of gradients, plain functions instead of modules, one call of each
operation for all parameters in the optimiser (foreach), batches that were drawn before.
"""
import json
import sys
import time

import torch
import torch.nn.functional as F

BLOCK_ROWS = 256


class Network:
    def __init__(self, width, layers, heads, vocab, length, attention):
        self.heads, self.head_dim = heads, width // heads
        self.attention = self.rows if attention == "rows" else self.whole
        self.mask = torch.full((length, length), float("-inf")).triu(1)
        self.matrices, self.vectors = [], []
        self.token = self.matrix(vocab, width)
        self.layers = [
            {
                "norm1": self.norm(width),
                "qkv": self.linear(width, 3 * width),
                "proj": self.linear(width, width),
                "norm2": self.norm(width),
                "fc1": self.linear(width, 4 * width),
                "fc2": self.linear(4 * width, width),
            }
            for _ in range(layers)
        ]
        self.norm_f = self.norm(width)
        self.head = self.linear(width, vocab)

    def matrix(self, rows, columns):
        self.matrices.append((torch.randn(rows, columns) * 0.02).requires_grad_())
        return self.matrices[-1]

    def vector(self, values):
        self.vectors.append(values.requires_grad_())
        return self.vectors[-1]

    def linear(self, inputs, outputs):
        return self.matrix(outputs, inputs), self.vector(torch.zeros(outputs))

    def norm(self, width):
        return (width,), self.vector(torch.ones(width)), self.vector(torch.zeros(width))

    def whole(self, q, k, v):
        """q, k, v: [batch * heads, length, head_dim]. The mask is added by the product of the scores."""
        scores = torch.baddbmm(self.mask, q, k.transpose(1, 2), alpha=self.head_dim**-0.5)
        return torch.bmm(F.softmax(scores, -1), v)

    def rows(self, q, k, v):
        length, out = q.shape[1], []
        for begin in range(0, length, BLOCK_ROWS):
            end = min(begin + BLOCK_ROWS, length)
            scores = torch.baddbmm(
                self.mask[begin:end, :end], q[:, begin:end], k[:, :end].transpose(1, 2), alpha=self.head_dim**-0.5
            )
            out.append(torch.bmm(F.softmax(scores, -1), v[:, :end]))
        return torch.cat(out, 1)

    def loss(self, tokens, target):
        batch, length = tokens.shape
        x = F.embedding(tokens, self.token)
        for layer in self.layers:
            qkv = F.linear(F.layer_norm(x, *layer["norm1"]), *layer["qkv"])
            qkv = qkv.view(batch, length, 3, self.heads, self.head_dim).permute(2, 0, 3, 1, 4)
            q, k, v = qkv.reshape(3, batch * self.heads, length, self.head_dim).unbind(0)
            o = self.attention(q, k, v).view(batch, self.heads, length, self.head_dim).transpose(1, 2)
            x = x + F.linear(o.reshape(batch, length, -1), *layer["proj"])
            hidden = F.linear(F.layer_norm(x, *layer["norm2"]), *layer["fc1"])
            x = x + F.linear(F.gelu(hidden, approximate="none"), *layer["fc2"])
        logits = F.linear(F.layer_norm(x, *self.norm_f), *self.head)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), target.view(-1))


def resident_peak():
    """The most memory that this program has held, in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def main():
    shape, attention, seconds = json.loads(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    network = Network(shape["width"], shape["layers"], shape["heads"], shape["vocab"], shape["len"], attention)
    groups = [{"params": network.matrices, "weight_decay": 0.01}, {"params": network.vectors, "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.98), foreach=True) if shape["training"] else None
    batches = torch.randint(0, shape["vocab"], (16, shape["batch"], shape["len"] + 1))
    batches = [(b[:, :-1].contiguous(), b[:, 1:].contiguous()) for b in batches]

    def step(n):
        tokens, target = batches[n % len(batches)]
        if not shape["training"]:
            with torch.inference_mode():
                return network.loss(tokens, target).item()
        optimiser.zero_grad(set_to_none=True)
        loss = network.loss(tokens, target)
        loss.backward()
        optimiser.step()
        return None

    step(0)
    first_step_at = time.monotonic()
    for n in range(1, 3):
        step(n)
    times, begin, n = [], time.process_time(), 3
    while not times or time.process_time() - begin < seconds:
        before = time.process_time()
        step(n)
        times.append(time.process_time() - before)
        n += 1
    step_seconds = sorted(times)[len(times) // 2]
    print(
        json.dumps(
            {
                "version": torch.__version__,
                "first_step_at": first_step_at,
                "step_seconds": step_seconds,
                "tokens_per_second": shape["batch"] * shape["len"] / step_seconds,
                "resident_bytes": resident_peak(),
            }
        )
    )


main()
