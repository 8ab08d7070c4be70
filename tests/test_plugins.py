"""Finding and loading plugins: real ``*.dist-info`` folders on the path, and inline modules; no mocks."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import dataclass
from types import ModuleType

import pytest

from bench_core import CONTRACT_VERSION
from bench_core.builtin.cost_schemes import Uniform
from bench_core.contract.errors import ContractError, RequestError
from bench_core.contract.method import Method
from bench_core.contract.metric import Metric
from bench_core.plugins.hookspecs import hookimpl, hookspec
from bench_core.plugins.manager import load_registry


@dataclass(frozen=True)
class Nothing(Method):
    """Never fitted here."""

    def fit(self, problem):
        raise NotImplementedError


def module(**members):
    made = ModuleType("inline")
    made.BENCH_CONTRACT_VERSION = CONTRACT_VERSION
    for name, member in members.items():
        setattr(made, name, member)
    return made


def registers(name, thing=Nothing, kind="methods"):
    def hook(register):
        register(name, thing)

    hook.__name__ = f"bench_register_{kind}"
    return module(**{hook.__name__: hookimpl(hook)})


def registry(**plugins):
    return load_registry(plugins.items(), entry_points=False)


def broken(made):
    """Broken plugins of these tests, without other installed plugins that may be broken."""
    return [plugin.name for plugin in made.broken if plugin.name.startswith("kit-")]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Make a distribution that importlib.metadata finds: a module and a ``*.dist-info`` beside it."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def put(distribution, entry, source, *, name, metadata=True, declared="BENCH_CONTRACT_VERSION = 1"):
        (site / f"{entry}.py").write_text(f"{declared}\n{textwrap.dedent(source)}")
        info = site / f"{distribution.replace('-', '_')}-1.5.dist-info"
        info.mkdir()
        if metadata:
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n")
        (info / "entry_points.txt").write_text(f"[budgetbench]\n{name} = {entry}\n")
        return site

    yield put
    for path in site.glob("*.py"):
        sys.modules.pop(path.stem, None)


GOOD = """
    from dataclasses import dataclass
    from bench_core import Method, hookimpl

    @dataclass(frozen=True)
    class Mine(Method):
        \"\"\"Mine.\"\"\"
        def fit(self, problem):
            return []

    @hookimpl
    def bench_register_methods(register):
        register("{name}", Mine)
