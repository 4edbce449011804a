"""Names that could clash: with those of C++, its macros and libraries, of CUDA, Python, Numba and NumPy, and of evenly."""

from __future__ import annotations

import builtins
import keyword
import random
import re
import unicodedata
from pathlib import Path

import evenly.targets.cpu as cpu
import evenly.targets.cuda as cuda
import evenly.targets.simt as simt

_CPP = """
alignas alignof and_eq asm auto bitand bitor bool case catch char char8_t char16_t class co_await co_return co_yield
compl concept const const_cast consteval constexpr constinit decltype default delete do double dynamic_cast enum explicit
export extern float friend goto inline int long mutable namespace new noexcept not_eq nullptr operator or_eq private
protected public register reinterpret_cast requires restrict short signed sizeof static static_assert static_cast struct
switch template this thread_local throw true false typedef typeid typename union unsigned using virtual void volatile
wchar_t xor xor_eq std size_t uint32_t int64_t final override module typeof __restrict__ __restrict _Complex _Bool _Atomic
_Generic __attribute__ __asm__ __int128 __inline__ __func__ __FILE__ __LINE__ __COUNTER__ __VA_ARGS__ __cplusplus linux unix
"""
_MACROS = """
NULL NAN INFINITY M_PI M_E EOF errno assert stdin stdout stderr HUGE_VAL INT_MAX INT_MIN LONG_MAX UINT32_MAX FLT_MAX DBL_MAX
EXIT_FAILURE RAND_MAX BUFSIZ CHAR_BIT SIZE_MAX I complex signbit isnan isinf isfinite offsetof va_list EV_DEVICE EV_KERNEL
EV_SHARED EV_QUIET EV_ENTRY EV_API
"""
_LIBRARY = """
div abs labs exp exp2 index rindex y0 y1 yn j0 j1 jn gamma lgamma tgamma signgam sin cos tan log pow sqrt floor ceil round
rint fabs fmod remainder hypot erf erfc cbrt atan2 main exit abort time clock signal read write open close link pipe send
printf puts malloc free memcpy memset strlen rand random drand48 sincos scalb logb nan fmin fmax environ daemon select
optarg getline
"""
_GPU = """
threadIdx blockIdx blockDim gridDim warpSize dim3 float2 float4 int2 double2 uint3 uchar4 half __half nv_bfloat16 cudaStream_t
__syncthreads __syncwarp __shfl_sync __ldg __global__ __device__ __shared__ __constant__ __launch_bounds__ __forceinline__
__threadfence atomicAdd atomicCAS atomicMin __popc __ffs __clz __float_as_int __CUDA_ARCH__ __CUDACC__ clock64 rsqrt
min max umin llmax saxpy
"""
_PYTHON = """
self cls np numpy numba math njit prange types list dict set str len range sum max print object type id input iter next hash
vars all any map zip abs round int float Ellipsis NotImplemented __name__ __file__ __doc__ __builtins__ __debug_ _ __ ___
match case soft inf nan pi e intp uint8 int32 int64 float32 float64 complex64 cfunc signature entry pointer carray literally
"""
_NEAR = """
y_ y__ x_ n_ y_1 x_1 n_1 y_2 A_ A_values A_indices A_offsets A_values_ y_extent0 y_extent1 x_extent0 A_offsets_extent0 A_num_tiles
y_given A_given kept_total kept_v v v_1 v_2 i k r row tile atom t state_1 total total_1 truth chosen middle value value_1
kernel_0 spmv_0 names_0 phase_0 out in_ ev ev_ evenly _evenly __evenly__
"""
UNICODE = [
    "ℵ",
    "é",
    "é",
    "λ",
    "Σ",
    "ﬁ",
    "ª",
    "x²"[:1] + "ⅷ",
    "变量",
    "ñ_",
    "ſ",
    "ℌ",
    "K",
    "Å",
    "ᵢ",
    "𝐱",
    "ǆ",
    "naïve",
    "µ",
    "μ",
]
LONG = ["l" * 300, "l" * 299 + "m", "_" * 300, "é" * 150]


