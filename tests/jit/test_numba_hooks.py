"""The private parts of Numba that `kibitz.jit.backend` relies on: each is there, and takes what it took."""

import ast
import inspect
import tomllib
from importlib.metadata import version
from pathlib import Path

import numba
import pytest
from numba.core import caching, cgutils, compiler, dispatcher, event, types
from numba.core.codegen import CPUCodegen, CPUCodeLibrary, JITCodeLibrary
from numba.core.datamodel import models
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.extending import overload, overload_method, register_model, typeof_impl
from packaging.requirements import Requirement

from kibitz.jit import kernel

ROOT = Path(__file__).parents[2]
PARAMETERS = {
    # the cache on disk
    "caching._CacheLocator.get_cache_path": (caching._CacheLocator.get_cache_path, "self"),
    "caching._CacheLocator.get_source_stamp": (caching._CacheLocator.get_source_stamp, "self"),
    "caching._CacheLocator.get_disambiguator": (caching._CacheLocator.get_disambiguator, "self"),
    "caching._CacheLocator.from_function": (caching._CacheLocator.from_function, "py_func, py_file"),
    "caching.CacheImpl.__init__": (caching.CompileResultCacheImpl.__init__, "self, py_func"),
    "caching.FunctionCache.__init__": (caching.FunctionCache.__init__, "self, py_func"),
    "caching.FunctionCache.load_overload": (caching.FunctionCache.load_overload, "self, sig, target_context"),
    "caching.FunctionCache.save_overload": (caching.FunctionCache.save_overload, "self, sig, data"),
    "caching.FunctionCache.flush": (caching.FunctionCache.flush, "self"),
    "caching.NullCache.load_overload": (caching.NullCache.load_overload, "self, sig, target_context"),
    "caching.NullCache.save_overload": (caching.NullCache.save_overload, "self, sig, cres"),
    "caching.IndexDataCacheFile": (
        caching.IndexDataCacheFile.__init__, "self, cache_path, filename_base, source_stamp"),
    # compiling
    "_FunctionCompiler._compile_core": (dispatcher._FunctionCompiler._compile_core, "self, args, return_type"),
    "JITCodeLibrary.__init__": (JITCodeLibrary.__init__, "self, codegen, name"),
    "JITCodeLibrary._optimize_final_module": (JITCodeLibrary._optimize_final_module, "self"),
    "JITCodeLibrary._finalize_final_module": (JITCodeLibrary._finalize_final_module, "self"),
    "JITCodeLibrary._finalize_dynamic_globals": (JITCodeLibrary._finalize_dynamic_globals, "self"),
    "JITCodeLibrary._verify_declare_only_symbols": (JITCodeLibrary._verify_declare_only_symbols, "self"),
    "JITCodeLibrary._ensure_finalized": (JITCodeLibrary._ensure_finalized, "self"),
    "JITCodeLibrary.get_pointer_to_function": (JITCodeLibrary.get_pointer_to_function, "self, name"),
    "JITCPUCodegen.set_env": (type(cpu_target.target_context.codegen()).set_env, "self, env_name, env"),
    "ConfigStack.top_or_none": (ConfigStack.top_or_none, ""),
    "event.register": (event.register, "kind, listener"),
    "event.Listener.on_start": (event.Listener.on_start, "self, event"),
    "event.Listener.on_end": (event.Listener.on_end, "self, event"),
    # types and generated code
    "types.NamedTuple": (types.NamedTuple.__init__, "self, types, cls"),
    "overload": (overload, "func, jit_options, strict, inline, prefer_literal, kwargs"),
    "overload_method": (overload_method, "typ, attr, kwargs"),
    "register_model": (register_model, "typecls"),
    "cgutils.alloca_once_value": (cgutils.alloca_once_value, "builder, value, name, zfill"),
    "cgutils.for_range": (cgutils.for_range, "builder, count, start, intp"),
    "cgutils.for_range_slice": (cgutils.for_range_slice, "builder, start, stop, step, intp, inc"),
    "cgutils.get_or_insert_function": (cgutils.get_or_insert_function, "module, fnty, name"),
    "cgutils.pointer_add": (cgutils.pointer_add, "builder, ptr, offset, return_type"),
    "cgutils.raw_memcpy": (cgutils.raw_memcpy, "builder, dst, src, count, itemsize, align"),
}  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_function_of_numba_takes_what_is_given_to_it(name):
    function, parameters = PARAMETERS[name]
    assert ", ".join(inspect.signature(function).parameters) == parameters