"""


def test_the_built_ins_are_a_plugin_like_any_other():
    made = registry()
    assert made.plugin_of("cost_schemes", "uniform").name == "bench-core"
    assert made.cost_scheme("uniform") is Uniform
    assert made.plugins["bench-core"].distribution == "budgetbench"
    assert len(made.plugins["bench-core"].source) == 64


def test_an_installed_distribution_is_found_with_name_version_and_source(install):
    site = install("budgetbench-good", "kit_good", GOOD.format(name="kit-mine"), name="kit-good")
    made = load_registry()
    plugin = made.plugin_of("methods", "kit-mine")
    assert (plugin.name, plugin.distribution, plugin.version, plugin.error) == (
        "kit-good", "budgetbench-good", "1.5", "",
    )  # fmt: skip
    before = plugin.source
    (site / "neighbour.py").write_text("x = 1\n")
    assert load_registry().plugins["kit-good"].source == before, "a neighbour in site-packages is not its source"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import a_module_that_does_not_exist", "ModuleNotFoundError: No module named 'a_module_that_does_not_exist'"),
        ("raise RuntimeError('no licence\\nfound')", "RuntimeError: no licence found"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("x = (", "SyntaxError"),
        (
            """
            from bench_core import hookimpl
            @hookimpl
            def bench_register_methods(register):
                raise KeyError("weights")
            """,
            "KeyError: 'weights'",
        ),
        (
            """
            from bench_core import hookimpl
            @hookimpl
            def bench_register_methods(register):
                raise SystemExit(3)
            """,
            "SystemExit: 3",
        ),
        (
            """
            from bench_core import hookimpl
            @hookimpl
            def bench_register_methods(register):
                register("kit-thing", 3)
            """,
            "ContractError: method 'kit-thing' must be a subclass of Method, not 3",
        ),
        (
            """
            from bench_core import hookimpl
            @hookimpl
            def bench_register_method(register):
                pass
            """,
            "there is no hook 'bench_register_method'; did you mean 'bench_register_methods'",
        ),
        ("def bench_register_methods(register): pass", "bench_register_methods is not marked with @hookimpl"),
        (
            """
            from bench_core import hookimpl
            @hookimpl
            def bench_register_methods(registrar):
                pass
            """,
            "registrar",
        ),
    ],
)
def test_a_broken_plugin_is_named_and_skipped_and_the_rest_works(install, source, said):
    install("budgetbench-broken", "kit_broken", source, name="kit-broken")
    install("budgetbench-good", "kit_good", GOOD.format(name="kit-mine"), name="kit-good")
    made = load_registry()
    assert broken(made) == ["kit-broken"]
    assert said in made.plugins["kit-broken"].error
    assert "\n" not in made.plugins["kit-broken"].error
    assert made.method("kit-mine").__name__ == "Mine"
    assert not [said for said in made.conflicts() if "kit-" in said]


def test_the_error_for_a_name_mentions_broken_plugins_that_may_have_it(install):
    install("budgetbench-broken", "kit_broken", "import nowhere_to_be_found", name="kit-broken")
    made = load_registry()
    with pytest.raises(RequestError, match=r"s.toml: there is no method 'qwyc-x'; .*plugin 'kit-broken' could not"):
        made.method("qwyc-x", "s.toml")
    with pytest.raises(RequestError, match=r"s.toml: metric 'acuracy' .*'accuracy'.*plugin 'kit-broken' could not"):
        made.metric("acuracy", "s.toml")


def test_a_distribution_with_damaged_metadata_stops_no_other(install):
    install("budgetbench-odd", "kit_odd", GOOD.format(name="kit-odd-one"), name="kit-odd", metadata=False)
    install("budgetbench-good", "kit_good", GOOD.format(name="kit-mine"), name="kit-good")
    made = load_registry()
    assert {"kit-mine", "kit-odd-one"} <= set(made.methods)


def test_two_distributions_with_one_plugin_name_keep_the_first_and_name_both(install):
    install("budgetbench-one", "kit_one", GOOD.format(name="kit-first"), name="kit-same")
    install("budgetbench-two", "kit_two", GOOD.format(name="kit-second"), name="kit-same")
    made = load_registry()
    (second,) = broken(made)
    assert "'kit-same' is already taken by 'budgetbench-" in made.plugins[second].error
    assert len({"kit-first", "kit-second"} & set(made.methods)) == 1


def test_two_plugins_that_claim_one_name_are_an_error_only_when_it_is_asked_for_and_both_are_named():
    made = registry(one=registers("shared"), two=registers("shared"), three=registers("own"))
    assert made.method("own") is Nothing
    said = "the method name 'shared' is claimed by plugins 'one' and 'two'"
    assert made.conflicts() == [said]
    with pytest.raises(RequestError, match=f"{said}; uninstall one of them"):
        made.method("shared")


@pytest.mark.parametrize("name", ["coverage", "ndcg@k"])
def test_a_metric_name_that_two_claim_is_an_error_too(name):
    @hookimpl
    def bench_register_metrics(register):
        register(Metric(name, len, "max"))

    made = registry(mine=module(bench_register_metrics=bench_register_metrics))
    with pytest.raises(RequestError, match=f"metric name '{name}' is claimed by plugins 'bench-core' and 'mine'"):
        made.metric(name.replace("k", "5") if "@" in name else name)
    assert made.metric("cost").name == "cost"


def test_names_that_a_plugin_registered_before_it_failed_are_removed():
    @hookimpl
    def bench_register_cost_schemes(register):
        register("fresh", Uniform)
        register("uniform", Uniform)

    @hookimpl
    def bench_register_methods(register):
        raise RuntimeError("too late")

    made = registry(half=module(
        bench_register_cost_schemes=bench_register_cost_schemes, bench_register_methods=bench_register_methods
    ))  # fmt: skip
    assert made.plugins["half"].error == "RuntimeError: too late"
    assert "fresh" not in made.cost_schemes
    assert made.cost_scheme("uniform") is Uniform
    assert made.conflicts() == []


class NotADataclass(Method):
    """Lacks the decorator."""

    def fit(self, problem):
        return []


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (registers("x", object()), "must be a subclass of Method"),
        (registers("x", Uniform), "must be a subclass of Method"),
        (registers("x", Nothing()), "must be a subclass of Method"),
        (registers("x", Nothing, "datasets"), "data set 'x' must be a subclass of DataSource"),
        (registers(" "), "method: ' ' is no name"),
        (registers(3), "method: 3 is no name"),
        (registers("x", NotADataclass), "NotADataclass must be a dataclass"),
    ],
)
def test_an_object_that_is_not_a_method_is_not_registered(plugin, said):
    made = registry(bad=plugin)
    assert said in made.plugins["bad"].error
    assert made.methods == {}


@pytest.mark.parametrize("thing", ["accuracy", Metric(" ", len, "max")])
def test_an_object_that_is_not_a_metric_is_not_registered(thing):
    @hookimpl
    def bench_register_metrics(register):
        register(thing)

    assert "metric" in registry(bad=module(bench_register_metrics=bench_register_metrics)).plugins["bad"].error


def test_an_unknown_name_is_answered_with_the_nearest():
    made = registry(one=registers("emsco"))
    with pytest.raises(RequestError, match=r"^there is no method 'emsko'; did you mean 'emsco'\?$"):
        made.method("emsko")
    with pytest.raises(RequestError, match="there is no data set 'pima'; none is installed"):
        made.dataset("pima")


def test_a_plugin_built_for_another_contract_is_refused_by_name_and_the_rest_works():
    other = registers("new")
    other.BENCH_CONTRACT_VERSION = CONTRACT_VERSION + 1
    made = registry(future=other, present=registers("now"))
    assert [plugin.name for plugin in made.broken] == ["future"]
    assert f"built for contract {CONTRACT_VERSION + 1}; this is contract {CONTRACT_VERSION}" in (
        made.plugins["future"].error
    )
    assert set(made.methods) == {"now"}
    with pytest.raises(RequestError, match=r"no method 'new'; .*plugin 'future' could not be loaded"):
        made.method("new")


def test_the_error_for_a_plugin_without_contract_says_what_to_write():
    silent = registers("new")
    del silent.BENCH_CONTRACT_VERSION
    made = registry(silent=silent)
    assert made.plugins["silent"].error.endswith(f"set BENCH_CONTRACT_VERSION = {CONTRACT_VERSION}")
    assert made.methods == {}


def test_an_installed_plugin_of_another_contract_is_refused_too(install):
    install("budgetbench-old", "kit_old", GOOD.format(name="kit-mine"), name="kit-old",
            declared="BENCH_CONTRACT_VERSION = 0")  # fmt: skip
    made = load_registry()
    assert broken(made) == ["kit-old"]
    assert "built for contract 0" in made.plugins["kit-old"].error
    assert "kit-mine" not in made.methods


class GreetingSpecs:
    """Hooks that a plugin adds."""

    @hookspec
    def bench_greeting(self, name):
        """A greeting for a name."""


def adds_specs():
    @hookimpl
    def bench_add_hookspecs(manager):
        manager.add_hookspecs(GreetingSpecs)

    return module(bench_add_hookspecs=bench_add_hookspecs)


def greets(word, name="bench_greeting", **options):
    def hook(name):
        return f"{word} {name}"

    hook.__name__ = "bench_greeting"
    return module(**{name: hookimpl(hook, **options)})


@pytest.mark.parametrize("names", [("adds", "greets"), ("zadds", "greets")], ids=" then ".join)
def test_a_plugin_implements_the_hooks_that_another_adds_whichever_is_loaded_first(names):
    plugins = dict(zip(names, (adds_specs(), greets("hello", optionalhook=True)), strict=True))
    made = registry(**dict(sorted(plugins.items())))
    assert made.broken == []
    assert made.manager.hook.bench_greeting(name="you") == ["hello you"]


def test_an_unknown_hook_is_an_error_unless_it_is_optional():
    made = registry(optional=greets("hello", optionalhook=True), demanding=greets("hello"))
    assert [plugin.name for plugin in made.broken] == ["demanding"]
    assert "no hook 'bench_greeting'" in made.plugins["demanding"].error


def test_an_unknown_hook_is_refused_although_another_plugin_adds_hooks():
    made = registry(adds=adds_specs(), wrong=greets("hello", name="bench_greetin"), right=greets("hi"))
    assert [plugin.name for plugin in made.broken] == ["wrong"]
    assert "no hook 'bench_greetin'; did you mean 'bench_greeting'" in made.plugins["wrong"].error
    assert made.manager.hook.bench_greeting(name="you") == ["hi you"]


def test_a_plugin_whose_added_hooks_cannot_be_read_is_dropped_without_affecting_others():
    @hookimpl
    def bench_add_hookspecs(manager):
        manager.add_hookspecs(ModuleType("nothing"))

    made = registry(adds=module(bench_add_hookspecs=bench_add_hookspecs), fine=registers("own"))
    assert [plugin.name for plugin in made.broken] == ["adds"]
    assert set(made.methods) == {"own"}


def test_an_inline_plugin_may_not_take_a_plugins_name():
    with pytest.raises(ContractError, match="'bench-core' is already taken"):
        load_registry([("bench-core", registers("x"))], entry_points=False)


def test_loading_the_built_ins_imports_nothing_heavy():
    code = (
        "import sys; from bench_core.plugins.manager import load_registry; load_registry(entry_points=False); "
        "print([m for m in ('sklearn', 'pandas', 'scipy', 'numba', 'pydantic', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