def ours() -> list[str]:
    """Return every identifier that evenly emits or that its emitters use."""
    found: set[str] = set()
    for package, kinds in (
        (cuda, ("*.py", "*.cuh")),
        (cpu, ("*.py",)),
        (simt, ("*.py", "*.hpp", "*.cpp")),
    ):
        for kind in kinds:
            for path in Path(package.__file__).parent.rglob(kind):
                found |= set(re.findall(r"\b[A-Za-z_]\w*\b", path.read_text()))
    return sorted(found)


class Names:
    """Draws names, each once a text (after the normalisation that Python makes)."""

    def __init__(self, seed: int, pool: list[str]) -> None:
        self._random, self._pool, self._taken = random.Random(seed), pool, set[str]()

    def __call__(self) -> str:
        while True:
            name = self._random.choice(self._pool)
            plain = unicodedata.normalize("NFKC", name)
            if plain not in self._taken and usable(plain):
                self._taken.add(plain)
                return name

    def member(self) -> str:
        """A field's name: Python itself gives members with two underscores other names."""
        while (name := self()).startswith("_"):
            pass
        return name


TEXT = '''
import evenly as ev


@ev.layout
class {Layout}:
    {offsets}: ev.Array[ev.Index]
    {indices}: ev.Array[ev.Index]
    {values}: ev.Array

    @property
    def num_tiles(self):
        return len(self.{offsets}) - 1

    @property
    def num_atoms(self):
        return len(self.{indices})

    def begin(self, tile):
        return self.{offsets}[tile]

    def end(self, tile):
        {m} = tile + 1
        return self.{offsets}[{m}]

    def column(self, {q}):
        return self.{indices}[{q}]

    def value(self, {q}):
        {m} = self.{values}[{q}]
        return {m}


@ev.schedule
class {Schedule}:
    owner = "thread"

    def launch(self, layout):
        return 2, 32

    def setup(self, layout):
        {a}, {b}, {c} = layout.num_tiles, ev.thread_index(), ev.thread_count()
        return layout, {a}, {b}, {c}

    def tiles(self, state):
        layout, {a}, {b}, {c} = state
        return range({b}, {a}, {c})

    def atoms(self, state, tile):
        {a}, {b}, {c}, {d} = state
        return range({a}.begin(tile), {a}.end(tile))


@ev.func
def {f}({p}, {g}):
    {h} = {p} + {g}
    if {h} > 3:
        {h} = {h} * 2
    return {h}


@ev.kernel
def {kernel}({A}, {x}, {n}, {s}, {y}, {z}, {w}):
    {whole} = 0
    for {t} in {A}.tiles():
        {u} = {n} + {t}
        {v} = 0
        for {k} in {A}.atoms({t}):
            {o} = {x}[{A}.column({k})]
            {v} += {f}({A}.value({k}), {o}) + {o}
        if {u} > 5:
            {u} = {u} - {n}
        {y}[{t}] = {v} + {u} * {n}
        {z}[{t}, 1] = {y}[{t}] + {s}
        {whole} += {u}
    {w}[0] = {whole} + {n}
'''  # fmt: skip
PLACES = sorted(set(re.findall(r"\{(\w+)\}", TEXT)))
FIXED = {"__debug__", *re.findall(r"\w+", re.sub(r"\{\w+\}", "", TEXT))}


def usable(name: str) -> bool:
    """Whether Python accepts a name, and the text is still the same kernel with it."""
    return name.isidentifier() and not keyword.iskeyword(name) and name not in FIXED


NASTY = [
    n
    for n in dict.fromkeys(
        (*f"{_CPP} {_MACROS} {_LIBRARY} {_GPU} {_PYTHON} {_NEAR}".split(), *UNICODE, *LONG)
    )
    if usable(n)
]
BUILTINS = [n for n in dir(builtins) if usable(n) and not n.startswith("__")]


def plain_text() -> dict[str, str]:
    """The text with names that meet nothing."""
    chosen = {p: f"plain{i}" for i, p in enumerate(PLACES)}
    return {**chosen, "": TEXT.format(**chosen)}


def text_of(seed: int, pool: list[str]) -> dict[str, str]:
    """Draw a name for each place of the text. The key "" has the text itself."""
    names = Names(seed, pool)
    chosen = {
        p: names.member() if p in ("offsets", "indices", "values") else names() for p in PLACES
    }
    return {**chosen, "": TEXT.format(**chosen)}