@numba.njit
def compiled(x):
    return x + 1


@kernel
def doubled(x):
    return 2 * x


compiled(1)
ATTRIBUTES = {
    "FunctionCache._impl_class": lambda: issubclass(caching.FunctionCache._impl_class, caching.CompileResultCacheImpl),
    "CacheImpl._locator_classes": lambda: isinstance(caching.CacheImpl._locator_classes, list),
    "Dispatcher._compiler": lambda: type(compiled._compiler) is dispatcher._FunctionCompiler,
    "Dispatcher._compiler.targetoptions": lambda: isinstance(compiled._compiler.targetoptions, dict),
    "Dispatcher._compiler.py_func": lambda: compiled._compiler.py_func is compiled.py_func,
    "Dispatcher._cache": lambda: isinstance(compiled._cache, caching.NullCache),
    "JITCodeLibrary._codegen": lambda: isinstance(library()._codegen, CPUCodegen),
    "JITCodeLibrary._finalized": lambda: library()._finalized is True,
    "JITCodeLibrary.codegen": lambda: isinstance(CPUCodeLibrary.codegen, property),
    "CPUCodegen._library_class": lambda: issubclass(cpu_target.target_context.codegen()._library_class, JITCodeLibrary),
    "Flags": lambda: {"no_cfunc_wrapper", "no_cpython_wrapper"} <= compiler.Flags.options.keys(),
    "options of njit": lambda: {"nogil", "error_model", "_nrt", "boundscheck", "forceinline", "no_cfunc_wrapper",
        "no_cpython_wrapper"} <= {name for kind in type(compiled).targetdescr.options.__mro__ for name in vars(kind)},
    "types.NamedTuple": lambda: {"fields", "instance_class"} <= vars(named()).keys() and named().types,
    "models.TupleModel": lambda: inspect.isclass(models.TupleModel),
    "typeof_impl.register": lambda: callable(typeof_impl.register),
    "FunctionCache._impl": lambda: own_cache()._impl.locator._stamp in own_cache()._impl.filename_base,
    "FunctionCache._cache_file": lambda: isinstance(own_cache()._cache_file, caching.IndexDataCacheFile),
    "FunctionCache.cache_path": lambda: Path(own_cache().cache_path).is_dir(),
}  # fmt: skip


def library():
    [overload] = compiled.overloads.values()
    return overload.library


def named():
    from collections import namedtuple

    return types.NamedTuple((types.int64,), namedtuple("Named", "a"))


def own_cache():
    from kibitz.jit.backend.cache import _SignatureCache

    return _SignatureCache(doubled.py_func, "(int64,)")


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_of_numba_is_what_it_was(name):
    assert ATTRIBUTES[name]()


def test_these_are_all_that_are_used():
    used, own = set(), set()
    for path in (ROOT / "kibitz" / "jit" / "backend").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                used.add(node.attr)
                if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
                    own.add(node.attr)
    listed = {part for name in (*PARAMETERS, *ATTRIBUTES) for part in name.split(".")}
    assert len(used - own) > 8
    assert used - own <= listed


def test_numba_is_bounded_by_the_last_version_that_was_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [numba_of_project] = [Requirement(each) for each in project["dependencies"] if Requirement(each).name == "numba"]
    [tried] = [
        line.partition("==")[2]
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line.startswith("numba==")
    ]
    major, minor = map(int, tried.split(".")[:2])
    assert numba_of_project.specifier.contains(tried)
    assert numba_of_project.specifier.contains(version("numba"))
    assert not numba_of_project.specifier.contains(f"{major}.{minor + 1}.0")
